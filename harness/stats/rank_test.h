/* Whether two samples differ, without assuming a distribution. A NaN is missing and is left out. */
#ifndef DLB_STATS_RANK_TEST_H
#define DLB_STATS_RANK_TEST_H

#include <stddef.h>

/* All NaN if a sample is empty. */
typedef struct dlb_rank_test {
    double u; /* Mann–Whitney: pairs in which a's value is larger, ties counting half */
    double p; /* two-sided; exact without ties up to 20 values each, else normal, corrected for
                 ties and continuity */
    double superiority; /* u / (pairs): the chance that a value of a is larger than one of b */
} dlb_rank_test;

/*
 * Few values cannot show much: even if all of a are larger, p is 0.1 for three of each, 0.029 for
 * four and 0.008 for five.
 */
dlb_rank_test dlb_mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count);

#endif
