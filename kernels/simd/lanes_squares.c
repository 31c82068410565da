/*
 * Forward of pooled 5×5 convolutions of stride 1 by Winograd's algorithm F(4×4, 5×5), V images at
 * once (lanes.h).
 *
 * A tile of 4×4 outputs is four windows of the pool. The 8×8 pixels under it and the weights are
 * evaluated at 8×8 points; there the convolution is one product a point, summed over the input
 * channels, and 64 multiplications stand for 400.
 *
 * Layouts: prepared [row of points][share][c][oc][its 4 points], then bias [oc]; scratch: pixels
 * [row of points][c][its 8 points][V].
 * Error: at most 1e-5 of the sum of the absolute products, the largest of the window, for up to
 * 1600 of them.
 */
#include <string.h>

#include "simd/lanes.h"
#include "simd/simd.h"
#include "simd/squares.h"

enum { POINTS = LINE * LINE };

/* Products at a share of a row of points are summed up at once for some channels. */
enum { MOST_CHANNELS = ACCUMULATORS / HALF };

/* With fewer input channels the transforms take longer than what they save. */
enum { LEAST_CHANNELS = 2 };

/* ---- Shapes ---- */

static const char *misfit(const dlk_stage *s)
{
    const char *why = lanes_misfit(s);
    if (why)
        return why;
    if (s->conv.kh != TAPS)
        return "its kernel is not five high";
    if (s->conv.c < LEAST_CHANNELS)
        return "it has one input channel";
    return dlk_stage_oh(s) % 2 != 0 ? "its windows do not come in squares" : NULL;
}

/* Of an input and an output channel. */
static size_t pairs_of(const dlk_stage *s)
{
    return (size_t)s->conv.c * (size_t)s->conv.oc;
}

static size_t share_floats(const dlk_stage *s)
{
    return pairs_of(s) * HALF;
}

static size_t prepared_floats(const dlk_stage *s)
{
    return 2 * LINE * share_floats(s) + (size_t)s->conv.oc;
}

static size_t scratch_floats(const dlk_stage *s)
{
    return (size_t)POINTS * (size_t)s->conv.c * V;
}

/* ---- Weights ---- */

/* A part is a vector of pairs. */
static int parts(const dlk_stage *s)
{
    return (int)((pairs_of(s) + V - 1) / V);
}

/* The weights of up to V pairs; taps are `tap` floats apart. */
static void kernel_at_points(const float *weights, size_t tap, int pairs, vec at[POINTS])
{
    vec w[TAPS], half[LINE * TAPS];
    for (int j = 0; j < TAPS; j++) {
        for (int i = 0; i < TAPS; i++)
            w[i] = load_some(weights + (size_t)(TAPS * i + j) * tap, pairs);
        taps_at_points(w, half + j, TAPS);
    }
    for (int i = 0; i < LINE; i++)
        taps_at_points(half + TAPS * i, at + LINE * i, 1);
}

/* The four points of a share beside each other, pair by pair. */
static void store_share(const vec at[HALF], int pairs, float *to)
{
    vec fours[HALF] = {at[0], at[1], at[2], at[3]};
    transpose_in_lanes(fours);
    for (int i = 0; i < pairs; i++, to += HALF)
        memcpy(to, (const float *)&fours[i % 4] + i / 4 * 4, HALF * sizeof *to);
}

static void prepare(const dlk_stage *s, int part, const float *weights, const float *bias,
                    float *prepared)
{
    size_t all = pairs_of(s), first = (size_t)part * V, share = share_floats(s);
    int pairs = all - first < V ? (int)(all - first) : V;
    vec at[POINTS];
    kernel_at_points(weights + first, all, pairs, at);
    for (size_t i = 0; i < POINTS; i += HALF)
        store_share(at + i, pairs, prepared + i / HALF * share + first * HALF);
    if (part == 0)
        memcpy(prepared + 2 * LINE * share, bias, (size_t)s->conv.oc * sizeof *bias);
}

/* ---- Tiles ---- */

typedef struct tile {
    const dlk_stage *stage;
    const dlk_stage_pass *pass;
    int row, column;      /* of its first window */
    int columns, windows; /* in all */
} tile;

static void plane_at_points(const float *x, ptrdiff_t row, float *to, ptrdiff_t to_row)
{
    vec line[LINE], half[POINTS];
    for (int i = 0; i < LINE; i++) {
        DLK_UNROLL
        for (int j = 0; j < LINE; j++)
            line[j] = load(x + i * row + j * V);
        line_at_points(line, half + i, LINE);
    }
    for (int j = 0; j < LINE; j++) {
        vec at[LINE];
        line_at_points(half + j * LINE, at, 1);
        DLK_UNROLL
        for (int i = 0; i < LINE; i++)
            store(to + i * to_row + j * V, at[i]);
    }
}

static void transform_pixels(const tile *t)
{
    const dlk_conv2d *conv = &t->stage->conv;
    ptrdiff_t row = (ptrdiff_t)conv->w * V, plane = conv->h * row;
    const float *x = t->pass->x + 2 * t->row * row + (ptrdiff_t)2 * t->column * V;
    for (int c = 0; c < conv->c; c++)
        plane_at_points(x + c * plane, row, t->pass->scratch + (ptrdiff_t)c * LINE * V,
                        (ptrdiff_t)conv->c * LINE * V);
}

/* sum [channel][HALF]: the products at a share of a row of points, summed over the channels. */
DLK_INLINE void multiply_share(const int channels, const dlk_conv2d *conv, const float *pixels,
                               const float *weights, vec *sum)
{
    DLK_UNROLL
    for (int i = 0; i < channels * HALF; i++)
        sum[i] = (vec){0};
    for (int c = 0; c < conv->c; c++, pixels += LINE * V, weights += (ptrdiff_t)conv->oc * HALF) {
        DLK_UNROLL
        for (int i = 0; i < channels * HALF; i++)
            sum[i] += splat(weights[i]) * load(pixels + i % HALF * V);
    }
}

/* half [channel][column of the tile][row of points] */
DLK_INLINE void multiply_row(const int channels, const dlk_conv2d *conv, const float *pixels,
                             const float *weights, ptrdiff_t share, vec *half)
{
    vec sum[MOST_CHANNELS * HALF];
    multiply_share(channels, conv, pixels, weights, sum);
    DLK_UNROLL
    for (int i = 0; i < channels; i++)
        outputs_from_first(sum + i * HALF, half + i * HALF * LINE, LINE);
    multiply_share(channels, conv, pixels + HALF * V, weights + share, sum);
    DLK_UNROLL
    for (int i = 0; i < channels; i++)
        outputs_from_second(sum + i * HALF, half + i * HALF * LINE, LINE);
}

/* The four windows of a channel. */
DLK_INLINE void pool_tile(const tile *t, int channel, const vec *half)
{
    vec out[HALF * HALF];
    DLK_UNROLL
    for (int j = 0; j < HALF; j++) {
        outputs_from_first(half + j * LINE, out + j, HALF);
        outputs_from_second(half + j * LINE + HALF, out + j, HALF);
    }
    tail after = lanes_tail(t->stage, t->pass, channel, t->windows);
    size_t at = (size_t)(t->row * t->columns + t->column) * V;
    pool_two(&after, at, out, out + HALF);
    pool_two(&after, at + (size_t)t->columns * V, out + 2 * HALF, out + 3 * HALF);
}

DLK_INLINE void compute_channels(const int channels, const tile *t, int first)
{
    const dlk_conv2d *conv = &t->stage->conv;
    ptrdiff_t share = (ptrdiff_t)share_floats(t->stage);
    const float *pixels = t->pass->scratch, *weights = t->pass->prepared + (ptrdiff_t)first * HALF;
    const float *bias = t->pass->prepared + 2 * LINE * share + first;
    vec half[MOST_CHANNELS * HALF * LINE];
    for (int row = 0; row < LINE; row++) {
        multiply_row(channels, conv, pixels, weights, share, half + row);
        if (row == BIAS_POINT)
            for (int i = 0; i < channels * HALF; i++)
                half[i * LINE + row] += splat(bias[i / HALF]);
        pixels += (ptrdiff_t)conv->c * LINE * V;
        weights += 2 * share;
    }
    for (int i = 0; i < channels; i++)
        pool_tile(t, first + i, half + i * HALF * LINE);
}

/* Call compute_channels with a number that it knows when it is compiled. */
static void compute_block(int channels, const tile *t, int first)
{
#define COMPUTE(constant) compute_channels(constant, t, first)
    DLK_WITH_CONSTANT(channels, MOST_CHANNELS, COMPUTE);
#undef COMPUTE
}

static void compute_tile(const tile *t)
{
    int oc = t->stage->conv.oc;
    transform_pixels(t);
    for (int done = 0, channels; done < oc; done += channels) {
        channels = next_block(oc - done, MOST_CHANNELS);
        compute_block(channels, t, done);
    }
}

static void run(const dlk_stage *s, const dlk_stage_pass *pass)
{
    int oh = dlk_stage_oh(s), ow = dlk_stage_ow(s);
    for (int row = 0; row < oh; row += 2)
        for (int column = 0; column < ow; column += 2)
            compute_tile(&(tile){s, pass, row, column, ow, oh * ow});
}

const dlk_stage_forward DLK_SIMD(lanes_squares) = {
    .name = "lanes 5x5",
    .misfit = misfit,
    .prepared_floats = prepared_floats,
    .parts = parts,
    .prepare = prepare,
    .scratch_floats = scratch_floats,
    .run = run,
};
