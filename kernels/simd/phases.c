/*
 * Forward of pooled stages with few channels: the four phases of V windows (windows.h) for some
 * channels are summed up in a block of registers, one product after the other.
 *
 * Layouts: prepared [oc][c * kh * kw weights, bias], then those of windows.h.
 * Error: at most 2e-6 of the sum of the absolute products, for up to 1000 of them.
 */
#include "loops.h"
#include "simd/matrix.h"
#include "simd/simd.h"
#include "simd/windows.h"

enum { MOST_CHANNELS = ACCUMULATORS / PHASES };

/* Add what one row of the kernel contributes; `upper` and `lower` are the windows' pixel rows. */
DLK_INLINE void add_row(const int channels, const int kw, ptrdiff_t pair, const float *upper,
                        const float *lower, const float *const *weights, ptrdiff_t tap, vec *sum)
{
    vec pixel[PHASES] = {load(upper), load(upper), load(lower), load(lower)};
    DLK_UNROLL
    for (int kx = 0; kx < kw; kx++) {
        pixel[0] = pixel[1], pixel[1] = load(upper + (kx + 1) * pair);
        pixel[2] = pixel[3], pixel[3] = load(lower + (kx + 1) * pair);
        DLK_UNROLL
        for (int i = 0; i < channels * PHASES; i++)
            sum[i] += splat(weights[i / PHASES][tap + kx]) * pixel[i % PHASES];
    }
}

DLK_INLINE void correlate(const int channels, const int kw, const window_group *group,
                          const int32_t *channel)
{
    const geometry *g = group->geometry;
    ptrdiff_t taps = (ptrdiff_t)g->channels_in * g->kh * kw, tap = 0;
    const float *weights[MOST_CHANNELS];
    vec sum[MOST_CHANNELS * PHASES];
    DLK_UNROLL
    for (int i = 0; i < channels; i++)
        weights[i] = group->pass->prepared + channel[i] * (taps + 1);
    DLK_UNROLL
    for (int i = 0; i < channels * PHASES; i++)
        sum[i] = splat(weights[i / PHASES][taps]);
    for (int c = 0; c < g->channels_in; c++) {
        const float *upper = group->pixels + c * g->plane, *lower = upper + g->strip;
        for (int ky = 0; ky < g->kh; ky++, tap += kw) {
            add_row(channels, kw, g->pair, upper, lower, weights, tap, sum);
            const float *below = upper + g->columns;
            upper = lower, lower = below;
        }
    }
    DLK_UNROLL
    for (int i = 0; i < channels; i++)
        pool(group, channel[i], sum + i * PHASES);
}

DLK_INLINE void with_channels(const int channels, const window_group *group, const int32_t *channel)
{
    switch (group->geometry->kw) {
    case 3:
        correlate(channels, 3, group, channel);
        break;
    case 5:
        correlate(channels, 5, group, channel);
        break;
    default:
        correlate(channels, group->geometry->kw, group, channel);
    }
}

/* Call correlate with sizes that it knows when it is compiled. */
static void correlate_block(int channels, const window_group *group, const int32_t *channel)
{
#define COMPUTE(constant) with_channels(constant, group, channel)
    DLK_WITH_CONSTANT(channels, MOST_CHANNELS, COMPUTE);
#undef COMPUTE
}

static void correlate_windows(const window_group *group)
{
    for_kept_channels(group, MOST_CHANNELS, correlate_block);
}

/* Bias included. */
static size_t weights_floats(const dlk_stage *s)
{
    return (size_t)s->conv.oc * ((size_t)s->conv.c * (size_t)(s->conv.kh * s->conv.kw) + 1);
}

static void run(const dlk_stage *s, const dlk_stage_pass *pass)
{
    static const windows_kernel kernel = {.compute = correlate_windows};
    DLK_SIMD(run_windows)(s, pass, pass->prepared + weights_floats(s), &kernel);
}

static const char *misfit(const dlk_stage *s)
{
    if (channels_fill_vectors(s))
        return "its channels fill vectors";
    return pooled_misfit(s);
}

static size_t prepared_floats(const dlk_stage *s)
{
    return weights_floats(s) + DLK_SIMD(windows_prepared)(s);
}

static void lay_out(const dlk_stage *s, float *prepared)
{
    DLK_SIMD(windows_lay_out)(s, prepared + weights_floats(s));
}

static int parts(const dlk_stage *s)
{
    return dlk_pieces((size_t)s->conv.oc, V);
}

/* A part is up to V output channels. */
static void prepare(const dlk_stage *s, int part, const float *weights, const float *bias,
                    float *prepared)
{
    int kernel = s->conv.kh * s->conv.kw;
    size_t oc = (size_t)s->conv.oc, c = (size_t)s->conv.c, row = (size_t)kernel * c + 1;
    dlk_range channels = dlk_piece(oc, V, part);
    size_t count = channels.end - channels.first;
    float *to = prepared + channels.first * row;
    for (size_t i = 0; i < c; i++)
        transpose_matrix(kernel, (int)count, weights + i * oc + channels.first, c * oc,
                         to + i * (size_t)kernel, row);
    for (size_t i = 0; i < count; i++)
        to[i * row + row - 1] = bias[channels.first + i];
}

static size_t scratch_floats(const dlk_stage *s)
{
    return DLK_SIMD(windows_scratch)(s, 0);
}

const dlk_stage_forward DLK_SIMD(phases) = {
    .name = "phases",
    .misfit = misfit,
    .prepared_floats = prepared_floats,
    .lay_out = lay_out,
    .parts = parts,
    .prepare = prepare,
    .scratch_floats = scratch_floats,
    .run = run,
    .planes = true,
};
