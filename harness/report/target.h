/*
 * The time to the target accuracy, of all runs of a point: one that never reached the target took
 * longer than it was observed, and is not left out.
 */
#ifndef DLB_REPORT_TARGET_H
#define DLB_REPORT_TARGET_H

#include "report/series.h"
#include "stats/interval.h"

/* Of the runs that something is known of. */
typedef struct dlb_target_time {
    dlb_interval time; /* median; NaN if fewer than half reached the target. An open side of the
                          interval ends at the median */
    size_t reached;    /* of time.count runs */
} dlb_target_time;

/* `longest_s`: how long one that diverged is taken to have lasted, where no run of its point came
 * to its end. */
dlb_target_time dlb_point_target(const dlb_points *points, size_t point, double longest_s);

/* The longest time of a run of the series; NaN if none has one. */
double dlb_series_longest(const dlb_points *points, const dlb_series *series);

#endif
