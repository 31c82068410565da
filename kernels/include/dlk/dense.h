/*
 * Fully connected layer: y[n][out] = x[n][in] · weights[in][out] + bias[out].
 *
 * With up to 512 inputs, or up to 1024 and no more than 4096 weights, y and dx of an image do not
 * depend, to the last bit, on the images beside it, nor on how many there are, but for OpenBLAS's.
 */
#ifndef DLK_DENSE_H
#define DLK_DENSE_H

#include <stddef.h>

#include "dlk/team.h"

typedef struct dlk_dense {
    int n, in, out; /* none of them 0 */
    int half; /* fewer than n: so many images' gradients are a sum of their own; 0: all in one */
} dlk_dense;

typedef void dlk_dense_forward_fn(dlk_team *team, const dlk_dense *s, const float *x,
                                  const float *weights, const float *bias, float *y);

/* dx is overwritten. */
typedef void dlk_dense_backward_data_fn(dlk_team *team, const dlk_dense *s, const float *dy,
                                        const float *weights, float *dx);

/*
 * dweights and dbias are overwritten with sums over the batch: with a `half`, to the last bit what
 * comes of the first `half` images plus what comes of the others, but for OpenBLAS's.
 */
typedef void dlk_dense_backward_weights_fn(dlk_team *team, const dlk_dense *s, const float *x,
                                           const float *dy, float *dweights, float *dbias);

/*
 * Floats of scratch that each thread of the team needs for any of the three, and that all need
 * together, with batches of up to n images; most of all families.
 */
size_t dlk_dense_scratch(void);
size_t dlk_dense_shared(const dlk_dense *s);

#endif
