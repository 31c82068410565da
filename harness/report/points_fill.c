#include <math.h>

#include "base/mem.h"
#include "base/str.h"
#include "report/points_reading.h"

/* ---- runs and their numbers ---------------------------------------------------------------- */

/* Without the column all are taken for ok; a run that does not say so has failed. */
static enum dlb_run_status status_of(const dlb_points_reading *in, size_t row)
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

static void fill_runs(const dlb_points_reading *in, dlb_points *points)
{
    points->run_count = in->rows;
    points->runs = dlb_alloc(in->rows, sizeof *points->runs);
    for (size_t i = 0; i < in->rows; i++)
        points->runs[i] =
            (dlb_point_run){in->repeats[points->order[i]], status_of(in, points->order[i])};
}

/* Sets of ends: bit k is that of enum dlb_run_status k. */
enum ends { OK = 1 << DLB_STATUS_OK, TIMEOUT = 1 << DLB_STATUS_TIMEOUT, ANY = ~0 };

/* One number a run that ended so, in the order of runs; NULL if all are missing. */
static double *ordered(const dlb_points_reading *in, const dlb_points *points,
                       const dlb_frame *frame, int column, enum ends ends)
{
    if (column < 0)
        return NULL;
    bool any = false;
    double *values = dlb_alloc(in->rows, sizeof *values);
    for (size_t i = 0; i < in->rows; i++) {
        bool has = (int)ends & 1 << points->runs[i].status;
        values[i] = has ? dlb_frame_number(frame, column, points->order[i]) : NAN;
        any = any || !isnan(values[i]);
    }
    if (any)
        return values;
    free(values);
    return NULL;
}

static void fill_measures(const dlb_points_reading *in, dlb_points *points)
{
    enum { STATE = ANY, RESULT = OK };
    static const enum ends ends[] = {
#define MEASURE(name, kind) (enum ends)(kind),
#include "report/measures.def"
    };
    points->timeouts =
        ordered(in, points, in->frame, dlb_frame_column(in->frame, "wall_s"), TIMEOUT);
    for (int m = 0; m < DLB_MEASURES; m++) {
        int column = dlb_frame_column(in->frame, dlb_measure_name((enum dlb_measure)m));
        points->measures[m] = ordered(in, points, in->frame, column, ends[m]);
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
static void fill_metric(const dlb_points_reading *in, dlb_points *points, const char *path,
                        const char *name)
{
    dlb_frame *frame;
    dlb_error ignored;
    dlb_frame_want want = {name, DLB_FRAME_NUMBER};
    if (dlb_frame_read(&frame, path, &want, 1, &ignored) < 0)
        return;
    double *values = NULL;
    if (dlb_frame_rows(frame) == in->rows)
        values = ordered(in, points, frame, dlb_frame_column(frame, name), OK);
    if (values)
        points->metrics[points->metric_count++] = (struct metric){dlb_strdup(name), values};
    dlb_frame_free(frame);
}

void dlb_points_fill_metrics(const dlb_points_reading *in, dlb_points *points, const char *path,
                             char *const *names)
{
    for (; *names; names++) {
        if (!dlb_points_is_metric(*names))
            continue;
        points->more_metrics = points->metric_count == DLB_MAX_METRICS;
        if (points->more_metrics)
            return;
        fill_metric(in, points, path, *names);
    }
}

/* ---- reasons ------------------------------------------------------------------------------- */

static dlb_reason *reason_of(dlb_points *points, const char *text)
{
    for (size_t i = 0; i < points->reason_count; i++)
        if (strcmp(points->reasons[i].text, text) == 0)
            return &points->reasons[i];
    return NULL;
}

/* In the order of the file, so that the first of several is what came first. */
static void fill_reasons(const dlb_points_reading *in, dlb_points *points)
{
    int column = dlb_frame_column(in->frame, "reason");
    bool *seen = dlb_alloc(column < 0 ? 1 : dlb_frame_codes(in->frame, column), sizeof *seen);
    for (size_t row = 0; column >= 0 && row < in->rows; row++) {
        uint32_t code = dlb_frame_code(in->frame, column, row);
        enum dlb_run_status status = code ? status_of(in, row) : DLB_STATUS_OK;
        if (status != DLB_STATUS_FAILED && status != DLB_STATUS_TIMEOUT)
            continue;
        const char *text = dlb_frame_text(in->frame, column, code);
        dlb_reason *known = seen[code] ? reason_of(points, text) : NULL;
        if (known)
            known->runs++;
        else if (!seen[code] && points->reason_count < DLB_MAX_REASONS)
            points->reasons[points->reason_count++] =
                (dlb_reason){dlb_strdup(text), status, in->point_of[row], 1};
        else
            points->other_reasons += !seen[code];
        seen[code] = true;
    }
    free(seen);
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

static void fill_parameter(const dlb_points_reading *in, dlb_points *points, size_t index)
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

static void fill_ids(const dlb_points_reading *in, dlb_points *points)
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

static void fill_oversubscribed(const dlb_points_reading *in, dlb_points *points)
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

void dlb_points_fill(dlb_points_reading *in, dlb_points *points)
{
    fill_runs(in, points);
    fill_measures(in, points);
    for (size_t p = 0; p < points->parameter_count; p++)
        fill_parameter(in, points, p);
    fill_ids(in, points);
    fill_oversubscribed(in, points);
    fill_reasons(in, points);
    points->hosts = distinct(in->frame, "host", &points->host_count);
    points->commits = distinct(in->frame, "commit", &points->commit_count);
}
