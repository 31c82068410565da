/*
 * Forward of pooled 5×5 convolutions of stride 1 by Winograd's algorithm F(2×2, 5×5).
 *
 * A tile of 2×2 outputs is a window of the pool, and a vector holds V windows (windows.h). The 6×6
 * pixels under a window and the weights are evaluated at 6×6 points; there the convolution is one
 * product a point, summed over the input channels, and 36 multiplications stand for 100.
 *
 * Layouts: prepared [row of points][c][oc][its 6 points], then bias [oc], then those of windows.h;
 * scratch: pixels [row of points][c][its 6 points][V windows].
 * Error: at most 1e-6 of the sum of the absolute products, the largest of the window, for up to
 * 1600 of them. Outputs of a window that differ by less, or not at all, may come in any order.
 */
#include <string.h>

#include "simd/simd.h"
#include "simd/windows.h"
#include "simd/winograd.h"

enum { KERNEL = 5 };

/* Products at a share of a row of points are summed up at once for some channels. */
enum { MOST_CHANNELS = ACCUMULATORS / SHARE };

/* With fewer input channels the transforms take longer than what they save. */
enum { LEAST_CHANNELS = 4 };

/* ---- Shapes ---- */

static int windows_of(const dlk_stage *s)
{
    return dlk_stage_oh(s) * dlk_stage_ow(s);
}

static const char *misfit(const dlk_stage *s)
{
    if (s->conv.kh != KERNEL || s->conv.kw != KERNEL)
        return "its kernel is not 5x5";
    if (s->conv.c < LEAST_CHANNELS)
        return "it has fewer than 4 input channels";
    if (channels_fill_vectors(s) && 2 * windows_of(s) < (windows_of(s) + V - 1) / V * V)
        return "its channels fill vectors, its windows not half of them";
    return pooled_misfit(s);
}

/* Bias included. */
static size_t weights_floats(const dlk_stage *s)
{
    return ((size_t)POINTS * (size_t)s->conv.c + 1) * (size_t)s->conv.oc;
}

static size_t prepared_floats(const dlk_stage *s)
{
    return weights_floats(s) + DLK_SIMD(windows_prepared)(s);
}

static size_t scratch_floats(const dlk_stage *s)
{
    size_t pixels = (size_t)POINTS * (size_t)s->conv.c * V;
    return DLK_SIMD(windows_scratch)(s, pixels);
}

/* ---- Weights ---- */

/* One input channel's weights for up to V output channels; `to` is of the first row of points. */
static void prepare_some(const dlk_stage *s, const float *weights, int channels, float *to)
{
    float copy[KERNEL * KERNEL * V], at[POINTS * V];
    size_t tap = (size_t)s->conv.c * (size_t)s->conv.oc, row = tap * PATCH;
    for (size_t i = 0; i < KERNEL * KERNEL; i++)
        store(copy + i * V, load_some(weights + i * tap, channels));
    kernel_at_points(KERNEL, copy, V, at, V);
    for (size_t i = 0; i < PATCH; i++)
        for (int channel = 0; channel < channels; channel++)
            for (size_t j = 0; j < PATCH; j++)
                to[i * row + (size_t)channel * PATCH + j] =
                    at[(i * PATCH + j) * V + (size_t)channel];
}

static void lay_out(const dlk_stage *s, float *prepared)
{
    DLK_SIMD(windows_lay_out)(s, prepared + weights_floats(s));
}

static int parts(const dlk_stage *s)
{
    return s->conv.c;
}

/* A part is an input channel. */
static void prepare(const dlk_stage *s, int part, const float *weights, const float *bias,
                    float *prepared)
{
    int oc = s->conv.oc;
    size_t floats = (size_t)oc * PATCH, row = (size_t)s->conv.c * floats;
    float *to = prepared + (size_t)part * floats;
    for (int first = 0; first < oc; first += V) {
        int left = oc - first;
        prepare_some(s, weights + part * oc + first, left < V ? left : V, to + first * PATCH);
    }
    if (part == 0)
        memcpy(prepared + PATCH * row, bias, (size_t)oc * sizeof *bias);
}

/* ---- Windows ---- */

/* Weights from a row of points to the next. */
static ptrdiff_t weights_row(const geometry *g)
{
    return (ptrdiff_t)g->channels_in * g->channels_out * PATCH;
}

static void transform_pixels(const window_group *group)
{
    const geometry *g = group->geometry;
    for (int c = 0; c < g->channels_in; c++) {
        const float *even = group->pixels + c * g->plane, *odd = even + g->strip;
        patch_at_points(even, odd, g->columns, g->pair, group->workspace->own + c * PATCH * V,
                        (size_t)g->channels_in * PATCH * V, V);
    }
}

/*
 * sum [channel][SHARE]: the products at a share of a row of points, each summed over the input
 * channels.
 */
DLK_INLINE void multiply_share(const int channels, const geometry *g, const float *pixels,
                               const float *const *weights, vec *sum)
{
    DLK_UNROLL
    for (int i = 0; i < channels * SHARE; i++)
        sum[i] = (vec){0};
    ptrdiff_t at = 0, step = (ptrdiff_t)g->channels_out * PATCH;
    for (int c = 0; c < g->channels_in; c++, pixels += PATCH * V, at += step) {
        DLK_UNROLL
        for (int i = 0; i < channels * SHARE; i++)
            sum[i] += splat(weights[i / SHARE][at + i % SHARE]) * load(pixels + i % SHARE * V);
    }
}

/* half [channel][column of the window][row of points] */
DLK_INLINE void multiply_row(const int channels, const geometry *g, const float *pixels,
                             const float **weights, vec *half)
{
    vec sum[MOST_CHANNELS * SHARE];
    multiply_share(channels, g, pixels, weights, sum);
    DLK_UNROLL
    for (int i = 0; i < channels; i++) {
        pair_from_near(sum + i * SHARE, half + 2 * i * PATCH, PATCH);
        weights[i] += SHARE;
    }
    multiply_share(channels, g, pixels + SHARE * V, weights, sum);
    DLK_UNROLL
    for (int i = 0; i < channels; i++) {
        pair_from_far(sum + i * SHARE, half + 2 * i * PATCH, PATCH);
        weights[i] += weights_row(g) - SHARE;
    }
}

DLK_INLINE void compute_channels(const int channels, const window_group *group,
                                 const int32_t *channel)
{
    const geometry *g = group->geometry;
    const float *pixels = group->workspace->own, *weights[MOST_CHANNELS];
    const float *bias = group->pass->prepared + PATCH * weights_row(g);
    vec half[MOST_CHANNELS * 2 * PATCH];
    for (int i = 0; i < channels; i++)
        weights[i] = group->pass->prepared + channel[i] * PATCH;
    for (int row = 0; row < PATCH; row++, pixels += g->channels_in * PATCH * V)
        multiply_row(channels, g, pixels, weights, half + row);
    for (int i = 0; i < channels; i++) {
        vec phase[PHASES];
        pair_from_points(half + 2 * i * PATCH, phase, 2);
        pair_from_points(half + (2 * i + 1) * PATCH, phase + 1, 2);
        DLK_UNROLL
        for (int k = 0; k < PHASES; k++)
            phase[k] += splat(bias[channel[i]]);
        pool(group, channel[i], phase);
    }
}

/* Call compute_channels with a number that it knows when it is compiled. */
static void compute_block(int channels, const window_group *group, const int32_t *channel)
{
#define COMPUTE(constant) compute_channels(constant, group, channel)
    DLK_WITH_CONSTANT(channels, MOST_CHANNELS, COMPUTE);
#undef COMPUTE
}

static void compute_windows(const window_group *group)
{
    transform_pixels(group);
    for_kept_channels(group, MOST_CHANNELS, compute_block);
}

static void run(const dlk_stage *s, const dlk_stage_pass *pass)
{
    static const windows_kernel kernel = {.compute = compute_windows};
    DLK_SIMD(run_windows)(s, pass, pass->prepared + weights_floats(s), &kernel);
}

const dlk_stage_forward DLK_SIMD(winograd_windows) = {
    .name = "winograd 5x5",
    .misfit = misfit,
    .prepared_floats = prepared_floats,
    .lay_out = lay_out,
    .parts = parts,
    .prepare = prepare,
    .scratch_floats = scratch_floats,
    .run = run,
    .planes = true,
};
