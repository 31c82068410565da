/*
 * Max-pooling, x [n][h][w][c] → y [n][oh][ow][c] with windows of size × size every `stride`.
 * Windows that would reach over the edge are left out, as in Keras ("valid") and PyTorch.
 * Forward notes which element of its window won (row * size + column; the first of equals; a NaN
 * wins over every number, so that it is not lost), which backward needs. size <= 15.
 */
#ifndef DLK_POOL_H
#define DLK_POOL_H

#include <stdint.h>

#include "dlk/team.h"

typedef struct dlk_pool {
    int n, h, w, c;
    int size, stride;
} dlk_pool;

static inline int dlk_pool_oh(const dlk_pool *s)
{
    return (s->h - s->size) / s->stride + 1;
}

static inline int dlk_pool_ow(const dlk_pool *s)
{
    return (s->w - s->size) / s->stride + 1;
}

typedef void dlk_maxpool_forward_fn(dlk_team *team, const dlk_pool *s, const float *x, float *y,
                                    uint8_t *winner);

/* dx is overwritten; overlapping windows add. */
typedef void dlk_maxpool_backward_fn(dlk_team *team, const dlk_pool *s, const float *dy,
                                     const uint8_t *winner, float *dx);

#endif
