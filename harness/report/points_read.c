#include <math.h>

#include "base/mem.h"
#include "base/str.h"
#include "record/frame.h"
#include "record/schema.h"
#include "report/points_state.h"

/* A runs.csv on its way to points. */
typedef struct reading {
    dlb_frame *frame;
    size_t rows;
    int point, repeat, status;
    int *columns;       /* of the parameters */
    int seed;           /* which parameter the seed is, or -1 */
    uint32_t *point_of; /* one a row */
    int *repeats;       /* one a row, from 1 */
} reading;

static const char *const keys[] = {
#define KEY(name) #name,
#include "config/keys.def"
    "grid",
    "mode",
};

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_parameter(const char *column)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(column, keys[i]) == 0)
            return true;
    return has_prefix(column, "env.") || has_prefix(column, "param.");
}

static bool is_metric(const char *column)
{
    return dlb_table_find(&dlb_table_runs, column) < 0 && !is_parameter(column) &&
           !has_prefix(column, "papi_");
}

static bool contains(char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names;
}

/* ---- columns ------------------------------------------------------------------------------- */

static int check_header(char *const *names, const char *path, dlb_error *err)
{
    if (contains(names, "status") || contains(names, "time_to_solution_s") ||
        contains(names, "wall_s"))
        return 0;
    return dlb_fail(err, DLB_BAD_INPUT,
                    "%s: has none of the columns status, time_to_solution_s and wall_s, so it is "
                    "no runs.csv",
                    path);
}

static void add_parameter(dlb_points *points, const char *name)
{
    points->parameters = dlb_grow(points->parameters, &points->parameter_capacity,
                                  points->parameter_count + 1, sizeof *points->parameters);
    points->parameters[points->parameter_count++].name = dlb_strdup(name);
}

static void find_parameters(dlb_points *points, char *const *names)
{
    for (; *names; names++)
        if (is_parameter(*names))
            add_parameter(points, *names);
}

static int read_frame(reading *in, const dlb_points *points, const char *path, dlb_error *err)
{
    static const dlb_frame_want always[] = {
        {"point", DLB_FRAME_WORD},  {"repeat", DLB_FRAME_NUMBER},
        {"status", DLB_FRAME_WORD}, {"host", DLB_FRAME_WORD},
        {"commit", DLB_FRAME_WORD}, {"oversubscribed", DLB_FRAME_WORD}};
    enum { ALWAYS = sizeof always / sizeof *always };
    size_t count = 0;
    dlb_frame_want *wants =
        dlb_alloc(ALWAYS + DLB_MEASURES + points->parameter_count, sizeof *wants);
    for (size_t i = 0; i < ALWAYS; i++)
        wants[count++] = always[i];
    for (int m = 0; m < DLB_MEASURES; m++)
        wants[count++] = (dlb_frame_want){dlb_measure_name((enum dlb_measure)m), DLB_FRAME_NUMBER};
    for (size_t p = 0; p < points->parameter_count; p++)
        wants[count++] = (dlb_frame_want){points->parameters[p].name, DLB_FRAME_WORD};
    int status = dlb_frame_read(&in->frame, path, wants, count, err);
    free(wants);
    return status;
}

static void find_columns(reading *in, const dlb_points *points)
{
    in->rows = dlb_frame_rows(in->frame);
    in->point = dlb_frame_column(in->frame, "point");
    in->repeat = dlb_frame_column(in->frame, "repeat");
    in->status = dlb_frame_column(in->frame, "status");
    in->seed = dlb_points_find(points, "seed");
    in->columns = dlb_alloc(points->parameter_count, sizeof *in->columns);
    for (size_t p = 0; p < points->parameter_count; p++)
        in->columns[p] = dlb_frame_column(in->frame, points->parameters[p].name);
}

/* ---- grouping ------------------------------------------------------------------------------ */

/* What makes rows without an id one point: all parameters but the seed, which repeats change. */
static bool same_parameters(const reading *in, size_t parameters, size_t a, size_t b)
{
    for (size_t p = 0; p < parameters; p++)
        if ((int)p != in->seed && dlb_frame_code(in->frame, in->columns[p], a) !=
                                      dlb_frame_code(in->frame, in->columns[p], b))
            return false;
    return true;
}

static uint64_t hash_parameters(const reading *in, size_t parameters, size_t row)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t p = 0; p < parameters; p++)
        if ((int)p != in->seed)
            hash = (hash ^ dlb_frame_code(in->frame, in->columns[p], row)) * 0x100000001b3;
    return hash ^ hash >> 29;
}

/* An open hash table of rows, one a point. */
typedef struct seen {
    uint32_t *rows; /* row + 1; 0 is free */
    size_t mask;
} seen;

static seen seen_create(size_t most)
{
    size_t size = 16;
    while (size < 2 * most)
        size *= 2;
    return (seen){dlb_alloc(size, sizeof(uint32_t)), size - 1};
}

/* The first row whose parameters are those of `row`: an earlier one, or itself. */
static size_t first_like(const reading *in, size_t parameters, seen *s, size_t row)
{
    size_t at = hash_parameters(in, parameters, row) & s->mask;
    for (; s->rows[at]; at = (at + 1) & s->mask)
        if (same_parameters(in, parameters, s->rows[at] - 1, row))
            return s->rows[at] - 1;
    s->rows[at] = (uint32_t)row + 1;
    return row;
}

/* Rows with an id are grouped by it, the others by their parameters. Returns the points. */
static size_t group_rows(reading *in, size_t parameters)
{
    size_t count = 0;
    size_t ids = in->point < 0 ? 0 : dlb_frame_codes(in->frame, in->point);
    uint32_t *by_id = dlb_alloc(ids, sizeof *by_id);
    seen without_id = {0};
    in->point_of = dlb_alloc(in->rows, sizeof *in->point_of);
    for (size_t row = 0; row < in->rows; row++) {
        uint32_t id = dlb_frame_code(in->frame, in->point, row);
        if (id) {
            if (!by_id[id])
                by_id[id] = (uint32_t)++count;
            in->point_of[row] = by_id[id] - 1;
            continue;
        }
        if (!without_id.rows)
            without_id = seen_create(in->rows);
        size_t first = first_like(in, parameters, &without_id, row);
        in->point_of[row] = first == row ? (uint32_t)count++ : in->point_of[first];
    }
    free(without_id.rows);
    free(by_id);
    return count;
}

/* A row without a repeat is the next one of its point. */
static void number_repeats(reading *in, size_t points)
{
    int *last = dlb_alloc(points, sizeof *last);
    in->repeats = dlb_alloc(in->rows, sizeof *in->repeats);
    for (size_t row = 0; row < in->rows; row++) {
        double given = dlb_frame_number(in->frame, in->repeat, row);
        int *previous = &last[in->point_of[row]];
        in->repeats[row] = given >= 1 && given <= 1e9 ? (int)given : *previous + 1;
        *previous = in->repeats[row];
    }
    free(last);
}

static int compare_repeats(const void *a, const void *b, void *context)
{
    const int *repeats = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (repeats[x] != repeats[y])
        return repeats[x] < repeats[y] ? -1 : 1;
    return (x > y) - (x < y);
}

static void order_rows(reading *in, dlb_points *points)
{
    points->first = dlb_alloc(points->count + 1, sizeof *points->first);
    for (size_t row = 0; row < in->rows; row++)
        points->first[in->point_of[row] + 1]++;
    for (size_t p = 0; p < points->count; p++)
        points->first[p + 1] += points->first[p];

    size_t *next = dlb_alloc(points->count, sizeof *next);
    memcpy(next, points->first, points->count * sizeof *next);
    points->order = dlb_alloc(in->rows, sizeof *points->order);
    for (size_t row = 0; row < in->rows; row++)
        points->order[next[in->point_of[row]]++] = (uint32_t)row;
    free(next);

    for (size_t p = 0; p < points->count; p++)
        qsort_r(points->order + points->first[p], points->first[p + 1] - points->first[p],
                sizeof *points->order, compare_repeats, in->repeats);
}

/* ---- runs and their numbers ---------------------------------------------------------------- */

/* Without the column all are taken for ok; a run that does not say so has failed. */
static enum dlb_run_status status_of(const reading *in, size_t row)
{
    static const struct {
        const char *word;
        enum dlb_run_status status;
    } words[] = {
        {"ok", DLB_STATUS_OK}, {"timeout", DLB_STATUS_TIMEOUT}, {"diverged", DLB_STATUS_DIVERGED}};
    if (in->status < 0)
        return DLB_STATUS_OK;
    const char *word = dlb_frame_word(in->frame, in->status, row);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i].word) == 0)
            return words[i].status;
    return DLB_STATUS_FAILED;
}

static void fill_runs(const reading *in, dlb_points *points)
{
    points->run_count = in->rows;
    points->runs = dlb_alloc(in->rows, sizeof *points->runs);
    for (size_t i = 0; i < in->rows; i++)
        points->runs[i] =
            (dlb_point_run){in->repeats[points->order[i]], status_of(in, points->order[i])};
}

/* One number a run, in their order; NULL if all are missing. */
static double *ordered(const reading *in, const dlb_points *points, const dlb_frame *frame,
                       int column, bool of_ok_only)
{
    if (column < 0)
        return NULL;
    bool any = false;
    double *values = dlb_alloc(in->rows, sizeof *values);
    for (size_t i = 0; i < in->rows; i++) {
        bool has = !of_ok_only || points->runs[i].status == DLB_STATUS_OK;
        values[i] = has ? dlb_frame_number(frame, column, points->order[i]) : NAN;
        any = any || !isnan(values[i]);
    }
    if (any)
        return values;
    free(values);
    return NULL;
}

static void fill_measures(const reading *in, dlb_points *points)
{
    enum { STATE, RESULT };
    static const bool of_ok_only[] = {
#define MEASURE(name, kind) kind == RESULT,
#include "report/measures.def"
    };
    for (int m = 0; m < DLB_MEASURES; m++) {
        int column = dlb_frame_column(in->frame, dlb_measure_name((enum dlb_measure)m));
        points->measures[m] = ordered(in, points, in->frame, column, of_ok_only[m]);
        if (column >= 0)
            dlb_frame_drop(in->frame, column); /* or a large file would be in memory twice */
    }
    size_t most = 0;
    for (size_t p = 0; p < points->count; p++) {
        size_t runs = points->first[p + 1] - points->first[p];
        most = runs > most ? runs : most;
    }
    points->missing = dlb_alloc(most, sizeof *points->missing);
    for (size_t i = 0; i < most; i++)
        points->missing[i] = NAN;
}

/* A column of another program that is not all numbers is no metric; each is read by itself. */
static void fill_metric(const reading *in, dlb_points *points, const char *path, const char *name)
{
    dlb_frame *frame;
    dlb_error ignored;
    dlb_frame_want want = {name, DLB_FRAME_NUMBER};
    if (dlb_frame_read(&frame, path, &want, 1, &ignored) < 0)
        return;
    double *values = NULL;
    if (dlb_frame_rows(frame) == in->rows)
        values = ordered(in, points, frame, dlb_frame_column(frame, name), true);
    if (values)
        points->metrics[points->metric_count++] = (struct metric){dlb_strdup(name), values};
    dlb_frame_free(frame);
}

static void fill_metrics(const reading *in, dlb_points *points, const char *path,
                         char *const *names)
{
    for (; *names && points->metric_count < DLB_MAX_METRICS; names++)
        if (is_metric(*names))
            fill_metric(in, points, path, *names);
}

/* ---- parameters ---------------------------------------------------------------------------- */

static void copy_texts(struct parameter *p, const dlb_frame *frame, int column)
{
    p->text_count = dlb_frame_codes(frame, column);
    p->texts = dlb_alloc(p->text_count, sizeof *p->texts);
    p->numbers = dlb_alloc(p->text_count, sizeof *p->numbers);
    for (size_t code = 0; code < p->text_count; code++) {
        p->texts[code] = dlb_strdup(dlb_frame_text(frame, column, (uint32_t)code));
        if (!dlb_parse_real(p->texts[code], &p->numbers[code]))
            p->numbers[code] = NAN;
    }
}

static bool is_complete(const dlb_point_run *run)
{
    return run->status == DLB_STATUS_OK || run->status == DLB_STATUS_DIVERGED;
}

/* The run that tells a point's parameters: one that came to its end knows them all. */
static size_t teller_of(const dlb_points *points, size_t point)
{
    for (size_t i = points->first[point]; i < points->first[point + 1]; i++)
        if (is_complete(&points->runs[i]))
            return i;
    return points->first[point];
}

/* A point's seed is that of its first repeat: repeat k trains with seed + k - 1. */
static uint32_t first_seed(const struct parameter *seed, uint32_t code, int repeat)
{
    double wanted = seed->numbers[code] - (repeat - 1);
    for (size_t c = 1; repeat > 1 && c < seed->text_count; c++)
        if (seed->numbers[c] == wanted)
            return (uint32_t)c;
    return code;
}

/* What a run that failed does not tell is no value of its own. */
static bool is_untold(const dlb_points *points, size_t teller, uint32_t code)
{
    return code == 0 && !is_complete(&points->runs[teller]);
}

static void fill_parameter(const reading *in, dlb_points *points, size_t index)
{
    struct parameter *p = &points->parameters[index];
    copy_texts(p, in->frame, in->columns[index]);
    bool varies = false, told = false;
    p->codes = dlb_alloc(points->count, sizeof *p->codes);
    for (size_t point = 0; point < points->count; point++) {
        size_t teller = teller_of(points, point);
        uint32_t code = dlb_frame_code(in->frame, in->columns[index], points->order[teller]);
        if ((int)index == in->seed)
            code = first_seed(p, code, points->runs[teller].repeat);
        p->codes[point] = code;
        if (is_untold(points, teller, code))
            continue;
        varies = varies || (told && code != p->code);
        p->code = code;
        told = true;
    }
    if (!varies) {
        free(p->codes);
        p->codes = NULL;
    }
}

static void fill_ids(const reading *in, dlb_points *points)
{
    dlb_str ids = DLB_STR_INIT;
    points->id_at = dlb_alloc(points->count, sizeof *points->id_at);
    for (size_t p = 0; p < points->count; p++) {
        const char *id = dlb_frame_word(in->frame, in->point, points->order[points->first[p]]);
        points->id_at[p] = ids.length;
        dlb_str_add_bytes(&ids, id, strlen(id) + 1);
    }
    points->ids = ids.text;
}

static void fill_oversubscribed(const reading *in, dlb_points *points)
{
    int column = dlb_frame_column(in->frame, "oversubscribed");
    points->oversubscribed = dlb_alloc(points->count, sizeof *points->oversubscribed);
    for (size_t row = 0; column >= 0 && row < in->rows; row++)
        if (strcmp(dlb_frame_word(in->frame, column, row), "yes") == 0)
            points->oversubscribed[in->point_of[row]] = true;
}

/* The words of a column, each once. */
static char **distinct(const dlb_frame *frame, const char *name, size_t *count)
{
    int column = dlb_frame_column(frame, name);
    uint32_t codes = column < 0 ? 1 : dlb_frame_codes(frame, column);
    char **words = dlb_alloc(codes, sizeof *words);
    *count = 0;
    for (uint32_t code = 1; code < codes; code++)
        words[(*count)++] = dlb_strdup(dlb_frame_text(frame, column, code));
    return words;
}

/* ---- all of it ----------------------------------------------------------------------------- */

static void fill(reading *in, dlb_points *points)
{
    points->count = group_rows(in, points->parameter_count);
    number_repeats(in, points->count);
    order_rows(in, points);
    fill_runs(in, points);
    fill_measures(in, points);
    for (size_t p = 0; p < points->parameter_count; p++)
        fill_parameter(in, points, p);
    fill_ids(in, points);
    fill_oversubscribed(in, points);
    points->hosts = distinct(in->frame, "host", &points->host_count);
    points->commits = distinct(in->frame, "commit", &points->commit_count);
}

static int read_points(dlb_points *points, reading *in, const char *path, char *const *names,
                       dlb_error *err)
{
    int status = check_header(names, path, err);
    if (status < 0)
        return status;
    find_parameters(points, names);
    status = read_frame(in, points, path, err);
    if (status < 0)
        return status;
    find_columns(in, points);
    fill(in, points);
    dlb_frame_free(in->frame); /* the largest part, before more is read */
    in->frame = NULL;
    fill_metrics(in, points, path, names);
    return 0;
}

int dlb_points_read(dlb_points **points, const char *path, dlb_error *err)
{
    char **names;
    int status = dlb_frame_header(&names, path, err);
    if (status < 0)
        return status;
    reading in = {0};
    *points = dlb_alloc(1, sizeof **points);
    status = read_points(*points, &in, path, names, err);
    dlb_frame_free(in.frame);
    free(in.repeats);
    free(in.point_of);
    free(in.columns);
    dlb_frame_header_free(names);
    if (status < 0) {
        dlb_points_free(*points);
        *points = NULL;
    }
    return status;
}
