#include "report/join.h"

#include <stdint.h>

#include "base/hash.h"
#include "base/mem.h"
#include "report/points_state.h"

static const dlb_frame_want run_column = {"run", DLB_FRAME_WORD};

/* ---- names to codes ------------------------------------------------------------------------ */

/* The names of the joined file, by hash. */
typedef struct names {
    const dlb_frame *frame;
    int column;
    uint32_t *codes; /* 0 is free */
    size_t mask;
} names;

static size_t place_of(const names *n, const char *name)
{
    size_t at = dlb_hash(name, strlen(name)) & n->mask;
    while (n->codes[at] && strcmp(dlb_frame_text(n->frame, n->column, n->codes[at]), name) != 0)
        at = (at + 1) & n->mask;
    return at;
}

static names index_names(const dlb_frame *frame, int column)
{
    size_t size = 16;
    while (size < 2 * (size_t)dlb_frame_codes(frame, column))
        size *= 2;
    names n = {frame, column, dlb_alloc(size, sizeof(uint32_t)), size - 1};
    for (uint32_t code = 1; code < dlb_frame_codes(frame, column); code++)
        n.codes[place_of(&n, dlb_frame_text(frame, column, code))] = code;
    return n;
}

/* ---- runs ---------------------------------------------------------------------------------- */

/* runs.csv may have grown since the points were read: what is new there is not known here. */
static void map_runs(dlb_join *join, const dlb_points *points, const dlb_frame *runs)
{
    int column = dlb_frame_column(runs, "run");
    names n = index_names(join->frame, join->run);
    join->run_of = dlb_alloc(dlb_frame_codes(join->frame, join->run), sizeof *join->run_of);
    for (size_t i = 0; i < points->run_count; i++)
        if (points->order[i] < dlb_frame_rows(runs)) {
            uint32_t code = n.codes[place_of(&n, dlb_frame_word(runs, column, points->order[i]))];
            join->run_of[code] = code ? i + 1 : 0;
        }
    free(n.codes);
}

static void map_points(dlb_join *join, const dlb_points *points)
{
    join->point_of = dlb_alloc(points->run_count, sizeof *join->point_of);
    for (size_t p = 0; p < points->count; p++)
        for (size_t i = points->first[p]; i < points->first[p + 1]; i++)
            join->point_of[i] = p;
}

static int map(dlb_join *join, const dlb_report *report, dlb_error *err)
{
    dlb_frame *runs;
    int status = dlb_frame_read(&runs, report->runs, &run_column, 1, err);
    if (status < 0)
        return status;
    bool named = join->run >= 0 && dlb_frame_column(runs, "run") >= 0;
    if (named) {
        map_runs(join, report->points, runs);
        map_points(join, report->points);
    }
    dlb_frame_free(runs);
    return named;
}

int dlb_join_read(dlb_join *join, const dlb_report *report, const char *file,
                  const dlb_frame_want *wants, size_t count, dlb_error *err)
{
    dlb_str path = DLB_STR_INIT;
    *join = (dlb_join){0};
    if (!dlb_report_beside(report, file, &path)) {
        dlb_str_release(&path);
        return 0;
    }
    dlb_frame_want *all = dlb_alloc(count + 1, sizeof *all);
    memcpy(all, wants, count * sizeof *all);
    all[count] = run_column;
    int status = dlb_frame_read(&join->frame, path.text, all, count + 1, err);
    if (status == 0) {
        join->run = dlb_frame_column(join->frame, "run");
        status = map(join, report, err);
    }
    if (status <= 0)
        dlb_join_release(join);
    free(all);
    dlb_str_release(&path);
    return status;
}

void dlb_join_release(dlb_join *join)
{
    free(join->point_of);
    free(join->run_of);
    dlb_frame_free(join->frame);
    *join = (dlb_join){0};
}

bool dlb_join_run(const dlb_join *join, size_t row, size_t *run)
{
    size_t found = join->run_of[dlb_frame_code(join->frame, join->run, row)];
    *run = found - 1;
    return found > 0;
}
