/*
 * A contest: points that differ in one word, such as `kernels` or `param.peer`, and in nothing
 * else. There may be several such sets of points, as long as words tell them apart, too, such as
 * `model` and `isa`: what numbers tell apart is better seen as lines over them.
 */
#ifndef DLB_REPORT_CONTEST_H
#define DLB_REPORT_CONTEST_H

#include "report/series.h"

/* What a page has room for; larger contests are none. */
enum { DLB_CONTEST_PANELS = 6, DLB_CONTEST_VALUES = 16, DLB_CONTEST_ROWS = 32 };

typedef struct dlb_contest {
    const dlb_points *points;
    int parameter;                     /* whose values compete */
    dlb_series_list list;              /* a series for each combination of the other parameters */
    size_t panels[DLB_CONTEST_PANELS]; /* the series of two points at least */
    size_t panel_count;
    size_t values[DLB_CONTEST_VALUES]; /* of each value that competes, one point that has it */
    size_t value_count;
} dlb_contest;

typedef struct dlb_contests {
    dlb_contest *items;
    size_t count;
} dlb_contests;

/*
 * The contests of a study, those between most values first; none is only about points that one
 * before it has. Models and data do not compete.
 */
void dlb_contests_make(dlb_contests *contests, const dlb_points *points);
void dlb_contests_release(dlb_contests *contests);

/* The points of all panels; *count: how many. free() them. */
size_t *dlb_contest_points(const dlb_contest *contest, size_t *count);

/* Append what tells a panel from the others: "keras_cnn, isa avx2"; else "". */
void dlb_contest_title(const dlb_contest *contest, size_t panel, dlb_str *title);

#endif
