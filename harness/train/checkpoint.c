#include "train/checkpoint.h"

#include <limits.h>
#include <stddef.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/checksum.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are kept as they are in memory");

#define MAGIC      "dlbench checkpoint "
#define FIRST_LINE MAGIC "1 little-endian\n"

enum { TRAILER = sizeof(uint64_t) }; /* the checksum of all before it */

/* What a line holds, by the type of the field that it comes from. A count is never negative. */
enum kind { COUNT, CHECKSUM, REAL, FLAG, TEXT };

#define KIND(value)                                                                                \
    _Generic(value, double : REAL, bool : FLAG, char * : TEXT, uint64_t : CHECKSUM, default : COUNT)

typedef struct field {
    const char *name;
    enum kind kind;
    size_t offset, size; /* in the struct that has it */
} field;

#define FIELD(owner, member)                                                                       \
    {                                                                                              \
        .name = #member, .kind = KIND(((owner *)0)->member), .offset = offsetof(owner, member),    \
        .size = sizeof((owner *)0)->member                                                         \
    }

static const field state_fields[] = {
    FIELD(dlb_checkpoint, data_checksum),
    FIELD(dlb_checkpoint, setting),
    FIELD(dlb_checkpoint, step),
    FIELD(dlb_checkpoint, loss_sum),
    FIELD(dlb_checkpoint, correct),
    FIELD(dlb_checkpoint, steps),
    FIELD(dlb_checkpoint, images),
    FIELD(dlb_checkpoint, updates),
    FIELD(dlb_checkpoint, timed),
    FIELD(dlb_checkpoint, time_to_solution_s),
    FIELD(dlb_checkpoint, time_to_target_s),
    FIELD(dlb_checkpoint, eval_s),
    FIELD(dlb_checkpoint, plateau.lowest),
    FIELD(dlb_checkpoint, plateau.factor),
    FIELD(dlb_checkpoint, plateau.waited),
    FIELD(dlb_checkpoint, array_count),
    FIELD(dlb_checkpoint, evaluation_due),
    FIELD(dlb_checkpoint, epoch_count),
};

static const field epoch_fields[] = {
    FIELD(dlb_epoch, number),         FIELD(dlb_epoch, lr),
    FIELD(dlb_epoch, train_s),        FIELD(dlb_epoch, input_s),
    FIELD(dlb_epoch, forward_s),      FIELD(dlb_epoch, backward_s),
    FIELD(dlb_epoch, update_s),       FIELD(dlb_epoch, comm_exposed_s),
    FIELD(dlb_epoch, wait_s),         FIELD(dlb_epoch, comm_bytes),
    FIELD(dlb_epoch, eval_s),         FIELD(dlb_epoch, train.loss),
    FIELD(dlb_epoch, train.accuracy), FIELD(dlb_epoch, train.images),
    FIELD(dlb_epoch, test.loss),      FIELD(dlb_epoch, test.accuracy),
    FIELD(dlb_epoch, test.images),
};

/* The lines of a struct: their prefix, and its fields in the order of the file. */
typedef struct section {
    const char *prefix;
    const field *fields;
    size_t count;
} section;

#define SECTION(prefix, fields)                                                                    \
    {                                                                                              \
        prefix, fields, sizeof(fields) / sizeof *(fields)                                          \
    }

static const section state_section = SECTION("", state_fields);
static const section epoch_section = SECTION("epoch.", epoch_fields);
static const section under_way_section = SECTION("under_way.", epoch_fields);

static const char workload_prefix[] = "workload.";

void dlb_checkpoint_init(dlb_checkpoint *checkpoint)
{
    *checkpoint = (dlb_checkpoint){0};
    dlb_workload_init(&checkpoint->workload);
}

void dlb_checkpoint_release(dlb_checkpoint *checkpoint)
{
    for (int i = 0; i < DLB_CHECKPOINT_ARRAYS; i++)
        free(checkpoint->arrays[i]);
    free(checkpoint->epochs);
    dlb_workload_release(&checkpoint->workload);
    *checkpoint = (dlb_checkpoint){0};
}

/* Writing */

static void add_real(double value, dlb_str *out)
{
    char number[32];
    dlb_format_real(value, number, sizeof number);
    dlb_str_add(out, number);
}

static void add_value(const field *f, const void *at, dlb_str *out)
{
    long long count = 0;
    switch (f->kind) {
    case COUNT:
        memcpy(&count, at, f->size);
        dlb_str_addf(out, "%lld", count);
        break;
    case CHECKSUM:
        dlb_str_addf(out, "%016llx", (unsigned long long)*(const uint64_t *)at);
        break;
    case REAL:
        add_real(*(const double *)at, out);
        break;
    case FLAG:
        dlb_str_add(out, *(const bool *)at ? "yes" : "no");
        break;
    case TEXT:
        dlb_str_add(out, at);
        break;
    }
}

/* Ends the line that began at `start` with its key. */
static int end_line(dlb_str *out, size_t start, dlb_error *err)
{
    if (strchr(out->text + start, '\n'))
        return dlb_fail(err, DLB_BAD_INPUT, "%.*s has a line break, which a checkpoint cannot hold",
                        (int)strcspn(out->text + start, " "), out->text + start);
    dlb_str_add(out, "\n");
    return 0;
}

static int add_section(const section *s, const void *owner, dlb_str *out, dlb_error *err)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < s->count; i++) {
        size_t start = out->length;
        dlb_str_addf(out, "%s%s ", s->prefix, s->fields[i].name);
        add_value(&s->fields[i], (const char *)owner + s->fields[i].offset, out);
        status = end_line(out, start, err);
    }
    return status;
}

static int add_workload(const dlb_workload *workload, dlb_str *out, dlb_error *err)
{
    int status = 0;
    for (int key = 0; status == 0 && key < DLB_KEY_COUNT; key++) {
        size_t start = out->length;
        dlb_str_addf(out, "%s%s ", workload_prefix, dlb_key_info(key)->name);
        dlb_workload_get(workload, key, out);
        status = end_line(out, start, err);
    }
    return status;
}

static int add_header(const dlb_checkpoint *c, dlb_str *out, dlb_error *err)
{
    dlb_str_add(out, FIRST_LINE);
    int status = add_workload(&c->workload, out, err);
    if (status == 0)
        status = add_section(&state_section, c, out, err);
    for (int i = 0; status == 0 && i < c->epoch_count; i++)
        status = add_section(&epoch_section, &c->epochs[i], out, err);
    if (status == 0)
        status = add_section(&under_way_section, &c->under_way, out, err);
    dlb_str_add(out, "\n");
    return status;
}

/* Memory of the final size at once: growing would copy large arrays again and again. */
static int reserve(dlb_str *bytes, size_t total, dlb_error *err)
{
    if (total > DLB_CHECKPOINT_BYTES_MAX)
        return dlb_fail(err, DLB_FAIL, "a checkpoint of %zu bytes is larger than the limit of %zu",
                        total, DLB_CHECKPOINT_BYTES_MAX);
    char *memory = dlb_try_alloc(total + 1, 1);
    if (!memory)
        return dlb_fail(err, DLB_FAIL, "not enough memory for a checkpoint of %zu bytes", total);
    *bytes = (dlb_str){memory, 0, total + 1};
    return 0;
}

static int assemble(const dlb_checkpoint *c, const dlb_str *header, dlb_str *bytes, dlb_error *err)
{
    size_t array = c->count * sizeof(float);
    int status = reserve(bytes, header->length + (size_t)c->array_count * array + TRAILER, err);
    if (status < 0)
        return status;
    dlb_str_add_bytes(bytes, header->text, header->length);
    for (int i = 0; i < c->array_count; i++)
        dlb_str_add_bytes(bytes, (const char *)c->arrays[i], array);
    uint64_t sum = dlb_checksum(0, (const uint8_t *)bytes->text, bytes->length);
    dlb_str_add_bytes(bytes, (const char *)&sum, TRAILER);
    return 0;
}

int dlb_checkpoint_format(const dlb_checkpoint *checkpoint, dlb_str *bytes, dlb_error *err)
{
    dlb_str header = DLB_STR_INIT;
    int status = add_header(checkpoint, &header, err);
    if (status == 0)
        status = assemble(checkpoint, &header, bytes, err);
    dlb_str_release(&header);
    return status;
}

int dlb_checkpoint_write(const dlb_checkpoint *checkpoint, const char *path, dlb_error *err)
{
    dlb_str bytes = DLB_STR_INIT;
    int status = dlb_checkpoint_format(checkpoint, &bytes, err);
    if (status < 0)
        dlb_error_prefix(err, "%s", path);
    else
        status = dlb_file_write_atomic(path, bytes.text, bytes.length, err);
    dlb_str_release(&bytes);
    return status;
}

/* Reading. Nothing in the bytes is trusted, not even behind a checksum that agrees. */

typedef struct reader {
    const char *name; /* of the file, for messages */
    char *at;         /* the header's rest: lines, each with its '\n' */
    dlb_error *err;
} reader;

__attribute__((format(printf, 2, 3))) static int refuse(const reader *r, const char *format, ...)
{
    char reason[640];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return dlb_fail(r->err, DLB_BAD_INPUT,
                    "%s: %s; remove it to start anew, or give another --checkpoint file", r->name,
                    reason);
}

/* Takes the next line, which must be that of prefix and name: its value, or NULL after refusing. */
static const char *next_value(reader *r, const char *prefix, const char *name)
{
    char *line = r->at, *end = strchr(line, '\n');
    if (!end) {
        refuse(r, "its header ends before %s%s", prefix, name);
        return NULL;
    }
    *end = '\0';
    r->at = end + 1;
    size_t prefix_length = strlen(prefix), key_length = prefix_length + strlen(name);
    if (strncmp(line, prefix, prefix_length) == 0 &&
        strncmp(line + prefix_length, name, key_length - prefix_length) == 0 &&
        line[key_length] == ' ')
        return line + key_length + 1;
    refuse(r, "has \"%.80s\" where this version of dlbench has %s%s", line, prefix, name);
    return NULL;
}

static bool read_count(const char *text, size_t size, void *at)
{
    long long count;
    long long largest = size == sizeof(int) ? INT_MAX : LLONG_MAX;
    if (!dlb_parse_int(text, &count) || count < 0 || count > largest)
        return false;
    memcpy(at, &count, size);
    return true;
}

static bool read_checksum(const char *text, uint64_t *sum)
{
    enum { DIGITS = 16 };
    if (strlen(text) != DIGITS || strspn(text, "0123456789abcdef") != DIGITS)
        return false;
    *sum = strtoull(text, NULL, 16);
    return true;
}

static bool read_flag(const char *text, bool *flag)
{
    *flag = strcmp(text, "yes") == 0;
    return *flag || strcmp(text, "no") == 0;
}

static bool read_text(const char *text, size_t size, char *at)
{
    size_t needed = strlen(text) + 1;
    if (needed > size)
        return false;
    memcpy(at, text, needed);
    return true;
}

static bool read_value(const field *f, const char *text, void *at)
{
    switch (f->kind) {
    case COUNT:
        return read_count(text, f->size, at);
    case CHECKSUM:
        return read_checksum(text, at);
    case REAL:
        return dlb_parse_real(text, at);
    case FLAG:
        return read_flag(text, at);
    case TEXT:
        break;
    }
    return read_text(text, f->size, at);
}

static int read_section(reader *r, const section *s, void *owner)
{
    for (size_t i = 0; i < s->count; i++) {
        const field *f = &s->fields[i];
        const char *text = next_value(r, s->prefix, f->name);
        if (!text)
            return DLB_BAD_INPUT;
        if (!read_value(f, text, (char *)owner + f->offset))
            return refuse(r, "%s%s cannot be \"%.80s\"", s->prefix, f->name, text);
    }
    return 0;
}

static int read_workload(reader *r, dlb_workload *workload)
{
    for (int key = 0; key < DLB_KEY_COUNT; key++) {
        dlb_error wrong;
        const char *text = next_value(r, workload_prefix, dlb_key_info(key)->name);
        if (!text)
            return DLB_BAD_INPUT;
        if (dlb_workload_set_default(workload, key, text, &wrong) < 0)
            return refuse(r, "%s", wrong.message);
    }
    return 0;
}

/* An epoch's lines are longer than its struct, which bounds what is allocated. */
static int read_epochs(reader *r, dlb_checkpoint *c)
{
    if ((size_t)c->epoch_count > strlen(r->at) / sizeof *c->epochs)
        return refuse(r, "is too short for %d epochs", c->epoch_count);
    if (c->evaluation_due && c->epoch_count == 0)
        return refuse(r, "has an evaluation due, but no epoch");
    c->epochs = dlb_alloc((size_t)c->epoch_count, sizeof *c->epochs);
    int status = 0;
    for (int i = 0; status == 0 && i < c->epoch_count; i++)
        status = read_section(r, &epoch_section, &c->epochs[i]);
    return status;
}

static int read_header(reader *r, dlb_checkpoint *c)
{
    int status;
    if ((status = read_workload(r, &c->workload)) < 0 ||
        (status = read_section(r, &state_section, c)) < 0 || (status = read_epochs(r, c)) < 0 ||
        (status = read_section(r, &under_way_section, &c->under_way)) < 0)
        return status;
    if (*r->at == '\0')
        return 0;
    r->at[strcspn(r->at, "\n")] = '\0';
    return refuse(r, "has an unknown line \"%.80s\"", r->at);
}

/* How many floats there are follows from how many bytes are left. */
static int read_arrays(const reader *r, const char *bytes, size_t count, dlb_checkpoint *c)
{
    if (c->array_count < 1 || c->array_count > DLB_CHECKPOINT_ARRAYS)
        return refuse(r, "array_count must be 1 to %d, not %d", DLB_CHECKPOINT_ARRAYS,
                      c->array_count);
    size_t array = count / (size_t)c->array_count;
    if (array % sizeof(float) != 0 || array * (size_t)c->array_count != count)
        return refuse(r, "its %zu bytes of arrays are not %d of one length", count, c->array_count);
    c->count = array / sizeof(float);
    for (int i = 0; i < c->array_count; i++) {
        c->arrays[i] = dlb_try_alloc(c->count, sizeof(float));
        if (!c->arrays[i])
            return dlb_fail(r->err, DLB_FAIL, "%s: not enough memory for its %zu bytes", r->name,
                            count);
        memcpy(c->arrays[i], bytes + (size_t)i * array, array);
    }
    return 0;
}

/* The header, copied so that its lines can be terminated, and the arrays after it. */
static int read_contents(reader *r, const char *bytes, size_t count, dlb_checkpoint *c)
{
    const char *last = memmem(bytes, count, "\n\n", 2);
    size_t header = last ? (size_t)(last - bytes) + 1 : 0;
    if (header == 0 || memchr(bytes, '\0', header))
        return refuse(r, "its header is not text that ends with an empty line");
    dlb_str lines = DLB_STR_INIT;
    dlb_str_add_bytes(&lines, bytes + strlen(FIRST_LINE), header - strlen(FIRST_LINE));
    r->at = lines.text;
    int status = read_header(r, c);
    dlb_str_release(&lines);
    if (status < 0)
        return status;
    return read_arrays(r, bytes + header + 1, count - header - 1, c);
}

static bool starts_with(const char *bytes, size_t count, const char *text)
{
    return count >= strlen(text) && memcmp(bytes, text, strlen(text)) == 0;
}

static int check_whole(const reader *r, const char *bytes, size_t count)
{
    if (count == 0)
        return refuse(r, "is empty");
    if (!starts_with(bytes, count, MAGIC))
        return refuse(r, "is no checkpoint of dlbench");
    if (!starts_with(bytes, count, FIRST_LINE))
        return refuse(r, "is of another version of dlbench, or of another byte order");
    uint64_t sum = 0;
    bool has_sum = count >= strlen(FIRST_LINE) + TRAILER;
    if (has_sum)
        memcpy(&sum, bytes + count - TRAILER, TRAILER);
    if (!has_sum || sum != dlb_checksum(0, (const uint8_t *)bytes, count - TRAILER))
        return refuse(r, "was cut or changed after it was written");
    return 0;
}

int dlb_checkpoint_parse(dlb_checkpoint *checkpoint, const char *name, const char *bytes,
                         size_t count, dlb_error *err)
{
    reader r = {name, NULL, err};
    dlb_checkpoint_init(checkpoint);
    int status = check_whole(&r, bytes, count);
    if (status == 0)
        status = read_contents(&r, bytes, count - TRAILER, checkpoint);
    if (status < 0)
        dlb_checkpoint_release(checkpoint);
    return status;
}

int dlb_checkpoint_read(dlb_checkpoint *checkpoint, const char *path, dlb_error *err)
{
    *checkpoint = (dlb_checkpoint){0};
    dlb_str bytes = DLB_STR_INIT;
    int status = dlb_file_read(path, DLB_CHECKPOINT_BYTES_MAX, &bytes, err);
    if (status == 0)
        status = dlb_checkpoint_parse(checkpoint, path, bytes.text, bytes.length, err);
    dlb_str_release(&bytes);
    return status;
}

/* Whether it may go on */

static int check_key(enum dlb_key key, const dlb_workload *before, const dlb_workload *now,
                     const char *path, dlb_error *err)
{
    int status = 0;
    dlb_str had = DLB_STR_INIT, has = DLB_STR_INIT;
    dlb_workload_get(before, key, &had);
    dlb_workload_get(now, key, &has);
    if (strcmp(had.text, has.text) != 0)
        status = dlb_fail(err, DLB_BAD_INPUT,
                          "%s was trained with %s = %.200s, not %.200s; give the same, or another "
                          "--checkpoint file",
                          path, dlb_key_info(key)->name, had.text, has.text);
    dlb_str_release(&has);
    dlb_str_release(&had);
    return status;
}

int dlb_checkpoint_fits(const dlb_checkpoint *checkpoint, const dlb_workload *workload,
                        uint64_t data_checksum, const char *path, dlb_error *err)
{
    int status = 0;
    for (int key = 0; status == 0 && key < DLB_KEY_COUNT; key++)
        if (dlb_key_info(key)->of_learning)
            status = check_key(key, &checkpoint->workload, workload, path, err);
    if (status == 0 && workload->schedule == DLB_schedule_cosine)
        status = check_key(DLB_KEY_epochs, &checkpoint->workload, workload, path, err);
    if (status == 0 && checkpoint->data_checksum != data_checksum)
        status = dlb_fail(err, DLB_BAD_INPUT,
                          "%s was trained on other images than data = %.200s has now; give the "
                          "same, or another --checkpoint file",
                          path, workload->data);
    return status;
}
