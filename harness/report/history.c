#include "report/history.h"

#include <ctype.h>
#include <math.h>

#include "base/csv_number.h"
#include "base/csv_reader.h"
#include "base/mem.h"

/* In the order of the header. */
enum column {
    DATE,
    HOST,
    CPU,
    ISA,
    KERNELS,
    COMMIT_BEFORE,
    COMMIT_AFTER,
    MODEL,
    KERNEL,
    BEFORE_S,
    AFTER_S,
    CHANGE_PCT,
    LOW_PCT,
    HIGH_PCT,
    RESOLUTION_PCT,
    VERDICT,
    ROUNDS,
    COLUMNS,
};

/* ---- cells --------------------------------------------------------------------------------- */

typedef struct row {
    const char *path;
    const dlb_csv_record *record;
    double numbers[COLUMNS];
    dlb_judgement_kind verdict;
} row;

static const char *cell(const row *r, enum column column)
{
    return r->record->fields[column].text;
}

/* The name of a column, as it is in the header. */
static int fail_cell(const row *r, enum column column, const char *must, dlb_error *err)
{
    const char *name = DLB_HISTORY_HEADER;
    for (int i = 0; i < (int)column; i++)
        name += strcspn(name, ",") + 1;
    return dlb_fail(err, DLB_BAD_INPUT, "%s:%zu: %.*s '%.60s' %s", r->path, r->record->line,
                    (int)strcspn(name, ","), name, cell(r, column), must);
}

static bool is_date(const char *text)
{
    static const char form[] = "0000-00-00T00:00:00Z";
    for (size_t i = 0; i < sizeof form; i++)
        if (form[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
            return false;
    return true;
}

static int read_verdict(row *r, dlb_error *err)
{
    for (int kind = 0; kind < DLB_JUDGEMENTS; kind++)
        if (strcmp(cell(r, VERDICT), dlb_judgement_name((dlb_judgement_kind)kind)) == 0) {
            r->verdict = (dlb_judgement_kind)kind;
            return 0;
        }
    return fail_cell(r, VERDICT, "is none of slower, faster, same and inconclusive", err);
}

static int read_numbers(row *r, dlb_error *err)
{
    static const enum column columns[] = {BEFORE_S, AFTER_S,        CHANGE_PCT, LOW_PCT,
                                          HIGH_PCT, RESOLUTION_PCT, ROUNDS};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const dlb_csv_field *field = &r->record->fields[columns[i]];
        double *number = &r->numbers[columns[i]];
        bool is_change = columns[i] >= CHANGE_PCT && columns[i] <= HIGH_PCT;
        if (!dlb_csv_number(field->text, field->length, number))
            return fail_cell(r, columns[i], "is no number", err);
        if (is_change ? *number <= -100 : *number < 0)
            return fail_cell(r, columns[i], is_change ? "must be above -100" : "is negative", err);
    }
    return 0;
}

static int read_cells(row *r, dlb_error *err)
{
    static const enum column needed[] = {COMMIT_BEFORE, COMMIT_AFTER, MODEL, KERNEL};
    if (r->record->count != COLUMNS)
        return dlb_fail(err, DLB_BAD_INPUT, "%s:%zu: has %zu cells instead of %d", r->path,
                        r->record->line, r->record->count, COLUMNS);
    if (!is_date(cell(r, DATE)))
        return fail_cell(r, DATE, "is no time such as 2026-11-18T15:47:03Z", err);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!*cell(r, needed[i]))
            return fail_cell(r, needed[i], "must not be empty", err);
    int status = read_numbers(r, err);
    return status < 0 ? status : read_verdict(r, err);
}

/* ---- checks -------------------------------------------------------------------------------- */

static bool is_hash(const char *text)
{
    return strlen(text) >= 7 && strspn(text, "0123456789abcdef") == strlen(text);
}

/* "v0.1-3-g955949acab99" is 955949acab99. */
static const char *hash_in(const char *described)
{
    const char *hash = described;
    for (const char *at = described; (at = strstr(at, "-g")); at++)
        hash = at + 2;
    return is_hash(hash) ? hash : described;
}

bool dlb_history_same_commit(const char *before, const char *after)
{
    const char *hash = hash_in(after);
    return is_hash(before) && is_hash(hash) && strncmp(before, hash, strlen(hash)) == 0;
}

/* Whether changes of the two multiply: the same machine has gone on from where it was. */
static bool follows(const dlb_history_check *check, const dlb_history_check *last)
{
    return dlb_history_same_commit(check->before, last->after) &&
           strcmp(check->cpu, last->cpu) == 0 && strcmp(check->isa, last->isa) == 0 &&
           strcmp(check->kernels, last->kernels) == 0;
}

static bool is_kernel(const dlb_history_kernel *kernel, const row *r)
{
    return strcmp(kernel->model, cell(r, MODEL)) == 0 && strcmp(kernel->name, cell(r, KERNEL)) == 0;
}

/* Two checks may end within a second, but a check has each kernel once. */
static bool is_of(const dlb_history *h, const dlb_history_check *check, const row *r)
{
    return strcmp(check->date, cell(r, DATE)) == 0 && strcmp(check->host, cell(r, HOST)) == 0 &&
           strcmp(check->cpu, cell(r, CPU)) == 0 && strcmp(check->isa, cell(r, ISA)) == 0 &&
           strcmp(check->kernels, cell(r, KERNELS)) == 0 &&
           strcmp(check->before, cell(r, COMMIT_BEFORE)) == 0 &&
           strcmp(check->after, cell(r, COMMIT_AFTER)) == 0 &&
           !is_kernel(&h->kernels[check->first], r);
}

static void add_check(dlb_history *h, const row *r)
{
    h->checks = dlb_grow(h->checks, &h->capacity, h->count + 1, sizeof *h->checks);
    dlb_history_check *check = &h->checks[h->count];
    *check = (dlb_history_check){.date = dlb_strdup(cell(r, DATE)),
                                 .host = dlb_strdup(cell(r, HOST)),
                                 .cpu = dlb_strdup(cell(r, CPU)),
                                 .isa = dlb_strdup(cell(r, ISA)),
                                 .kernels = dlb_strdup(cell(r, KERNELS)),
                                 .before = dlb_strdup(cell(r, COMMIT_BEFORE)),
                                 .after = dlb_strdup(cell(r, COMMIT_AFTER)),
                                 .first = h->kernel_count};
    check->follows = h->count > 0 && follows(check, check - 1);
    h->count++;
}

static void add_kernel(dlb_history *h, const row *r)
{
    h->kernels = dlb_grow(h->kernels, &h->kernel_capacity, h->kernel_count + 1, sizeof *h->kernels);
    h->kernels[h->kernel_count++] = (dlb_history_kernel){.model = dlb_strdup(cell(r, MODEL)),
                                                         .name = dlb_strdup(cell(r, KERNEL)),
                                                         .change = 0.01 * r->numbers[CHANGE_PCT],
                                                         .low = 0.01 * r->numbers[LOW_PCT],
                                                         .high = 0.01 * r->numbers[HIGH_PCT],
                                                         .verdict = r->verdict};
}

static void add_row(dlb_history *h, const row *r)
{
    if (h->count == 0 || !is_of(h, &h->checks[h->count - 1], r))
        add_check(h, r);
    add_kernel(h, r);
    h->checks[h->count - 1].count++;
}

/* ---- files --------------------------------------------------------------------------------- */

static bool is_header(const dlb_csv_record *record)
{
    dlb_str line = DLB_STR_INIT;
    for (size_t i = 0; i < record->count; i++)
        dlb_str_addf(&line, "%s%s", i ? "," : "", record->fields[i].text);
    bool is = line.text && strcmp(line.text, DLB_HISTORY_HEADER) == 0;
    dlb_str_release(&line);
    return is;
}

/* 1 if the next record is the header, 0 if it is something else or nothing, or negative. */
static int read_header(dlb_csv_reader *reader, dlb_error *err)
{
    dlb_csv_record record;
    int got = dlb_csv_next(reader, &record, err);
    return got > 0 ? is_header(&record) : got;
}

bool dlb_history_is(const char *path)
{
    dlb_csv_reader *reader;
    dlb_error ignored;
    if (dlb_csv_open(&reader, path, &ignored) < 0)
        return false;
    bool is = read_header(reader, &ignored) == 1;
    dlb_csv_close(reader);
    return is;
}

void dlb_history_folder(const char *path, dlb_str *folder)
{
    const char *slash = strrchr(path, '/');
    if (slash)
        dlb_str_add_bytes(folder, path, slash == path ? 1 : (size_t)(slash - path));
    else
        dlb_str_add(folder, ".");
}

static int read_rows(dlb_history *h, dlb_csv_reader *reader, const char *path, dlb_error *err)
{
    dlb_csv_record record;
    int got;
    while ((got = dlb_csv_next(reader, &record, err)) > 0) {
        row r = {.path = path, .record = &record};
        if (read_cells(&r, err) < 0)
            return DLB_BAD_INPUT;
        add_row(h, &r);
    }
    return got;
}

/* All that the reader has; it is closed. */
static int take(dlb_history *h, dlb_csv_reader *reader, const char *name, dlb_error *err)
{
    *h = (dlb_history){0};
    int status = read_header(reader, err);
    if (status == 0)
        status =
            dlb_fail(err, DLB_BAD_INPUT, "%s: its header is not that of a history of checks", name);
    if (status > 0)
        status = read_rows(h, reader, name, err);
    dlb_csv_close(reader);
    return status;
}

int dlb_history_read(dlb_history *h, const char *path, dlb_error *err)
{
    dlb_csv_reader *reader;
    *h = (dlb_history){0};
    int status = dlb_csv_open(&reader, path, err);
    return status < 0 ? status : take(h, reader, path, err);
}

int dlb_history_parse(dlb_history *h, const char *name, const char *bytes, size_t length,
                      dlb_error *err)
{
    dlb_csv_reader *reader;
    dlb_csv_open_bytes(&reader, name, bytes, length);
    return take(h, reader, name, err);
}

void dlb_history_release(dlb_history *h)
{
    for (size_t i = 0; i < h->kernel_count; i++) {
        free(h->kernels[i].model);
        free(h->kernels[i].name);
    }
    for (size_t i = 0; i < h->count; i++) {
        dlb_history_check *check = &h->checks[i];
        char *const texts[] = {check->date,    check->host,   check->cpu,  check->isa,
                               check->kernels, check->before, check->after};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            free(texts[k]);
    }
    free(h->kernels);
    free(h->checks);
    *h = (dlb_history){0};
}
