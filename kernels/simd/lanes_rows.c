/*
 * Forward of pooled convolutions of stride 1 whose kernel is five wide, by Winograd's algorithm
 * F(4, 5) along rows, V images at once (lanes.h): for one input channel, where the transforms of
 * both directions would take longer than what they save, and what lanes_squares.c does not fit.
 *
 * A row of four outputs belongs to two windows of the pool. The eight pixels under it are evaluated
 * at eight points, and so is each row of the kernel; there one product a point and row of the
 * kernel makes all four outputs: 80 multiplications stand for the 200 of two 5×5 windows. Rows of
 * pixels are transformed once for all rows of the kernel and channels, and kept in a ring while
 * rows of windows need them.
 *
 * Layouts: prepared [share][c][kh][oc][its 4 points], then bias [oc]; scratch: pixels
 * [row modulo kh + 1][c][pair of windows][8 points][V].
 * Error: at most 2e-6 of the sum of the absolute products, the largest of the window, for up to
 * 400 of them.
 */
#include <string.h>

#include "simd/lanes.h"
#include "simd/simd.h"

/* Both rows of a window at a share of their points are summed up at once for some channels. */
enum { ROWS = 2, MOST_CHANNELS = ACCUMULATORS / (ROWS * HALF) };

/* Rows of pixels under a row of windows. */
enum { MOST_PIXEL_ROWS = 8 };

/* ---- Shapes ---- */

static const char *misfit(const dlk_stage *s)
{
    if (s->conv.kh + 1 > MOST_PIXEL_ROWS)
        return "its kernel is more than seven high";
    return lanes_misfit(s);
}

static size_t share_floats(const dlk_stage *s)
{
    return (size_t)s->conv.c * (size_t)s->conv.kh * (size_t)s->conv.oc * HALF;
}

static size_t prepared_floats(const dlk_stage *s)
{
    return 2 * share_floats(s) + (size_t)s->conv.oc;
}

/* Floats of one channel in a row of the ring. */
static ptrdiff_t line_floats(const dlk_stage *s)
{
    return (ptrdiff_t)(dlk_stage_ow(s) / 2) * LINE * V;
}

static size_t scratch_floats(const dlk_stage *s)
{
    return (size_t)(s->conv.kh + 1) * (size_t)s->conv.c * (size_t)line_floats(s);
}

/* ---- Weights ---- */

static int parts(const dlk_stage *s)
{
    return s->conv.c;
}

/* A row of an input channel's weights for up to V output channels; elements are `tap` apart. */
static void prepare_row(const float *weights, size_t tap, int channels, float *to, size_t share)
{
    vec row[TAPS], at[LINE];
    for (size_t i = 0; i < TAPS; i++)
        row[i] = load_some(weights + i * tap, channels);
    taps_at_points(row, at, 1);
    for (int channel = 0; channel < channels; channel++)
        for (int i = 0; i < LINE; i++)
            to[(size_t)(i / HALF) * share + (size_t)(channel * HALF + i % HALF)] = at[i][channel];
}

/* A part is an input channel. */
static void prepare(const dlk_stage *s, int part, const float *weights, const float *bias,
                    float *prepared)
{
    size_t oc = (size_t)s->conv.oc, tap = (size_t)s->conv.c * oc;
    for (int ky = 0; ky < s->conv.kh; ky++) {
        const float *row = weights + (size_t)ky * TAPS * tap + (size_t)part * oc;
        float *to = prepared + (size_t)(part * s->conv.kh + ky) * oc * HALF;
        for (size_t first = 0; first < oc; first += V)
            prepare_row(row + first, tap, oc - first < V ? (int)(oc - first) : V, to + first * HALF,
                        share_floats(s));
    }
    if (part == 0)
        memcpy(prepared + 2 * share_floats(s), bias, oc * sizeof *bias);
}

/* ---- Rows of pixels ---- */

static float *ring_row(const dlk_stage *s, const dlk_stage_pass *pass, int row)
{
    return pass->scratch + row % (s->conv.kh + 1) * s->conv.c * line_floats(s);
}

static void transform_row(const dlk_stage *s, const dlk_stage_pass *pass, int row)
{
    float *to = ring_row(s, pass, row);
    for (int c = 0; c < s->conv.c; c++) {
        const float *x = pass->x + (ptrdiff_t)(c * s->conv.h + row) * s->conv.w * V;
        for (int i = 0; i < dlk_stage_ow(s) / 2; i++, x += HALF * V, to += LINE * V) {
            vec pixel[LINE], at[LINE];
            DLK_UNROLL
            for (int k = 0; k < LINE; k++)
                pixel[k] = load(x + k * V);
            line_at_points(pixel, at, 1);
            DLK_UNROLL
            for (int k = 0; k < LINE; k++)
                store(to + k * V, at[k]);
        }
    }
}

/* ---- Pairs of windows ---- */

typedef struct pair {
    const dlk_stage *stage;
    const dlk_stage_pass *pass;
    int row, column;                      /* of its first window */
    const float *pixels[MOST_PIXEL_ROWS]; /* under its row of windows, at the first pair */
} pair;

/* Add what pixels contribute to one row of the windows through one row of the kernel. */
DLK_INLINE void add_row(const int channels, const float *weights, const vec pixel[HALF], vec *sum)
{
    DLK_UNROLL
    for (int i = 0; i < channels * HALF; i++)
        sum[i / HALF * ROWS * HALF + i % HALF] += splat(weights[i]) * pixel[i % HALF];
}

/* sum [channel][ROWS][HALF] += the products at a share of the points, the first of which is `at`.
 */
DLK_INLINE void add_share(const int channels, const int kh, const pair *p, ptrdiff_t at,
                          const float *weights, vec *sum)
{
    const dlk_stage *s = p->stage;
    ptrdiff_t step = (ptrdiff_t)s->conv.oc * HALF;
    for (int c = 0; c < s->conv.c; c++, at += line_floats(s), weights += kh * step) {
        DLK_UNROLL
        for (int y = 0; y <= kh; y++) {
            vec pixel[HALF];
            DLK_UNROLL
            for (int i = 0; i < HALF; i++)
                pixel[i] = load(p->pixels[y] + at + i * V);
            if (y < kh)
                add_row(channels, weights + y * step, pixel, sum);
            if (y > 0)
                add_row(channels, weights + (y - 1) * step, pixel, sum + HALF);
        }
    }
}

/* out [ROWS][HALF] of a channel. */
DLK_INLINE void pool_pair(const pair *p, int channel, const vec *out)
{
    const dlk_stage *s = p->stage;
    ptrdiff_t at = (channel * dlk_stage_oh(s) + p->row) * dlk_stage_ow(s) + p->column;
    pool_two(s, out, out + HALF, p->pass->y + at * V);
}

DLK_INLINE void compute_channels(const int channels, const int kh, const pair *p, int first)
{
    ptrdiff_t share = (ptrdiff_t)share_floats(p->stage), at = (ptrdiff_t)p->column / 2 * LINE * V;
    const float *weights = p->pass->prepared + (ptrdiff_t)first * HALF;
    const float *bias = p->pass->prepared + 2 * share + first;
    vec sum[MOST_CHANNELS * ROWS * HALF], out[MOST_CHANNELS * ROWS * HALF];
    DLK_UNROLL
    for (int i = 0; i < channels * ROWS * HALF; i++)
        sum[i] = i % HALF == BIAS_POINT ? splat(bias[i / (ROWS * HALF)]) : (vec){0};
    add_share(channels, kh, p, at, weights, sum);
    DLK_UNROLL
    for (int i = 0; i < channels * ROWS; i++)
        outputs_from_first(sum + i * HALF, out + i * HALF, 1);
    DLK_UNROLL
    for (int i = 0; i < channels * ROWS * HALF; i++)
        sum[i] = (vec){0};
    add_share(channels, kh, p, at + HALF * V, weights + share, sum);
    DLK_UNROLL
    for (int i = 0; i < channels * ROWS; i++)
        outputs_from_second(sum + i * HALF, out + i * HALF, 1);
    DLK_UNROLL
    for (int i = 0; i < channels; i++)
        pool_pair(p, first + i, out + i * ROWS * HALF);
}

DLK_INLINE void with_channels(const int channels, const pair *p, int first)
{
    if (p->stage->conv.kh == 5)
        compute_channels(channels, 5, p, first);
    else
        compute_channels(channels, p->stage->conv.kh, p, first);
}

/* Call compute_channels with a number that it knows when it is compiled. */
static void compute_block(int channels, const pair *p, int first)
{
#define COMPUTE(constant) with_channels(constant, p, first)
    DLK_WITH_CONSTANT(channels, MOST_CHANNELS, COMPUTE);
#undef COMPUTE
}

static void compute_pair(const pair *p)
{
    int oc = p->stage->conv.oc;
    for (int done = 0, channels; done < oc; done += channels) {
        channels = next_block(oc - done, MOST_CHANNELS);
        compute_block(channels, p, done);
    }
}

static void run(const dlk_stage *s, const dlk_stage_pass *pass)
{
    for (int row = 0, ready = 0; row < dlk_stage_oh(s); row++) {
        for (; ready <= 2 * row + s->conv.kh; ready++)
            transform_row(s, pass, ready);
        pair p = {s, pass, .row = row};
        for (int y = 0; y <= s->conv.kh; y++)
            p.pixels[y] = ring_row(s, pass, 2 * row + y);
        for (; p.column < dlk_stage_ow(s); p.column += 2)
            compute_pair(&p);
    }
}

const dlk_stage_forward DLK_SIMD(lanes_rows) = {
    .name = "lanes 1x5",
    .misfit = misfit,
    .prepared_floats = prepared_floats,
    .parts = parts,
    .prepare = prepare,
    .scratch_floats = scratch_floats,
    .run = run,
};
