/*
 * Estimates with intervals, from few and skewed measurements. Pure functions; a NaN is a missing
 * value and is left out. The same input always gives the same output: resampling has a fixed seed.
 */
#ifndef DLB_STATS_INTERVAL_H
#define DLB_STATS_INTERVAL_H

#include <stddef.h>

/* An estimate and the 95 % interval around it; low and high are NaN below two values. */
typedef struct dlb_interval {
    size_t count;
    double value, low, high;
} dlb_interval;

/* The median, by bootstrap (percentile method, 2,000 resamples; exact enumeration where that is
 * less). */
dlb_interval dlb_interval_median(const double *values, size_t count);

/* The mean, likewise. */
dlb_interval dlb_interval_mean(const double *values, size_t count);

/*
 * The median of the ratios above[i] / below[i]: each pair is of one block, so that drift cancels.
 * Pairs with a missing value are left out.
 */
dlb_interval dlb_interval_paired_ratio(const double *above, const double *below, size_t count);

/* The ratio of the medians of two unpaired samples, each resampled by itself. */
dlb_interval dlb_interval_ratio(const double *above, size_t above_count, const double *below,
                                size_t below_count);

#endif
