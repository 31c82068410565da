/*
 * 2-D convolution (cross-correlation, as all frameworks have it) with bias.
 *
 * Layouts: x [n][h][w][c], weights [kh][kw][c][oc], bias [oc], y [n][oh][ow][oc], all dense.
 * Padding is zeros, `pad_h` rows above and below, `pad_w` columns left and right.
 */
#ifndef DLK_CONV2D_H
#define DLK_CONV2D_H

#include <stddef.h>

#include "dlk/team.h"

typedef struct dlk_conv2d {
    int n, h, w, c; /* input; n may be smaller in a last batch */
    int oc, kh, kw; /* output channels, kernel */
    int stride_h, stride_w;
    int pad_h, pad_w;
} dlk_conv2d;

static inline int dlk_conv2d_oh(const dlk_conv2d *s)
{
    return (s->h + 2 * s->pad_h - s->kh) / s->stride_h + 1;
}

static inline int dlk_conv2d_ow(const dlk_conv2d *s)
{
    return (s->w + 2 * s->pad_w - s->kw) / s->stride_w + 1;
}

typedef void dlk_conv2d_forward_fn(dlk_team *team, const dlk_conv2d *s, const float *x,
                                   const float *weights, const float *bias, float *y);

/* dx is overwritten. */
typedef void dlk_conv2d_backward_data_fn(dlk_team *team, const dlk_conv2d *s, const float *dy,
                                         const float *weights, float *dx);

/*
 * dweights and dbias are overwritten with sums over the batch. `partial` has room for
 * dlk_grad_groups(n) gradients of kh*kw*c*oc + oc floats: a group of images sums into its own,
 * and the groups are then added in a fixed order.
 */
typedef void dlk_conv2d_backward_weights_fn(dlk_team *team, const dlk_conv2d *s, const float *x,
                                            const float *dy, float *partial, float *dweights,
                                            float *dbias);

/*
 * Floats of scratch that each thread of the team needs for any of the three, whatever n; most of
 * all families.
 */
size_t dlk_conv2d_scratch(const dlk_conv2d *s);

/* Into how many groups a batch of n is cut for sums over images; depends on n alone. */
int dlk_grad_groups(int n);

/* The images [*first, *end) of group g of dlk_grad_groups(n). */
void dlk_grad_group(int n, int g, int *first, int *end);

#endif
