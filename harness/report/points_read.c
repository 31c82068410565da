#include <math.h>

#include "base/mem.h"
#include "base/str.h"
#include "record/schema.h"
#include "report/points_reading.h"

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

bool dlb_points_is_metric(const char *column)
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

static int read_frame(dlb_points_reading *in, const dlb_points *points, const char *path,
                      dlb_error *err)
{
    static const dlb_frame_want always[] = {
        {"point", DLB_FRAME_WORD}, {"repeat", DLB_FRAME_NUMBER}, {"status", DLB_FRAME_WORD},
        {"host", DLB_FRAME_WORD},  {"commit", DLB_FRAME_WORD},   {"oversubscribed", DLB_FRAME_WORD},
        {"reason", DLB_FRAME_WORD}};
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

static void find_columns(dlb_points_reading *in, const dlb_points *points)
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
static bool same_parameters(const dlb_points_reading *in, size_t parameters, size_t a, size_t b)
{
    for (size_t p = 0; p < parameters; p++)
        if ((int)p != in->seed && dlb_frame_code(in->frame, in->columns[p], a) !=
                                      dlb_frame_code(in->frame, in->columns[p], b))
            return false;
    return true;
}

static uint64_t hash_parameters(const dlb_points_reading *in, size_t parameters, size_t row)
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
static size_t first_like(const dlb_points_reading *in, size_t parameters, seen *s, size_t row)
{
    size_t at = hash_parameters(in, parameters, row) & s->mask;
    for (; s->rows[at]; at = (at + 1) & s->mask)
        if (same_parameters(in, parameters, s->rows[at] - 1, row))
            return s->rows[at] - 1;
    s->rows[at] = (uint32_t)row + 1;
    return row;
}

/* Rows with an id are grouped by it, the others by their parameters. Returns the points. */
static size_t group_rows(dlb_points_reading *in, size_t parameters)
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
static void number_repeats(dlb_points_reading *in, size_t points)
{
    int *last = dlb_alloc(points, sizeof *last);
    in->repeats = dlb_alloc(in->rows, sizeof *in->repeats);
    for (size_t row = 0; row < in->rows; row++) {
        double given = dlb_frame_number(in->frame, in->repeat, row);
        int *previous = &last[in->point_of[row]];
        bool counts = given >= 1 && given <= 1e9 && given == floor(given);
        in->repeats[row] = counts ? (int)given : *previous + 1;
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

static void order_rows(dlb_points_reading *in, dlb_points *points)
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

/* ---- all of it ----------------------------------------------------------------------------- */

static void group(dlb_points_reading *in, dlb_points *points)
{
    points->count = group_rows(in, points->parameter_count);
    number_repeats(in, points->count);
    order_rows(in, points);
}

static int read_points(dlb_points *points, dlb_points_reading *in, const char *path,
                       char *const *names, dlb_error *err)
{
    int status = check_header(names, path, err);
    if (status < 0)
        return status;
    find_parameters(points, names);
    status = read_frame(in, points, path, err);
    if (status < 0)
        return status;
    find_columns(in, points);
    group(in, points);
    dlb_points_fill(in, points);
    dlb_frame_free(in->frame); /* the largest part, before more is read */
    in->frame = NULL;
    dlb_points_fill_metrics(in, points, path, names);
    return 0;
}

int dlb_points_read(dlb_points **points, const char *path, dlb_error *err)
{
    char **names;
    int status = dlb_frame_header(&names, path, err);
    if (status < 0)
        return status;
    dlb_points_reading in = {0};
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
