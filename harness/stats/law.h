/*
 * A discrete distribution: values with their chances. Valid when zeroed (DLB_LAW_INIT); release it
 * with dlb_law_release.
 */
#ifndef DLB_STATS_LAW_H
#define DLB_STATS_LAW_H

#include <stddef.h>

typedef struct dlb_atom {
    double value, chance;
} dlb_atom;

typedef struct dlb_law {
    dlb_atom *atoms;
    size_t count, capacity;
} dlb_law;

#define DLB_LAW_INIT                                                                               \
    {                                                                                              \
        NULL, 0, 0                                                                                 \
    }

void dlb_law_add(dlb_law *law, double value, double chance);
void dlb_law_release(dlb_law *law);

/* The smallest value that is not exceeded with a chance of at least `level`; reorders the atoms. */
double dlb_law_quantile(dlb_law *law, double level);

/* The same of a / b, drawn independently from two laws whose values are all above 0; sorts both. */
double dlb_law_ratio_quantile(dlb_law *a, dlb_law *b, double level);

/*
 * The distribution of the median of a resample of the `count` values, at least one. It is
 * known in closed form, from the chance that so many draws fall on the first k values, so nothing
 * is drawn. Chances below 1e-13 are left out. odd counts:  B. Efron, Bootstrap methods: another
 * look at the jackknife, Ann. Statist. 7 (1979) even counts: A. D. Hutson and M. D. Ernst, The
 * exact bootstrap mean and variance of an L-estimator, J. R. Statist. Soc. B 62 (2000)
 */
void dlb_law_of_median(dlb_law *law, const double *ascending, size_t count);

/*
 * The distribution of the mean of a resample: all resamples up to 7 values, 2,000 drawn
 * with a fixed seed for more.
 */
void dlb_law_of_mean(dlb_law *law, const double *values, size_t count);

#endif
