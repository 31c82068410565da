#include "report/target.h"

#include <math.h>

#include "base/mem.h"
#include "report/figures.h"
#include "stats/survival.h"

static double longest_of(const double *times, size_t count)
{
    double longest = NAN;
    for (size_t i = 0; i < count; i++)
        longest = fmax(longest, times[i]);
    return longest;
}

double dlb_series_longest(const dlb_points *points, const dlb_series *series)
{
    double longest = NAN;
    for (size_t i = 0; i < series->count; i++) {
        const double *times;
        size_t count =
            dlb_point_measure(points, series->points[i], dlb_time_measure(points), &times);
        longest = fmax(longest, longest_of(times, count));
    }
    return longest;
}

/*
 * A run that never reached the target took longer than it was observed: an ok one until its end,
 * one that timed out until then, a diverged one as long as the longest of its point or, if all have
 * diverged, of its family. Of one that failed nothing is known.
 */
static size_t observe(const dlb_points *points, size_t point, double longest_s,
                      dlb_observation *runs)
{
    const dlb_point_run *ends;
    const double *reached, *whole, *timeouts;
    size_t count = dlb_point_runs(points, point, &ends);
    dlb_point_measure(points, point, DLB_MEASURE_time_to_target_s, &reached);
    dlb_point_measure(points, point, DLB_MEASURE_time_to_solution_s, &whole);
    dlb_point_timeouts(points, point, &timeouts);
    double longest = longest_of(whole, count);
    longest = isnan(longest) ? longest_s : longest;
    for (size_t i = 0; i < count; i++) {
        double observed = ends[i].status == DLB_STATUS_DIVERGED  ? longest
                          : ends[i].status == DLB_STATUS_TIMEOUT ? timeouts[i]
                                                                 : whole[i];
        runs[i] = (dlb_observation){isnan(reached[i]) ? observed : reached[i], !isnan(reached[i])};
    }
    return count;
}

dlb_target_time dlb_point_target(const dlb_points *points, size_t point, double longest_s)
{
    const dlb_point_run *runs;
    dlb_observation *observed = dlb_alloc(dlb_point_runs(points, point, &runs), sizeof *observed);
    dlb_survival t = dlb_survival_of(observed, observe(points, point, longest_s, observed));
    free(observed);
    bool bounded = !isnan(t.low) || !isnan(t.high);
    return (dlb_target_time){{t.count, t.median, isnan(t.low) && bounded ? t.median : t.low,
                              isnan(t.high) && bounded ? t.median : t.high},
                             t.reached};
}
