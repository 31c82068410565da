/* Whether two samples differ, without assuming a distribution. */
#ifndef DLB_STATS_RANK_TEST_H
#define DLB_STATS_RANK_TEST_H

#include <stddef.h>

typedef struct dlb_rank_test {
    double u; /* Mann–Whitney: pairs in which a's value is larger, ties counting half */
    double p; /* two-sided; exact without ties up to 20 values each, else normal with ties and
                 continuity corrected; NaN if a sample is empty */
    double superiority; /* u / (pairs): the chance that a value of a is larger than one of b */
} dlb_rank_test;

dlb_rank_test dlb_mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count);

#endif
