/*
 * Convolution as matrix products, block by block of output rows of an image.
 *
 * Under kernel row ky, the patch of an output pixel is kw*c consecutive floats of an input row.
 * A strip holds these patch rows side by side, [input row][ow][kw*c], for all input rows that a
 * block of output rows sees, so that each kernel row is one product:
 *
 *     y [pixels][oc] = bias + sum over ky of strip(ky) [pixels][kw*c] · weights(ky) [kw*c][oc]
 *
 * where strip(ky) starts ky rows further down. Compared with whole patches (im2col) the strip is
 * kh times smaller; the products are as fast. With a vertical stride, kernel rows see different
 * input rows, and the strip holds those of ky = 0, then those of ky = 1, and so on.
 *
 * A thread's scratch holds the strip of a block; the leader's also holds, behind it, the
 * transposed weights for backward_data, which all threads read.
 */
#include <string.h>

#include "blas/blas.h"
#include "dlk/gemm.h"
#include "loops.h"
#include "shapes.h"

typedef struct conv_job {
    dlk_team *team;
    const dlk_conv2d *s;
    const float *x, *dy;
    const float *weights; /* backward_data: transposed, [oc][kh*kw*c] */
    const float *bias;
    float *out; /* y, dx or the partial gradients */
} conv_job;

/* Output rows [oy, oy + rows) of one image, and their number of pixels. */
typedef struct block {
    int oy, rows, pixels;
} block;

static block block_at(const dlk_conv2d *s, int oy)
{
    int rows = dlk_conv2d_block_rows(s), left = dlk_conv2d_oh(s) - oy;
    rows = rows < left ? rows : left;
    return (block){oy, rows, rows * dlk_conv2d_ow(s)};
}

/* Where the output of a block starts in its image. */
static size_t block_out(const dlk_conv2d *s, const block *b)
{
    return (size_t)b->oy * (size_t)dlk_conv2d_ow(s) * (size_t)s->oc;
}

/* Where strip(ky) starts in the strip of a block. */
static size_t strip_start(const dlk_conv2d *s, const block *b, int ky)
{
    int row = s->stride_h == 1 ? ky : ky * b->rows;
    return (size_t)row * (size_t)dlk_conv2d_ow(s) * (size_t)dlk_conv2d_patch_row(s);
}

/* The input row that row r of a block's strip is made of; it may lie in the padding. */
static int strip_input(const dlk_conv2d *s, const block *b, int r)
{
    if (s->stride_h == 1)
        return b->oy - s->pad_h + r;
    return (b->oy + r % b->rows) * s->stride_h - s->pad_h + r / b->rows;
}

/* The part of a patch row of kw pixels that lies inside the image: columns [first, end) of it. */
typedef struct span {
    int ix; /* image column of the patch's column 0, possibly negative */
    int first, end;
} span;

static span inside(const dlk_conv2d *s, int ox)
{
    int ix = ox * s->stride_w - s->pad_w;
    int first = ix < 0 ? -ix : 0;
    int end = s->w - ix < s->kw ? s->w - ix : s->kw;
    first = first < s->kw ? first : s->kw;
    return (span){ix, first, end > first ? end : first};
}

/* A patch row may be a few floats only (3 in a first layer): a call of memcpy would cost more. */
static inline void copy(int count, const float *from, float *to)
{
    for (; count >= 4; count -= 4, from += 4, to += 4)
        memcpy(to, from, 4 * sizeof *to);
    for (; count > 0; count--)
        *to++ = *from++;
}

static inline void clear(int count, float *to)
{
    for (int i = 0; i < count; i++)
        to[i] = 0.0F;
}

/* The patch rows of all output columns from one input row. */
static void gather_row(const dlk_conv2d *s, const float *x_row, float *patch_row)
{
    int length = dlk_conv2d_patch_row(s);
    for (int ox = 0; ox < dlk_conv2d_ow(s); ox++, patch_row += length) {
        span in = inside(s, ox);
        int first = in.first * s->c, end = in.end * s->c;
        clear(first, patch_row);
        copy(end - first, x_row + (ptrdiff_t)in.ix * s->c + first, patch_row + first);
        clear(length - end, patch_row + end);
    }
}

/* Add the patch rows of all output columns to the input row they came from. */
static void scatter_row(const dlk_conv2d *s, const float *patch_row, float *dx_row)
{
    for (int ox = 0; ox < dlk_conv2d_ow(s); ox++, patch_row += dlk_conv2d_patch_row(s)) {
        span in = inside(s, ox);
        int first = in.first * s->c, end = in.end * s->c;
        dlk_add((size_t)(end - first), patch_row + first, dx_row + (ptrdiff_t)in.ix * s->c + first);
    }
}

static bool image_is_strip(const dlk_conv2d *s)
{
    return s->kw == 1 && s->stride_h == 1 && s->stride_w == 1 && s->pad_h == 0 && s->pad_w == 0;
}

/* The strip of a block: gathered into `scratch`, unless the image itself is one. */
static const float *gather(const dlk_conv2d *s, const float *x, const block *b, float *scratch)
{
    size_t x_row = (size_t)s->w * (size_t)s->c;
    if (image_is_strip(s))
        return x + (size_t)b->oy * x_row;
    int row_floats = dlk_conv2d_ow(s) * dlk_conv2d_patch_row(s);
    float *strip = scratch;
    for (int r = 0; r < dlk_conv2d_strip_rows(s, b->rows); r++, strip += row_floats) {
        int iy = strip_input(s, b, r);
        if (iy >= 0 && iy < s->h)
            gather_row(s, x + (size_t)iy * x_row, strip);
        else
            clear(row_floats, strip);
    }
    return scratch;
}

static void scatter(const dlk_conv2d *s, const float *strip, const block *b, float *dx)
{
    size_t row_floats = (size_t)dlk_conv2d_ow(s) * (size_t)dlk_conv2d_patch_row(s);
    for (int r = 0; r < dlk_conv2d_strip_rows(s, b->rows); r++, strip += row_floats) {
        int iy = strip_input(s, b, r);
        if (iy >= 0 && iy < s->h)
            scatter_row(s, strip, dx + (size_t)iy * (size_t)s->w * (size_t)s->c);
    }
}

static void forward_block(const conv_job *job, const block *b, const float *strip, float *y)
{
    const dlk_conv2d *s = job->s;
    int k = dlk_conv2d_patch_row(s), oc = s->oc;
    for (int pixel = 0; pixel < b->pixels; pixel++)
        memcpy(y + (size_t)pixel * (size_t)oc, job->bias, (size_t)oc * sizeof *y);
    for (int ky = 0; ky < s->kh; ky++)
        dlk_gemm(false, false, b->pixels, oc, k, strip + strip_start(s, b, ky), k,
                 job->weights + (size_t)ky * (size_t)k * (size_t)oc, oc, 1.0F, y, oc);
}

static void forward_image(void *arg, int image, int thread)
{
    const conv_job *job = arg;
    const dlk_conv2d *s = job->s;
    const float *x = job->x + (size_t)image * dlk_conv2d_image_in(s);
    float *y = job->out + (size_t)image * dlk_conv2d_image_out(s);
    for (block b = block_at(s, 0); b.rows > 0; b = block_at(s, b.oy + b.rows))
        forward_block(job, &b, gather(s, x, &b, dlk_scratch(job->team, thread)),
                      y + block_out(s, &b));
}

static void backward_block(const conv_job *job, const block *b, const float *dy, float *strip)
{
    const dlk_conv2d *s = job->s;
    int k = dlk_conv2d_patch_row(s), oc = s->oc;
    size_t strip_rows = (size_t)dlk_conv2d_strip_rows(s, b->rows);
    memset(strip, 0, strip_rows * (size_t)dlk_conv2d_ow(s) * (size_t)k * sizeof *strip);
    for (int ky = 0; ky < s->kh; ky++)
        dlk_gemm(false, false, b->pixels, k, oc, dy, oc, job->weights + (size_t)ky * (size_t)k,
                 s->kh * k, 1.0F, strip + strip_start(s, b, ky), k);
}

static void backward_image(void *arg, int image, int thread)
{
    const conv_job *job = arg;
    const dlk_conv2d *s = job->s;
    const float *dy = job->dy + (size_t)image * dlk_conv2d_image_out(s);
    float *dx = job->out + (size_t)image * dlk_conv2d_image_in(s);
    float *strip = dlk_scratch(job->team, thread);
    memset(dx, 0, dlk_conv2d_image_in(s) * sizeof *dx);
    for (block b = block_at(s, 0); b.rows > 0; b = block_at(s, b.oy + b.rows)) {
        backward_block(job, &b, dy + block_out(s, &b), strip);
        scatter(s, strip, &b, dx);
    }
}

static void add_block_gradient(const dlk_conv2d *s, const block *b, const float *strip,
                               const float *dy, float *dweights, float *dbias)
{
    int k = dlk_conv2d_patch_row(s), oc = s->oc;
    for (int ky = 0; ky < s->kh; ky++)
        dlk_gemm(true, false, k, oc, b->pixels, strip + strip_start(s, b, ky), k, dy, oc, 1.0F,
                 dweights + (size_t)ky * (size_t)k * (size_t)oc, oc);
    for (int pixel = 0; pixel < b->pixels; pixel++)
        dlk_add((size_t)oc, dy + (size_t)pixel * (size_t)oc, dbias);
}

static void add_image_gradient(const conv_job *job, int image, float *scratch, float *dweights,
                               float *dbias)
{
    const dlk_conv2d *s = job->s;
    const float *x = job->x + (size_t)image * dlk_conv2d_image_in(s);
    const float *dy = job->dy + (size_t)image * dlk_conv2d_image_out(s);
    for (block b = block_at(s, 0); b.rows > 0; b = block_at(s, b.oy + b.rows))
        add_block_gradient(s, &b, gather(s, x, &b, scratch), dy + block_out(s, &b), dweights,
                           dbias);
}

static void gradient_group(void *arg, int group, int thread)
{
    const conv_job *job = arg;
    float *partial = job->out + (size_t)group * dlk_conv2d_gradient(job->s);
    int first, end;
    dlk_grad_group(job->s->n, group, &first, &end);
    memset(partial, 0, dlk_conv2d_gradient(job->s) * sizeof *partial);
    for (int image = first; image < end; image++)
        add_image_gradient(job, image, dlk_scratch(job->team, thread), partial,
                           partial + dlk_conv2d_weights(job->s));
}

/*
 * The weights as [oc][kh*kw*c], once a call: products that have to transpose them themselves,
 * block after block, take twice as long.
 */
static const float *transposed(dlk_team *team, const dlk_conv2d *s, const float *weights)
{
    size_t k = (size_t)dlk_conv2d_patch(s), oc = (size_t)s->oc;
    float *turned = dlk_scratch(team, 0) + dlk_conv2d_scratch(s) - k * oc;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < oc; j++)
            turned[j * k + i] = weights[i * oc + j];
    return turned;
}

void dlk_blas_conv2d_forward(dlk_team *team, const dlk_conv2d *s, const float *x,
                             const float *weights, const float *bias, float *y)
{
    conv_job job = {.team = team, .s = s, .x = x, .weights = weights, .bias = bias, .out = y};
    dlk_parallel(team, s->n, forward_image, &job);
}

void dlk_blas_conv2d_backward_data(dlk_team *team, const dlk_conv2d *s, const float *dy,
                                   const float *weights, float *dx)
{
    const float *turned = transposed(team, s, weights);
    conv_job job = {.team = team, .s = s, .dy = dy, .weights = turned, .out = dx};
    dlk_parallel(team, s->n, backward_image, &job);
}

void dlk_blas_conv2d_backward_weights(dlk_team *team, const dlk_conv2d *s, const float *x,
                                      const float *dy, float *partial, float *dweights,
                                      float *dbias)
{
    conv_job job = {.team = team, .s = s, .x = x, .dy = dy, .out = partial};
    dlk_parallel(team, dlk_grad_groups(s->n), gradient_group, &job);
    dlk_conv2d_sum_groups(team, s, partial, dweights, dbias);
}
