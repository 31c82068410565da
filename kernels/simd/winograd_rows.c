/*
 * Forward of pooled convolutions of stride 1 whose kernel is five wide, by Winograd's algorithm
 * F(2, 5) along rows: for few input channels, where the transforms of both directions would take
 * longer than what they save.
 *
 * A vector holds V windows of the pool (windows.h). The six pixels of a row under a window are
 * evaluated at six points, and so is each row of the kernel; there one product a point and row of
 * the kernel makes both outputs of the row: 60 multiplications stand for the 100 of a 5×5 window.
 * Pixels are transformed where they lie, in the strips, once for all rows of windows and channels.
 *
 * Layouts: prepared [oc][2 shares][c][kh][SHARE points], a bias behind each, then those of
 * windows.h.
 * Error: at most 1e-6 of the sum of the absolute products, the largest of the window, for up to
 * 400 of them. Outputs of a window that differ by less, or not at all, may come in any order.
 */
#include "loops.h"
#include "simd/simd.h"
#include "simd/windows.h"
#include "simd/winograd.h"

enum { WIDTH = 5 };

/*
 * Both rows of a window at a share of their points are summed up at once for some channels: no more
 * than leave registers for the rows of pixels, which both use in turn.
 */
enum { ROWS = 2, MOST_CHANNELS = DLK_WIDTH == 16 ? 3 : 2 };

/* ---- Shapes ---- */

static const char *misfit(const dlk_stage *s)
{
    if (s->conv.kw != WIDTH)
        return "its kernel is not five wide";
    if (channels_fill_vectors(s))
        return "its channels fill vectors";
    return pooled_misfit(s);
}

/* Weights of an output channel at one share of the points. */
static ptrdiff_t share_floats(const dlk_stage *s)
{
    return (ptrdiff_t)s->conv.c * s->conv.kh * SHARE;
}

/* Bias included. */
static size_t channel_floats(const dlk_stage *s)
{
    return (size_t)(2 * share_floats(s) + 1);
}

static size_t weights_floats(const dlk_stage *s)
{
    return (size_t)s->conv.oc * channel_floats(s);
}

static size_t prepared_floats(const dlk_stage *s)
{
    return weights_floats(s) + DLK_SIMD(windows_prepared)(s);
}

static size_t scratch_floats(const dlk_stage *s)
{
    return DLK_SIMD(windows_scratch)(s, 0);
}

/* ---- Weights ---- */

static void lay_out(const dlk_stage *s, float *prepared)
{
    DLK_SIMD(windows_lay_out)(s, prepared + weights_floats(s));
}

static int parts(const dlk_stage *s)
{
    return dlk_pieces((size_t)s->conv.oc, V);
}

/* One row of one input channel's weights, for up to V output channels. */
static void prepare_row(const dlk_stage *s, const float *weights, size_t channels, float *to)
{
    vec row[WIDTH], at[PATCH];
    size_t tap = (size_t)s->conv.c * (size_t)s->conv.oc;
    for (size_t i = 0; i < WIDTH; i++)
        row[i] = load_some(weights + i * tap, (int)channels);
    weights_at_points(WIDTH, row, at, 1);
    for (size_t channel = 0; channel < channels; channel++, to += channel_floats(s))
        for (int i = 0; i < PATCH; i++)
            to[i / SHARE * share_floats(s) + i % SHARE] = at[i][channel];
}

/* A part is up to V output channels. */
static void prepare(const dlk_stage *s, int part, const float *weights, const float *bias,
                    float *prepared)
{
    dlk_range channels = dlk_piece((size_t)s->conv.oc, V, part);
    size_t count = channels.end - channels.first, each = channel_floats(s);
    float *to = prepared + channels.first * each;
    for (int c = 0; c < s->conv.c; c++)
        for (int ky = 0; ky < s->conv.kh; ky++)
            prepare_row(
                s, weights + ((ptrdiff_t)ky * WIDTH * s->conv.c + c) * s->conv.oc + channels.first,
                count, to + (c * s->conv.kh + ky) * SHARE);
    for (size_t i = 0; i < count; i++)
        to[(i + 1) * each - 1] = bias[channels.first + i];
}

/* ---- Windows ---- */

/* Strips of the pixels in six columns become strips of six points. */
static void transform_strips(const geometry *g, float *strips)
{
    for (int c = 0; c < g->channels_in; c++)
        for (ptrdiff_t i = 0; i < g->pair; i += V) {
            float *first = strips + c * g->plane + i;
            vec x[PATCH], at[PATCH];
            DLK_UNROLL
            for (int k = 0; k < PATCH; k++)
                x[k] = load(first + k * g->pair);
            input_at_points(x, at, 1);
            DLK_UNROLL
            for (int k = 0; k < PATCH; k++)
                store(first + k * g->pair, at[k]);
        }
}

/* sum [channel][ROWS][SHARE]. The bias enters at 0 and infinity, which make one output each. */
DLK_INLINE void begin_with_bias(const int channels, const float *const *bias, const int point,
                                vec *sum)
{
    DLK_UNROLL
    for (int i = 0; i < channels * ROWS * SHARE; i++)
        sum[i] = i % SHARE == point ? splat(*bias[i / (ROWS * SHARE)]) : (vec){0};
}

/* Add what pixels contribute to one row of the windows through one row of the kernel. */
DLK_INLINE void add_row(const int channels, const float *const *weights, ptrdiff_t at,
                        const vec pixel[SHARE], vec *sum)
{
    DLK_UNROLL
    for (int i = 0; i < channels * SHARE; i++)
        sum[i / SHARE * ROWS * SHARE + i % SHARE] +=
            splat(weights[i / SHARE][at + i % SHARE]) * pixel[i % SHARE];
}

/* Add the products at a share of the points, whose strips begin with `strips`. */
DLK_INLINE void add_share(const int channels, const int kh, const geometry *g, const float *strips,
                          const float *const *weights, vec *sum)
{
    ptrdiff_t at = 0;
    for (int c = 0; c < g->channels_in; c++, at += kh * SHARE) {
        const float *row = strips + c * g->plane, *next = row + g->strip;
        DLK_UNROLL
        for (int y = 0; y <= kh; y++) {
            vec pixel[SHARE];
            DLK_UNROLL
            for (int i = 0; i < SHARE; i++)
                pixel[i] = load(row + i * g->pair);
            if (y < kh)
                add_row(channels, weights, at + y * SHARE, pixel, sum);
            if (y > 0)
                add_row(channels, weights, at + (y - 1) * SHARE, pixel, sum + SHARE);
            const float *after = row + g->columns;
            row = next, next = after;
        }
    }
}

DLK_INLINE void compute_channels(const int channels, const int kh, const window_group *group,
                                 const int32_t *channel)
{
    const geometry *g = group->geometry;
    ptrdiff_t share = (ptrdiff_t)g->channels_in * kh * SHARE;
    const float *weights[MOST_CHANNELS], *bias[MOST_CHANNELS];
    vec sum[MOST_CHANNELS * ROWS * SHARE], phase[MOST_CHANNELS * PHASES];
    DLK_UNROLL
    for (int i = 0; i < channels; i++) {
        weights[i] = group->pass->prepared + channel[i] * (2 * share + 1);
        bias[i] = weights[i] + 2 * share;
    }
    begin_with_bias(channels, bias, 0, sum);
    add_share(channels, kh, g, group->pixels, weights, sum);
    DLK_UNROLL
    for (int i = 0; i < channels * ROWS; i++)
        pair_from_near(sum + i * SHARE, phase + 2 * i, 1);
    DLK_UNROLL
    for (int i = 0; i < channels; i++)
        weights[i] += share;
    begin_with_bias(channels, bias, SHARE - 1, sum);
    add_share(channels, kh, g, group->pixels + SHARE * g->pair, weights, sum);
    DLK_UNROLL
    for (int i = 0; i < channels * ROWS; i++)
        pair_from_far(sum + i * SHARE, phase + 2 * i, 1);
    DLK_UNROLL
    for (int i = 0; i < channels; i++)
        pool(group, channel[i], phase + i * PHASES);
}

DLK_INLINE void with_channels(const int channels, const window_group *group, const int32_t *channel)
{
    if (group->geometry->kh == 5)
        compute_channels(channels, 5, group, channel);
    else
        compute_channels(channels, group->geometry->kh, group, channel);
}

/* Call compute_channels with a number that it knows when it is compiled. */
static void compute_block(int channels, const window_group *group, const int32_t *channel)
{
#define COMPUTE(constant) with_channels(constant, group, channel)
    DLK_WITH_CONSTANT(channels, MOST_CHANNELS, COMPUTE);
#undef COMPUTE
}

static void compute_windows(const window_group *group)
{
    for_kept_channels(group, MOST_CHANNELS, compute_block);
}

static void run(const dlk_stage *s, const dlk_stage_pass *pass)
{
    static const windows_kernel kernel = {transform_strips, compute_windows};
    DLK_SIMD(run_windows)(s, pass, pass->prepared + weights_floats(s), &kernel);
}

const dlk_stage_forward DLK_SIMD(winograd_rows) = {
    .name = "winograd 1x5",
    .misfit = misfit,
    .prepared_floats = prepared_floats,
    .lay_out = lay_out,
    .parts = parts,
    .prepare = prepare,
    .scratch_floats = scratch_floats,
    .run = run,
    .planes = true,
};
