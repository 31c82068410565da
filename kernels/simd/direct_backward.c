/*
 * Backward of stages without a pool whose dx is not wanted: the first layer's.
 *
 * A tap is an element of the patch under an output; the gradient of its weights is the sum over
 * all pixels of the input there times the outputs' gradients. A vector is V output channels. Some
 * taps times one or two vectors are summed up in registers over a band of rows, whose gradients
 * behind the ReLU are in scratch.
 *
 * Layouts: gradient [group of vectors][tap, whole blocks][group], then dbias [oc];
 * scratch [pixels of a band][group].
 * Error: at most 2e-6 of the sum of the absolute products, for up to 1000 pixels.
 */
#include <string.h>

#include "loops.h"
#include "shapes.h"
#include "simd/groups.h"
#include "simd/simd.h"
#include "simd/vec.h"

/* A block of registers: taps times vectors of output channels. A 3×3 kernel has nine taps. */
enum { TAPS = 9, MOST_VECTORS = ACCUMULATORS / TAPS };

/* Floats of a band's gradients, which are to stay in the first cache. */
enum { BAND_FLOATS = 4096 };

/* ---- Shapes ---- */

static int group_vectors(const dlk_stage *s, int channel)
{
    int left = (s->conv.oc - channel) / V;
    return left < MOST_VECTORS ? left : MOST_VECTORS;
}

/* Taps in whole blocks of registers. */
static size_t padded_taps(const dlk_stage *s)
{
    return (size_t)dlk_pieces((size_t)dlk_conv2d_patch(&s->conv), TAPS) * TAPS;
}

static size_t weights_floats(const dlk_stage *s)
{
    return padded_taps(s) * (size_t)s->conv.oc;
}

static int band_rows(const dlk_stage *s)
{
    int rows = BAND_FLOATS / (dlk_conv2d_ow(&s->conv) * MOST_VECTORS * V);
    return rows > 1 ? rows : 1;
}

static const char *misfit(const dlk_stage *s, bool data)
{
    if (data)
        return "the gradient of its input is wanted";
    if (s->pool)
        return "it has a pool";
    if (s->conv.pad_h != 0 || s->conv.pad_w != 0)
        return "its input is padded";
    if (s->conv.oc % V != 0)
        return "its output channels are not whole vectors";
    return NULL;
}

static size_t prepared_floats(const dlk_stage *s, bool data)
{
    (void)s;
    (void)data;
    return 0;
}

/* No weights are needed where no dx is wanted. */
static int parts(const dlk_stage *s, bool data)
{
    (void)s;
    (void)data;
    return 0;
}

static size_t scratch_floats(const dlk_stage *s, bool data)
{
    (void)data;
    return (size_t)band_rows(s) * (size_t)dlk_conv2d_ow(&s->conv) * MOST_VECTORS * V;
}

static size_t gradient_floats(const dlk_stage *s)
{
    return weights_floats(s) + (size_t)s->conv.oc;
}

/* ---- Bands ---- */

/* Some rows of the convolution's output, of a group of channels. */
typedef struct band {
    const dlk_stage *s;
    int rows;
    const float *x;      /* under its first pixel */
    const float *y, *dy; /* of its first pixel, at the first channel */
    float *through;      /* [rows][ow][vectors]: the gradient behind ReLU and dropout */
    float *dweights;     /* [tap][vectors] */
    float *dbias;
} band;

/* Fill `through` and add it up to dbias. */
DLK_INLINE void pass_relu(const int vectors, const band *b, float scale)
{
    int pixels = b->rows * dlk_conv2d_ow(&b->s->conv), oc = b->s->conv.oc;
    const bool with_relu = b->s->relu;
    vec sum[MOST_VECTORS] = {0};
    for (int i = 0; i < pixels; i++) {
        DLK_UNROLL
        for (int v = 0; v < vectors; v++) {
            ptrdiff_t at = (ptrdiff_t)i * oc + v * V;
            vec gradient = load(b->dy + at) * scale;
            if (with_relu)
                gradient = choose(load(b->y + at) > 0.0F, gradient, (vec){0});
            store(b->through + (i * vectors + v) * V, gradient);
            sum[v] += gradient;
        }
    }
    for (int v = 0; v < vectors; v++)
        store(b->dbias + v * V, load(b->dbias + v * V) + sum[v]);
}

/* Where taps lie in x, from the input under the first tap. Behind the last one: there. */
static void offsets_of(const dlk_conv2d *c, int first, ptrdiff_t offset[TAPS])
{
    int row = dlk_conv2d_patch_row(c), taps = dlk_conv2d_patch(c);
    for (int i = 0; i < TAPS; i++) {
        int tap = first + i < taps ? first + i : 0;
        offset[i] = (ptrdiff_t)(tap / row) * c->w * c->c + tap % row;
    }
}

/* Add a band to the gradient of TAPS taps, beginning with `first`. */
DLK_INLINE void add_taps(const int vectors, const band *b, int first)
{
    const dlk_conv2d *c = &b->s->conv;
    ptrdiff_t offset[TAPS], pixel = (ptrdiff_t)c->stride_w * c->c;
    ptrdiff_t step = (ptrdiff_t)c->stride_h * c->w * c->c;
    float *dweights = b->dweights + (ptrdiff_t)first * vectors * V;
    const float *gradient = b->through;
    vec sum[TAPS * MOST_VECTORS], g[MOST_VECTORS];
    int ow = dlk_conv2d_ow(c);
    offsets_of(c, first, offset);
    DLK_UNROLL
    for (int i = 0; i < TAPS * vectors; i++)
        sum[i] = load(dweights + i * V);
    for (int r = 0; r < b->rows; r++) {
        const float *x = b->x + r * step;
        for (int p = 0; p < ow; p++, x += pixel, gradient += vectors * V) {
            DLK_UNROLL
            for (int v = 0; v < vectors; v++)
                g[v] = load(gradient + v * V);
            DLK_UNROLL
            for (int i = 0; i < TAPS * vectors; i++)
                sum[i] += x[offset[i / vectors]] * g[i % vectors];
        }
    }
    DLK_UNROLL
    for (int i = 0; i < TAPS * vectors; i++)
        store(dweights + i * V, sum[i]);
}

DLK_INLINE void add_band(const int vectors, const band *b, float scale)
{
    int taps = dlk_conv2d_patch(&b->s->conv);
    pass_relu(vectors, b, scale);
    for (int first = 0; first < taps; first += TAPS)
        add_taps(vectors, b, first);
}

/* ---- Images ---- */

static void run_band(const dlk_stage *s, const dlk_stage_return *back, int channel, int row)
{
    const dlk_conv2d *c = &s->conv;
    int left = dlk_conv2d_oh(c) - row, most = band_rows(s);
    size_t at = (size_t)row * (size_t)dlk_conv2d_ow(c) * (size_t)c->oc + (size_t)channel;
    band b = {.s = s,
              .rows = left < most ? left : most,
              .x = back->x + (ptrdiff_t)row * c->stride_h * c->w * c->c,
              .y = back->y + at,
              .dy = back->dy + at,
              .through = back->scratch,
              .dweights = back->gradient + padded_taps(s) * (size_t)channel,
              .dbias = back->gradient + weights_floats(s) + channel};
    if (group_vectors(s, channel) == MOST_VECTORS)
        add_band(MOST_VECTORS, &b, back->scale);
    else
        add_band(1, &b, back->scale);
}

static void run(const dlk_stage *s, const dlk_stage_return *back)
{
    for (int channel = 0; channel < s->conv.oc; channel += group_vectors(s, channel) * V)
        for (int row = 0; row < dlk_conv2d_oh(&s->conv); row += band_rows(s))
            run_band(s, back, channel, row);
}

static int finish_parts(const dlk_stage *s)
{
    return dlk_pieces((size_t)s->conv.oc, MOST_VECTORS * V);
}

/* A part is a group of vectors. */
static void finish(const dlk_stage *s, int part, const dlk_gradients *groups, float *dweights,
                   float *dbias)
{
    size_t oc = (size_t)s->conv.oc, taps = (size_t)dlk_conv2d_patch(&s->conv);
    size_t channel = (size_t)part * MOST_VECTORS * V;
    size_t group = (size_t)group_vectors(s, (int)channel) * V, at = padded_taps(s) * channel;
    for (size_t i = 0; i < taps; i++)
        take_sums(groups, at + i * group, group, dweights + i * oc + channel);
    clear_groups(groups, at + taps * group, (padded_taps(s) - taps) * group);
    take_sums(groups, weights_floats(s) + channel, group, dbias + channel);
}

const dlk_stage_backward DLK_SIMD(direct_backward) = {
    .name = "direct",
    .misfit = misfit,
    .prepared_floats = prepared_floats,
    .parts = parts,
    .scratch_floats = scratch_floats,
    .run = run,
    .gradient_floats = gradient_floats,
    .finish_parts = finish_parts,
    .finish = finish,
};
