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
 * A block is two windows wide and two high. At each of its points it is a product of four rows of
 * pixels and some channels' weights, which are read once for all of them.
 *
 * Layouts: prepared [point][c][kh][oc], then bias [oc]; scratch: pixels
 * [row modulo kh + 3][c][pair of windows][8 points][V].
 * Error: at most 2e-6 of the sum of the absolute products, the largest of the window, for up to
 * 400 of them.
 */
#include <string.h>

#include "simd/lanes.h"
#include "simd/simd.h"

/* Rows of outputs of a block, and channels that are summed up at once: as many rows of pixels, and
 * the channels' weights, are in registers, too. */
enum { ROWS = 4, MOST_CHANNELS = ACCUMULATORS / ROWS - 1 };

/* Rows of pixels under a block. */
enum { MOST_PIXEL_ROWS = ROWS + 6 };

/* ---- Shapes ---- */

static int pixel_rows(const dlk_stage *s)
{
    return s->conv.kh + ROWS - 1;
}

static const char *misfit(const dlk_stage *s)
{
    if (pixel_rows(s) > MOST_PIXEL_ROWS)
        return "its kernel is more than seven high";
    return lanes_misfit(s);
}

static size_t point_floats(const dlk_stage *s)
{
    return (size_t)s->conv.c * (size_t)s->conv.kh * (size_t)s->conv.oc;
}

static size_t prepared_floats(const dlk_stage *s)
{
    return LINE * point_floats(s) + (size_t)s->conv.oc;
}

/* Floats of one channel in a row of the ring. */
static ptrdiff_t line_floats(const dlk_stage *s)
{
    return (ptrdiff_t)(dlk_stage_ow(s) / 2) * LINE * V;
}

static size_t scratch_floats(const dlk_stage *s)
{
    return (size_t)pixel_rows(s) * (size_t)s->conv.c * (size_t)line_floats(s);
}

/* ---- Weights ---- */

static int parts(const dlk_stage *s)
{
    return s->conv.c;
}

/* A row of an input channel's weights for up to V output channels; elements are `tap` apart. */
static void prepare_row(const float *weights, size_t tap, int channels, float *to, size_t point)
{
    vec row[TAPS], at[LINE];
    for (size_t i = 0; i < TAPS; i++)
        row[i] = load_some(weights + i * tap, channels);
    taps_at_points(row, at, 1);
    for (size_t i = 0; i < LINE; i++)
        store_some(to + i * point, at[i], channels);
}

/* A part is an input channel. */
static void prepare(const dlk_stage *s, int part, const float *weights, const float *bias,
                    float *prepared)
{
    size_t oc = (size_t)s->conv.oc, tap = (size_t)s->conv.c * oc;
    for (int ky = 0; ky < s->conv.kh; ky++) {
        const float *row = weights + (size_t)ky * TAPS * tap + (size_t)part * oc;
        float *to = prepared + (size_t)(part * s->conv.kh + ky) * oc;
        for (size_t first = 0; first < oc; first += V)
            prepare_row(row + first, tap, oc - first < V ? (int)(oc - first) : V, to + first,
                        point_floats(s));
    }
    if (part == 0)
        memcpy(prepared + LINE * point_floats(s), bias, oc * sizeof *bias);
}

/* ---- Rows of pixels ---- */

static float *ring_row(const dlk_stage *s, const dlk_stage_pass *pass, int row)
{
    return pass->scratch + row % pixel_rows(s) * s->conv.c * line_floats(s);
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

/* ---- Blocks of windows ---- */

typedef struct window_block {
    const dlk_stage *stage;
    const dlk_stage_pass *pass;
    int row, column;                      /* of its first window */
    int columns, windows;                 /* in all */
    ptrdiff_t line;                       /* from one channel of a row of pixels to the next */
    const float *pixels[MOST_PIXEL_ROWS]; /* under its rows of windows, at the first pair */
} window_block;

/* sum [row][channel] += the products at one point, whose pixels are `at`. */
DLK_INLINE void add_point(const int channels, const int rows, const int kh, const window_block *b,
                          ptrdiff_t at, const float *weights, vec *sum)
{
    const dlk_conv2d *conv = &b->stage->conv;
    for (int c = 0; c < conv->c; c++, at += b->line) {
        DLK_UNROLL
        for (int y = 0; y < kh; y++, weights += conv->oc) {
            DLK_UNROLL
            for (int i = 0; i < rows * channels; i++)
                sum[i] += splat(weights[i % channels]) * load(b->pixels[i / channels + y] + at);
        }
    }
}

/* points [point][row][channel] */
DLK_INLINE void sum_points(const int channels, const int rows, const int kh, const window_block *b,
                           int first, vec *points)
{
    size_t point = point_floats(b->stage);
    const float *weights = b->pass->prepared + first;
    const float *bias = b->pass->prepared + LINE * point + first;
    ptrdiff_t at = (ptrdiff_t)b->column / 2 * LINE * V;
    for (int k = 0; k < LINE; k++, weights += point, at += V, points += rows * channels) {
        vec sum[ROWS * MOST_CHANNELS];
        DLK_UNROLL
        for (int i = 0; i < rows * channels; i++)
            sum[i] = k == BIAS_POINT ? splat(bias[i % channels]) : (vec){0};
        add_point(channels, rows, kh, b, at, weights, sum);
        DLK_UNROLL
        for (int i = 0; i < rows * channels; i++)
            points[i] = sum[i];
    }
}

/* Four outputs from their points, which are `step` apart. */
DLK_INLINE void outputs_from_points(const vec *points, int step, vec out[HALF])
{
    vec at[LINE];
    DLK_UNROLL
    for (int k = 0; k < LINE; k++)
        at[k] = points[k * step];
    outputs_from_first(at, out, 1);
    outputs_from_second(at + HALF, out, 1);
}

DLK_INLINE void compute_channels(const int channels, const int rows, const int kh,
                                 const window_block *b, int first)
{
    vec points[LINE * ROWS * MOST_CHANNELS];
    sum_points(channels, rows, kh, b, first, points);
    DLK_UNROLL
    for (int i = 0; i < channels; i++) {
        tail after = lanes_tail(b->stage, b->pass, first + i, b->windows);
        for (int row = 0; row < rows; row += 2) {
            vec above[HALF], below[HALF];
            size_t at = (size_t)((b->row + row / 2) * b->columns + b->column) * V;
            outputs_from_points(points + row * channels + i, rows * channels, above);
            outputs_from_points(points + (row + 1) * channels + i, rows * channels, below);
            pool_two(&after, at, above, below);
        }
    }
}

/* The compiler knows the shapes of most blocks. */
DLK_INLINE void with_channels(const int channels, int rows, const window_block *b, int first)
{
    int kh = b->stage->conv.kh;
    if (rows == ROWS && kh == 5)
        compute_channels(channels, ROWS, 5, b, first);
    else if (rows == ROWS)
        compute_channels(channels, ROWS, kh, b, first);
    else
        compute_channels(channels, 2, kh, b, first);
}

static void compute_some(int channels, int rows, const window_block *b, int first)
{
#define COMPUTE(constant) with_channels(constant, rows, b, first)
    DLK_WITH_CONSTANT(channels, MOST_CHANNELS, COMPUTE);
#undef COMPUTE
}

static void compute_block(int rows, const window_block *b)
{
    int oc = b->stage->conv.oc;
    for (int done = 0, channels; done < oc; done += channels) {
        channels = next_block(oc - done, MOST_CHANNELS);
        compute_some(channels, rows, b, done);
    }
}

static void run(const dlk_stage *s, const dlk_stage_pass *pass)
{
    int oh = dlk_stage_oh(s), ow = dlk_stage_ow(s);
    for (int row = 0, ready = 0; row < oh; row += 2) {
        int rows = row + 1 < oh ? ROWS : 2, above = 2 * row;
        window_block b = {s, pass, row, .columns = ow, .windows = oh * ow, .line = line_floats(s)};
        for (; ready < above + rows + s->conv.kh - 1; ready++)
            transform_row(s, pass, ready);
        for (int y = 0; y < rows + s->conv.kh - 1; y++)
            b.pixels[y] = ring_row(s, pass, above + y);
        for (; b.column < ow; b.column += 2)
            compute_block(rows, &b);
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
