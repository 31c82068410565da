/* What the summary tells of points: numbers, and the parameters that tell the points apart. */
#ifndef DLB_REPORT_SUMMARY_ROWS_H
#define DLB_REPORT_SUMMARY_ROWS_H

#include "base/str.h"
#include "report/points.h"
#include "stats/interval.h"

/* Points of one grid, or of a study without grids, in the order of their parameters. */
typedef struct dlb_summary_group {
    const char *grid;
    size_t *points;
    size_t count, capacity;
    int *parameters; /* that tell them apart; those for the eye first */
    size_t parameter_count;
} dlb_summary_group;

typedef struct dlb_summary_groups {
    dlb_summary_group *items;
    size_t count, capacity;
} dlb_summary_groups;

void dlb_summary_groups_make(dlb_summary_groups *groups, const dlb_points *points);
void dlb_summary_groups_release(dlb_summary_groups *groups);

/* The parameters that tell `count` points apart; returns how many. Room for all is needed. */
size_t dlb_summary_parameters(const dlb_points *points, const size_t *items, size_t count,
                              int *parameters);

/* Append a point's values of them: "ranks 2, threads 1"; "the only point" of none. */
void dlb_summary_setting(const dlb_points *points, size_t point, const int *parameters,
                         size_t count, dlb_str *out);

/* How the runs of a point ended. */
typedef struct dlb_summary_ends {
    size_t runs, with[DLB_STATUS_DIVERGED + 1];
} dlb_summary_ends;

dlb_summary_ends dlb_summary_ends_of(const dlb_points *points, size_t point);

/* The point that each point's speed-up is against: SIZE_MAX where none would be honest. free() it.
 */
size_t *dlb_summary_bases(const dlb_points *points);

/* How many times as fast as its base, within blocks; of a weak study in images a second. */
dlb_interval dlb_summary_speedup(const dlb_points *points, size_t point, size_t base);

#endif
