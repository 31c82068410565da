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
    bool scales; /* no rank plays several workers, or all have one number of them */
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

/*
 * What the points of a group can be compared by. Times, if they did the same work: no rank plays
 * several workers, or all trainings have one number of them, and model, epochs and images are the
 * same. Images a second, if that is so but the work grows with the workers. Else accuracy, if they
 * have one; else nothing.
 */
enum dlb_ranking { DLB_RANK_TIME, DLB_RANK_RATE, DLB_RANK_ACCURACY, DLB_RANK_NOTHING };

enum dlb_ranking dlb_summary_ranking(const dlb_points *points, const dlb_summary_group *group);

/* How the runs of a point ended. */
typedef struct dlb_summary_ends {
    size_t runs, with[DLB_STATUS_DIVERGED + 1];
} dlb_summary_ends;

dlb_summary_ends dlb_summary_ends_of(const dlb_points *points, size_t point);

/* The point that each point's speed-up is against: SIZE_MAX where none would be honest. free() it.
 */
size_t *dlb_summary_bases(const dlb_points *points);

#endif
