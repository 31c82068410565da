/*
 * Forward of convolutions of any kernel and stride, without padding, as they are defined.
 *
 * A vector is V output channels of a pixel. Some neighbouring pixels of a row times one or two
 * vectors are summed up in registers, while the weights stream by: each input is spread over a
 * vector and used for both. Where a pool follows, two rows wait in scratch for each other.
 *
 * Layouts: prepared [block of one or two vectors][kh][kw][c][block], then bias [oc];
 * scratch [2][pixels of a row][block].
 * Error: at most 2e-6 of the sum of the absolute products.
 */
#include <string.h>

#include "loops.h"
#include "shapes.h"
#include "simd/simd.h"
#include "simd/tail.h"

/* A block of registers: pixels of a row times vectors of output channels. */
enum { MOST_VECTORS = 2, MOST_PIXELS = ACCUMULATORS / MOST_VECTORS };

/* ---- Shapes ---- */

/* Vectors of output channels of the block that begins with `channel`. */
static int block_vectors(const dlk_stage *s, int channel)
{
    return s->conv.oc - channel >= MOST_VECTORS * V ? MOST_VECTORS : 1;
}

/* Convolution outputs of a row that the stage uses. */
static int row_pixels(const dlk_stage *s)
{
    return dlk_stage_ow(s) * (s->pool ? 2 : 1);
}

static const char *misfit(const dlk_stage *s)
{
    if (s->conv.pad_h != 0 || s->conv.pad_w != 0)
        return "its input is padded";
    if (s->conv.oc % V != 0)
        return "its output channels are not whole vectors";
    return NULL;
}

static size_t prepared_floats(const dlk_stage *s)
{
    return dlk_conv2d_gradient(&s->conv);
}

static size_t scratch_floats(const dlk_stage *s)
{
    return s->pool ? (size_t)row_pixels(s) * 2 * MOST_VECTORS * V : 0;
}

static int parts(const dlk_stage *s)
{
    return dlk_pieces((size_t)s->conv.oc, MOST_VECTORS * V);
}

/* A part is a block of output channels. */
static void prepare(const dlk_stage *s, int part, const float *weights, const float *bias,
                    float *prepared)
{
    size_t oc = (size_t)s->conv.oc, patch = (size_t)dlk_conv2d_patch(&s->conv);
    size_t channel = (size_t)part * MOST_VECTORS * V;
    size_t block = (size_t)block_vectors(s, (int)channel) * V;
    float *to = prepared + patch * channel;
    for (size_t i = 0; i < patch; i++, to += block)
        memcpy(to, weights + i * oc + channel, block * sizeof *to);
    memcpy(prepared + patch * oc + channel, bias + channel, block * sizeof *prepared);
}

/* ---- Sums in registers ---- */

/* Neighbouring pixels of a row, and what their sums are made of. */
typedef struct segment {
    const dlk_conv2d *c;
    const float *x; /* under the first pixel */
    const float *weights;
} segment;

/* Add what one row of the kernel contributes: `count` products a pixel, contiguous in x. */
DLK_INLINE void add_kernel_row(const int pixels, const int vectors, int count, const float *x,
                               ptrdiff_t pixel, const float *weights, vec *sum)
{
    vec w[MOST_VECTORS];
    DLK_UNROLL
    for (int i = 0; i < count; i++) {
        DLK_UNROLL
        for (int v = 0; v < vectors; v++)
            w[v] = load(weights + (i * vectors + v) * V);
        DLK_UNROLL
        for (int k = 0; k < pixels * vectors; k++)
            sum[k] += x[k / vectors * pixel + i] * w[k % vectors];
    }
}

/* A first layer, pooled (first.c has those that are not): its nine products are written out. */
static bool is_3x3x1(const dlk_conv2d *c)
{
    return c->kh == 3 && c->kw == 3 && c->c == 1 && c->stride_w == 1;
}

/* sum [pixels][vectors] */
DLK_INLINE void add_patches(const int pixels, const int vectors, const segment *g, vec *sum)
{
    const dlk_conv2d *c = g->c;
    int count = dlk_conv2d_patch_row(c);
    ptrdiff_t width = (ptrdiff_t)c->w * c->c, pixel = (ptrdiff_t)c->stride_w * c->c;
    DLK_UNROLL
    for (int i = 0; i < pixels * vectors; i++)
        sum[i] = (vec){0};
    if (is_3x3x1(c)) {
        DLK_UNROLL
        for (int ky = 0; ky < 3; ky++)
            add_kernel_row(pixels, vectors, 3, g->x + ky * width, 1,
                           g->weights + (ptrdiff_t)ky * 3 * vectors * V, sum);
        return;
    }
    for (int ky = 0; ky < c->kh; ky++)
        add_kernel_row(pixels, vectors, count, g->x + ky * width, pixel,
                       g->weights + (ptrdiff_t)ky * count * vectors * V, sum);
}

/* ---- Rows ---- */

/* Where a row's sums go: through the tails to y, or into scratch until the pool. */
typedef struct row {
    segment first;
    int pixels;
    size_t at;         /* of the row in y */
    const tail *tails; /* [MOST_VECTORS] */
    float *sums;       /* NULL: to y */
} row;

DLK_INLINE void finish_segment(const int pixels, const int vectors, const row *r, int first)
{
    vec sum[MOST_PIXELS * MOST_VECTORS];
    tail tails[MOST_VECTORS]; /* a copy, which no store to y can change */
    const dlk_conv2d *c = r->first.c;
    segment now = r->first;
    now.x += (ptrdiff_t)first * c->stride_w * c->c;
    add_patches(pixels, vectors, &now, sum);
    DLK_UNROLL
    for (int v = 0; v < MOST_VECTORS; v++)
        tails[v] = r->tails[v];
    DLK_UNROLL
    for (int i = 0; i < pixels * vectors; i++) {
        int pixel = first + i / vectors;
        if (r->sums)
            store(r->sums + (first * vectors + i) * V, sum[i]);
        else
            finish_pixel(&tails[i % vectors], r->at + (size_t)pixel * (size_t)c->oc, sum[i]);
    }
}

/* With `pixels` a constant, its sums are in registers. */
DLK_INLINE void finish_some(int pixels, const int vectors, const row *r, int first)
{
    switch (pixels) {
    case 1:
        finish_segment(1, vectors, r, first);
        break;
    case 2:
        finish_segment(2, vectors, r, first);
        break;
    case 3:
        finish_segment(3, vectors, r, first);
        break;
    case 4:
        finish_segment(4, vectors, r, first);
        break;
    case 5:
        finish_segment(5, vectors, r, first);
        break;
    case 6:
        finish_segment(6, vectors, r, first);
        break;
#if DLK_WIDTH == 16
    case 7:
        finish_segment(7, vectors, r, first);
        break;
    case 8:
        finish_segment(8, vectors, r, first);
        break;
    case 9:
        finish_segment(9, vectors, r, first);
        break;
    case 10:
        finish_segment(10, vectors, r, first);
        break;
    case 11:
        finish_segment(11, vectors, r, first);
        break;
    case 12:
        finish_segment(12, vectors, r, first);
        break;
#endif
    }
}

/* As few segments as registers allow, as even as they can be. */
DLK_INLINE void run_row(const int vectors, const row *r)
{
    int left = dlk_pieces((size_t)r->pixels, MOST_PIXELS);
    for (int first = 0; first < r->pixels; left--) {
        int pixels = (r->pixels - first + left - 1) / left;
        finish_some(pixels, vectors, r, first);
        first += pixels;
    }
}

static void run_row_of(int vectors, const row *r)
{
    if (vectors == 2)
        run_row(2, r);
    else
        run_row(1, r);
}

/* ---- Images ---- */

static void pool_rows(const dlk_stage *s, const tail *tails, int vectors, const float *sums,
                      size_t at)
{
    int block = vectors * V;
    const float *lower = sums + (ptrdiff_t)row_pixels(s) * block;
    for (int i = 0; i < dlk_stage_ow(s); i++, at += (size_t)s->conv.oc)
        for (int v = 0; v < vectors; v++) {
            int left = 2 * i * block + v * V, right = left + block;
            vec a = load(sums + left), b = load(sums + right);
            vec c = load(lower + left), d = load(lower + right);
            finish_window(&tails[v], at, a, b, c, d, poison(a, b, c, d));
        }
}

/* One row of y, of the block of channels that the tails are of. */
static void run_output_row(const dlk_stage *s, const dlk_stage_pass *pass, const tail *tails,
                           int vectors, const float *weights, int output)
{
    const dlk_conv2d *c = &s->conv;
    ptrdiff_t step = (ptrdiff_t)c->stride_h * c->w * c->c;
    row r = {.first = {c, pass->x + output * (s->pool ? 2 : 1) * step, weights},
             .pixels = row_pixels(s),
             .at = (size_t)output * (size_t)dlk_stage_ow(s) * (size_t)c->oc,
             .tails = tails,
             .sums = s->pool ? pass->scratch : NULL};
    run_row_of(vectors, &r);
    if (s->pool) {
        r.first.x += step;
        r.sums += (ptrdiff_t)r.pixels * vectors * V;
        run_row_of(vectors, &r);
        pool_rows(s, tails, vectors, pass->scratch, r.at);
    }
}

static void run(const dlk_stage *s, const dlk_stage_pass *pass)
{
    size_t patch = (size_t)dlk_conv2d_patch(&s->conv);
    const float *bias = pass->prepared + dlk_conv2d_weights(&s->conv);
    for (int channel = 0; channel < s->conv.oc;) {
        int vectors = block_vectors(s, channel);
        const float *weights = pass->prepared + patch * (size_t)channel;
        tail tails[MOST_VECTORS];
        for (int v = 0; v < MOST_VECTORS; v++)
            tails[v] = tail_of(s, pass, bias, channel + v % vectors * V);
        for (int output = 0; output < dlk_stage_oh(s); output++)
            run_output_row(s, pass, tails, vectors, weights, output);
        channel += vectors * V;
    }
}

const dlk_stage_forward DLK_SIMD(direct) = {
    .name = "direct",
    .misfit = misfit,
    .prepared_floats = prepared_floats,
    .parts = parts,
    .prepare = prepare,
    .scratch_floats = scratch_floats,
    .run = run,
};
