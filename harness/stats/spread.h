/* Pure functions over arrays of measurements. A NaN is a missing value and is left out. */
#ifndef DLB_STATS_SPREAD_H
#define DLB_STATS_SPREAD_H

#include <stddef.h>

/* The order statistics of what was measured; all NaN if count is 0. */
typedef struct dlb_spread {
    size_t count;                          /* of values that are not missing */
    double min, lower, median, upper, max; /* lower, upper: quartiles */
} dlb_spread;

dlb_spread dlb_spread_of(const double *values, size_t count);

double dlb_median(const double *values, size_t count);

/*
 * The value below which a fraction p, 0 … 1, of an ascending array without NaN lies: linear between
 * its elements, the first at 0 and the last at 1. NaN for an empty array.
 */
double dlb_quantile(const double *ascending, size_t count, double p);

#endif
