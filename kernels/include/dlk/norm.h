/*
 * Sums of squares, for norms of weights and gradients.
 */
#ifndef DLK_NORM_H
#define DLK_NORM_H

#include <stddef.h>

/*
 * *sum_a = the sum of a[i]², *sum_b = that of b[i]², over `count` elements of each. In double, in
 * which the squares are exact, and in a fixed order: the results depend on the values alone.
 */
void dlk_square_sums(const float *a, const float *b, size_t count, double *sum_a, double *sum_b);

#endif
