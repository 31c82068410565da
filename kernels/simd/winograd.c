/*
 * Forward of 3×3 convolutions of stride 1 by Winograd's algorithm F(4×4, 3×3).
 *
 * A tile of 4×4 outputs comes from a patch of 6×6 inputs. Patch and weights are evaluated at 6×6
 * points; there the convolution is one product a point, summed over the input channels, and 36
 * multiplications stand for 144. A tile is four windows of a 2×2 pool, so that the whole tail of
 * the stage happens while its outputs are in registers.
 *
 * A strip of tiles is transformed at a time, so that it stays in cache: for each point, strip by
 * input channels times input channels by output channels.
 *
 * Layouts: prepared [block of output channels][point][c][block], then bias [oc];
 * scratch: inputs [point][vector of c][tile][V], products [point][tile][block], a patch at the
 * image's edge [6][6][c].
 * Error: at most 3e-6 of the sum of the absolute products, the largest of the tile. Outputs of a
 * window that differ by less, or not at all, may come in any order.
 */
#include <string.h>

#include "loops.h"
#include "simd/simd.h"
#include "simd/tail.h"
#include "simd/winograd.h"

enum { TILE = 4, KERNEL = 3 };

/* A block of registers: tiles of a strip times vectors of output channels. */
enum { STRIP = 6, MOST_VECTORS = ACCUMULATORS / STRIP };

/* With fewer channels the transforms take longer than what they save. */
enum { LEAST_CHANNELS = 4 };

/* A line of outputs from their values at the points, `step` apart. */
DLK_INLINE void output_from_points(const vec *at, vec *y, int step)
{
    vec near_sum = at[1] + at[2], near_difference = at[1] - at[2];
    vec far_sum = at[3] + at[4], far_difference = at[3] - at[4];
    y[0] = at[0] + FAR * near_sum + NEAR * far_sum;
    y[step] = near_difference + far_difference;
    y[2 * step] = NEAR * near_sum + FAR * far_sum;
    y[3 * step] = at[5] + 0.5F * near_difference + 2.0F * far_difference;
}

/* ---- Shapes ---- */

/* Tiles that cover a side of `outputs` outputs of the stage. */
static int tiles_over(const dlk_stage *s, int outputs)
{
    int tile = s->pool ? TILE / 2 : TILE;
    return (outputs + tile - 1) / tile;
}

/* Vectors of output channels of the block that begins with `channel`. */
static int block_vectors(const dlk_stage *s, int channel)
{
    int left = (s->conv.oc - channel) / V;
    return left >= MOST_VECTORS ? MOST_VECTORS : left >= 2 ? 2 : 1;
}

/* The first channel of the block that holds `channel`. */
static int block_first(const dlk_stage *s, int channel)
{
    int first = 0, next;
    while ((next = first + block_vectors(s, first) * V) <= channel)
        first = next;
    return first;
}

static size_t weights_floats(const dlk_stage *s)
{
    return (size_t)POINTS * (size_t)s->conv.c * (size_t)s->conv.oc;
}

/* Floats of one point of a strip's transformed input. */
static size_t input_floats(const dlk_stage *s)
{
    return (size_t)STRIP * (size_t)vectors_of(s->conv.c) * V;
}

enum { PRODUCT_FLOATS = STRIP * MOST_VECTORS * V }; /* the most of one point */

static const char *misfit(const dlk_stage *s)
{
    const dlk_conv2d *c = &s->conv;
    if (c->kh != 3 || c->kw != 3)
        return "its kernel is not 3x3";
    if (c->stride_h != 1 || c->stride_w != 1)
        return "its stride is not 1";
    if (c->oc % V != 0)
        return "its output channels are not whole vectors";
    if (c->c < LEAST_CHANNELS)
        return "it has fewer than 4 input channels";
    return NULL;
}

static size_t prepared_floats(const dlk_stage *s)
{
    return weights_floats(s) + (size_t)s->conv.oc;
}

static size_t scratch_floats(const dlk_stage *s)
{
    size_t patch = (size_t)s->conv.c * PATCH * PATCH + V;
    return POINTS * (input_floats(s) + PRODUCT_FLOATS) + patch;
}

/* ---- Weights ---- */

static int parts(const dlk_stage *s)
{
    return s->conv.oc / V;
}

/* A part is a vector of output channels. */
static void prepare(const dlk_stage *s, int part, const float *weights, const float *bias,
                    float *prepared)
{
    const dlk_conv2d *c = &s->conv;
    int channel = part * V, first = block_first(s, channel);
    size_t block = (size_t)block_vectors(s, first) * V, channels = (size_t)c->c;
    float *to = prepared + POINTS * channels * (size_t)first + (channel - first);
    for (size_t ic = 0; ic < channels; ic++)
        kernel_at_points(KERNEL, weights + ic * (size_t)c->oc + channel, channels * (size_t)c->oc,
                         to + ic * block, channels * block);
    memcpy(prepared + weights_floats(s) + channel, bias + channel, V * sizeof *bias);
}

/* ---- Strips ---- */

/* Of a tile, counted in tiles. */
typedef struct place {
    int row, column;
} place;

typedef struct strip {
    int count;
    place tile[STRIP];
    int oh, ow; /* y's */
    size_t oc;
} strip;

/* The tiles from number `first` on, of an image that is `columns` tiles wide. */
static strip strip_of(const dlk_stage *s, int first, int end, int columns)
{
    int left = end - first;
    strip tiles = {.count = left < STRIP ? left : STRIP,
                   .oh = dlk_stage_oh(s),
                   .ow = dlk_stage_ow(s),
                   .oc = (size_t)s->conv.oc};
    for (int i = 0; i < tiles.count; i++)
        tiles.tile[i] = (place){(first + i) / columns, (first + i) % columns};
    return tiles;
}

/* ---- Input ---- */

/* A patch whose upper left corner is (row, column), with zeros for what is outside the image. */
static void copy_patch(const dlk_conv2d *c, const float *x, int row, int column, float *patch)
{
    size_t channels = (size_t)c->c;
    int first = column < 0 ? -column : 0;
    int end = c->w - column < PATCH ? c->w - column : PATCH;
    memset(patch, 0, PATCH * PATCH * channels * sizeof *patch);
    for (int i = 0; i < PATCH; i++)
        if (row + i >= 0 && row + i < c->h && first < end)
            memcpy(patch + (size_t)(i * PATCH + first) * channels,
                   x + ((size_t)(row + i) * (size_t)c->w + (size_t)(column + first)) * channels,
                   (size_t)(end - first) * channels * sizeof *patch);
}

static void transform_input(const dlk_stage *s, const float *x, int row, int column, float *patch,
                            float *to)
{
    const dlk_conv2d *c = &s->conv;
    ptrdiff_t pixel = c->c, width = (ptrdiff_t)c->w * pixel;
    const float *from = x + row * width + column * pixel;
    if (row < 0 || column < 0 || row + PATCH > c->h || column + PATCH > c->w) {
        copy_patch(c, x, row, column, patch);
        from = patch;
        width = PATCH * pixel;
    }
    for (int ic = 0; ic < c->c; ic += V, to += STRIP * V, from += V)
        patch_at_points(from, from + width, 2 * width, pixel, to, PATCH * input_floats(s),
                        input_floats(s));
}

static void transform_strip(const dlk_stage *s, const dlk_stage_pass *pass, const strip *tiles)
{
    float *input = pass->scratch, *patch = input + POINTS * (input_floats(s) + PRODUCT_FLOATS);
    for (int i = 0; i < tiles->count; i++)
        transform_input(s, pass->x, TILE * tiles->tile[i].row - s->conv.pad_h,
                        TILE * tiles->tile[i].column - s->conv.pad_w, patch, input + i * V);
}

/* ---- Products ---- */

/* sum [STRIP][vectors] += input [STRIP][V] · weights [channels][vectors], channels <= V */
DLK_INLINE void add_products(const int vectors, int channels, const float *input,
                             const float *weights, vec *sum)
{
    vec w[MOST_VECTORS];
    for (int ic = 0; ic < channels; ic++) {
        DLK_UNROLL
        for (int v = 0; v < vectors; v++)
            w[v] = load(weights + (ic * vectors + v) * V);
        DLK_UNROLL
        for (int i = 0; i < STRIP * vectors; i++)
            sum[i] += input[i / vectors * V + ic] * w[i % vectors];
    }
}

/* products [STRIP][vectors], of one point */
DLK_INLINE void multiply(const int vectors, int channels, const float *input, const float *weights,
                         float *products)
{
    vec sum[STRIP * MOST_VECTORS];
    DLK_UNROLL
    for (int i = 0; i < STRIP * vectors; i++)
        sum[i] = (vec){0};
    for (; channels > 0; channels -= V, input += STRIP * V, weights += V * vectors * V)
        add_products(vectors, channels < V ? channels : V, input, weights, sum);
    DLK_UNROLL
    for (int i = 0; i < STRIP * vectors; i++)
        store(products + i * V, sum[i]);
}

DLK_INLINE void multiply_points(const int vectors, const dlk_stage *s, const float *input,
                                const float *weights, float *products)
{
    int channels = s->conv.c;
    size_t input_step = input_floats(s), weights_step = (size_t)channels * (size_t)vectors * V;
    for (size_t point = 0; point < POINTS; point++)
        multiply(vectors, channels, input + point * input_step, weights + point * weights_step,
                 products + point * (size_t)(STRIP * vectors * V));
}

static void multiply_block(int vectors, const dlk_stage *s, const float *input,
                           const float *weights, float *products)
{
    if (vectors == MOST_VECTORS)
        multiply_points(MOST_VECTORS, s, input, weights, products);
    else if (vectors == 2)
        multiply_points(2, s, input, weights, products);
    else
        multiply_points(1, s, input, weights, products);
}

/* ---- Output ---- */

/* What is not finite anywhere in the tile is not finite at one of its corners. */
DLK_INLINE void finish_windows(const strip *tiles, const tail *t, place tile, const vec *y)
{
    vec poisoned = poison(y[0], y[3], y[12], y[15]);
    DLK_UNROLL
    for (int i = 0; i < 4; i++) {
        int row = 2 * tile.row + i / 2, column = 2 * tile.column + i % 2;
        const vec *window = y + 2 * (TILE * (i / 2) + i % 2);
        if (row < tiles->oh && column < tiles->ow)
            finish_window(t, (size_t)(row * tiles->ow + column) * tiles->oc, window[0], window[1],
                          window[TILE], window[TILE + 1], poisoned);
    }
}

DLK_INLINE void finish_pixels(const strip *tiles, const tail *t, place tile, const vec *y)
{
    DLK_UNROLL
    for (int i = 0; i < TILE * TILE; i++) {
        int row = TILE * tile.row + i / TILE, column = TILE * tile.column + i % TILE;
        if (row < tiles->oh && column < tiles->ow)
            finish(t, (size_t)(row * tiles->ow + column) * tiles->oc, y[i]);
    }
}

/* y [TILE][TILE] from products that are `step` floats apart */
DLK_INLINE void transform_output(const float *products, size_t step, vec *y)
{
    vec at[PATCH], half[TILE * PATCH];
    DLK_UNROLL
    for (size_t j = 0; j < PATCH; j++) {
        DLK_UNROLL
        for (size_t i = 0; i < PATCH; i++)
            at[i] = load(products + (PATCH * i + j) * step);
        output_from_points(at, half + j, PATCH);
    }
    DLK_UNROLL
    for (size_t i = 0; i < TILE; i++)
        output_from_points(half + PATCH * i, y + TILE * i, 1);
}

/* V output channels of a strip; their products lie `tile` and `point` floats apart. */
DLK_INLINE void finish_vector(const bool pool, const strip *tiles, const tail *t,
                              const float *products, size_t tile, size_t point)
{
    for (int i = 0; i < tiles->count; i++, products += tile) {
        vec y[TILE * TILE];
        transform_output(products, point, y);
        if (pool)
            finish_windows(tiles, t, tiles->tile[i], y);
        else
            finish_pixels(tiles, t, tiles->tile[i], y);
    }
}

static void finish_strip(const dlk_stage *s, const dlk_stage_pass *pass, const strip *tiles,
                         int channel, int vectors, const float *products)
{
    const float *bias = pass->prepared + weights_floats(s);
    size_t block = (size_t)vectors * V;
    for (int v = 0; v < vectors; v++, products += V) {
        tail t = tail_of(s, pass, bias, channel + v * V);
        if (s->pool)
            finish_vector(true, tiles, &t, products, block, STRIP * block);
        else
            finish_vector(false, tiles, &t, products, block, STRIP * block);
    }
}

/* ---- Images ---- */

static void run_strip(const dlk_stage *s, const dlk_stage_pass *pass, const strip *tiles)
{
    float *input = pass->scratch, *products = input + POINTS * input_floats(s);
    transform_strip(s, pass, tiles);
    for (int channel = 0; channel < s->conv.oc;) {
        int vectors = block_vectors(s, channel);
        const float *weights = pass->prepared + POINTS * (size_t)s->conv.c * (size_t)channel;
        multiply_block(vectors, s, input, weights, products);
        finish_strip(s, pass, tiles, channel, vectors, products);
        channel += vectors * V;
    }
}

static void run(const dlk_stage *s, const dlk_stage_pass *pass)
{
    int columns = tiles_over(s, dlk_stage_ow(s));
    int tiles = tiles_over(s, dlk_stage_oh(s)) * columns;
    for (int first = 0; first < tiles; first += STRIP) {
        strip now = strip_of(s, first, tiles, columns);
        run_strip(s, pass, &now);
    }
}

const dlk_stage_forward DLK_SIMD(winograd) = {
    .name = "winograd",
    .misfit = misfit,
    .prepared_floats = prepared_floats,
    .parts = parts,
    .prepare = prepare,
    .scratch_floats = scratch_floats,
    .run = run,
};
