/*
 * Estimates with intervals, from few and skewed measurements. Pure functions; a NaN is a missing
 * value and is left out. The same input always gives the same output.
 *
 * The intervals are the bootstrap's, by the percentile method: from low to high lies what the
 * estimate is in all resamples but the lowest and the highest 2.5 %. Of a median that is computed
 * exactly, without resampling (stats/law.h), in microseconds for tens of values.
 *
 * Few values know little, and no method helps. Up to five the interval of a median reaches from the
 * least to the greatest value; it then covers the true median in 50, 75, 88 and 94 % of cases for
 * 2, 3, 4 and 5 values, and in 88 to 97 % for more. The interval of a mean is too narrow for few
 * values: of five normal ones it covers the true mean in 84 %.
 */
#ifndef DLB_STATS_INTERVAL_H
#define DLB_STATS_INTERVAL_H

#include <stddef.h>

/* An estimate and the 95 % interval around it; low and high are NaN below two values. */
typedef struct dlb_interval {
    size_t count; /* of values that are not missing */
    double value, low, high;
} dlb_interval;

dlb_interval dlb_interval_median(const double *values, size_t count);

/*
 * One that can be relied on: it misses the true median with `chance` at most, however the values
 * are distributed, if they are independent and at least 1 - log2(chance). It is the bootstrap's
 * with that chance outside, and where that is narrower (of a dozen values it misses twice as often
 * as it says) reaches to the order statistics that enclose the median surely.
 */
dlb_interval dlb_interval_median_sure(const double *values, size_t count, double chance);

/*
 * The mean: from all resamples of up to 7 values, from 2,000 with a fixed seed for more. Above
 * 1,000 the bootstrap is normal but for less than its own noise, and the normal interval is taken.
 */
dlb_interval dlb_interval_mean(const double *values, size_t count);

/*
 * The median of the ratios above[i] / below[i]: each pair is of one block, so that drift cancels.
 * Pairs with a missing value are left out; count is that of whole pairs.
 */
dlb_interval dlb_interval_paired_ratio(const double *above, const double *below, size_t count);

/*
 * The ratio of the medians of two unpaired samples, each resampled by itself; count is that of the
 * smaller one. The values are times or rates: where one is not above 0, low and high are NaN.
 */
dlb_interval dlb_interval_ratio(const double *above, size_t above_count, const double *below,
                                size_t below_count);

#endif
