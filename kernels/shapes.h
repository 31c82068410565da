/* Cuts that depend on the shape alone, and the memory they need. */
#ifndef DLK_SHAPES_H
#define DLK_SHAPES_H

#include "dlk/conv2d.h"
#include "dlk/dense.h"
#include "loops.h"

/* Floats of a patch, the input of one output pixel, and of a row of it. */
static inline int dlk_conv2d_patch_row(const dlk_conv2d *s)
{
    return s->kw * s->c;
}

static inline int dlk_conv2d_patch(const dlk_conv2d *s)
{
    return s->kh * dlk_conv2d_patch_row(s);
}

static inline size_t dlk_conv2d_image_in(const dlk_conv2d *s)
{
    return (size_t)s->h * (size_t)s->w * (size_t)s->c;
}

static inline size_t dlk_conv2d_image_out(const dlk_conv2d *s)
{
    return (size_t)dlk_conv2d_oh(s) * (size_t)dlk_conv2d_ow(s) * (size_t)s->oc;
}

/* Floats of the weights, and of one group's partial gradient: the weights' and the bias's. */
static inline size_t dlk_conv2d_weights(const dlk_conv2d *s)
{
    return (size_t)dlk_conv2d_patch(s) * (size_t)s->oc;
}

static inline size_t dlk_conv2d_gradient(const dlk_conv2d *s)
{
    return dlk_conv2d_weights(s) + (size_t)s->oc;
}

/*
 * Multiply-adds of a product that OpenBLAS computes in its AVX-512 kernels for small matrices.
 * These copy no operand and reach 95 % of peak where larger products reach 60 to 75 %; with AVX2
 * the size makes little difference.
 */
enum { DLK_SMALL_PRODUCT = 1000000 };

/* Output rows that a convolution computes at a time. */
int dlk_conv2d_block_rows(const dlk_conv2d *s);

/* Input rows, as often as they are gathered, for `rows` output rows (blas/conv2d.c). */
static inline int dlk_conv2d_strip_rows(const dlk_conv2d *s, int rows)
{
    return s->stride_h == 1 ? rows + s->kh - 1 : rows * s->kh;
}

/* Add the groups' partial gradients up into the weights' and the bias's, in order of groups. */
void dlk_conv2d_sum_groups(dlk_team *team, const dlk_conv2d *s, const float *partial,
                           float *dweights, float *dbias);

/* Images and outputs of a tile of a dense layer's product; the elements of a slice of `in`. */
enum { DLK_DENSE_TILE = 128, DLK_DENSE_SLICE = 512 };

/*
 * Floats that simd/ needs for a packed block of a matrix, for a tile of the product with it, and
 * for what it knows of a tile of the other matrix by 64 elements. Rows are cut into no more tiles
 * than they would be if each had LEAST_TILE. With halves there are two tiles of the product.
 */
enum {
    DLK_DENSE_BLOCK = 64 * 128,
    DLK_DENSE_BLOCK_SUMS = DLK_DENSE_TILE * 128,
    DLK_DENSE_LEAST_TILE = 32,
    DLK_DENSE_FACTORS = 320
};

/* In how many sums the images' gradients are, 1 or 2, and those of each. */
static inline int dlk_dense_halves(const dlk_dense *s)
{
    return s->half ? 2 : 1;
}

static inline dlk_range dlk_dense_half(const dlk_dense *s, int index)
{
    size_t n = (size_t)s->n, middle = s->half ? (size_t)s->half : n;
    return index ? (dlk_range){middle, n} : (dlk_range){0, middle};
}

/*
 * Into how many slices the inputs are cut in forward. The slices' sums take
 * slices * n * out floats, with out rounded up to 128 in simd/, which dlk_dense_shared bounds for
 * every batch of up to n images.
 */
int dlk_dense_slices(const dlk_dense *s);

#endif
