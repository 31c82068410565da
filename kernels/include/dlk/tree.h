/*
 * The fixed tree by which the contributions of n workers are summed.
 *
 * A sum over n > 1 is the sum over its first dlk_tree_left(n) plus the sum over the rest. An even n
 * is cut in halves: where 2^k processes have equal, consecutive shares of the workers, each share
 * is a whole subtree, and the result does not depend on k. Floating-point addition commutes but
 * does not associate, so this shape is all that must be agreed on.
 */
#ifndef DLK_TREE_H
#define DLK_TREE_H

#include <stddef.h>

static inline int dlk_tree_left(int n)
{
    return n - n / 2;
}

/*
 * out[i] = the tree's sum over in[0][i] … in[n-1][i]. `out` may be one of the inputs, but must not
 * overlap one in part.
 */
void dlk_tree_sum(int n, const float *const *in, size_t count, float *out);

/* The same for the elements first … end - 1 only. */
void dlk_tree_sum_range(int n, const float *const *in, size_t first, size_t end, float *out);

/* The tree's sum of n numbers. */
double dlk_tree_sum_of(int n, const double *in);

#endif
