/*
 * Pooled stages whose channels do not fill vectors: a vector holds windows of the pool instead, so
 * that pool, ReLU and scale happen lane by lane.
 *
 * The four outputs of a window are its phases. Phase (dy, dx) of all windows is a sum over the
 * kernel's elements of a weight times the pixels at (2 row + dy + ky, 2 column + dx + kx), so the
 * pixels are first sorted into strips, in which the windows' pixels at one such distance follow
 * each other:
 *
 *     strips [c][kw + 1][2][rows + kh / 2][columns]: strip (x, parity) holds the pixels in column
 *     2 column + x of row 2 row + parity
 *
 * and the pixels at distance (y, x) of V windows are V floats of strip (x, y mod 2), y / 2 rows
 * on. (On the way there an image is sorted into quarters, [2][2][rows + kh / 2][columns + kw / 2]
 * of even and odd rows and even and odd columns, from which strips are picked.) What a kernel makes
 * of them, it hands to `pool`, a channel at a time. Channels that dropout2d drops take no part in
 * any of this.
 */
#ifndef DLK_SIMD_WINDOWS_H
#define DLK_SIMD_WINDOWS_H

#include "simd/pooled.h"
#include "simd/tail.h"

enum { PHASES = 4 };

typedef struct geometry {
    int rows, columns, windows;
    int channels_in, channels_out, kh, kw;
    int quarter_rows, quarter_columns;
    ptrdiff_t quarter, sorted;    /* floats from a quarter, a channel of quarters to the next */
    ptrdiff_t strip, pair, plane; /* and from a strip, an x, a channel of strips */
} geometry;

/* What a run keeps in scratch. */
typedef struct workspace {
    float *sorted, *strips;
    float *outputs;   /* [oc rounded up][V windows] */
    int32_t *winners; /* the same */
    int32_t *kept;    /* [oc]: the channels that are not dropped */
    int kept_count;
    float *own; /* the kernel's, aligned to a cache line */
} workspace;

/* V windows of an image. */
typedef struct window_group {
    const geometry *geometry;
    const dlk_stage_pass *pass;
    bool relu;
    const float *pixels; /* the windows' first in the first strip */
    const workspace *workspace;
} window_group;

/* The sums of a channel's phases, bias included, become its outputs and winners. */
DLK_INLINE void pool(const window_group *g, int channel, const vec sum[PHASES])
{
    ivec right_above = sum[1] > sum[0], right_below = sum[3] > sum[2];
    vec above = choose(right_above, sum[1], sum[0]), below = choose(right_below, sum[3], sum[2]);
    ivec is_below = below > above;
    vec value = choose(is_below, below, above) + poison(sum[0], sum[1], sum[2], sum[3]);
    vec scaled = value * splat(g->pass->scale);
    store(g->workspace->outputs + (ptrdiff_t)channel * V, g->relu ? relu(scaled) : scaled);
    if (g->pass->winner) {
        ivec dead = g->relu ? value <= 0.0F : (ivec){0};
        ivec winner = choose_index(is_below, 2 - right_below, -right_above);
        store((float *)g->workspace->winners + (ptrdiff_t)channel * V,
              (vec)choose_index(dead, (ivec){0} + DLK_DEAD, winner));
    }
}

/* Compute the channels that are not dropped, in the fewest blocks of at most `most`, evenly. */
typedef void compute_block_fn(int channels, const window_group *group, const int32_t *channel);
DLK_INLINE void for_kept_channels(const window_group *group, int most, compute_block_fn *compute)
{
    const workspace *w = group->workspace;
    for (int done = 0, channels; done < w->kept_count; done += channels) {
        channels = next_block(w->kept_count - done, most);
        compute(channels, group, w->kept + done);
    }
}

/* Where they do, and fill more than one, direct.c wastes no lane, however few the windows are. */
static inline bool channels_fill_vectors(const dlk_stage *s)
{
    return s->conv.oc >= 2 * V && s->conv.oc % V == 0;
}

/* Scratch of a run in which the kernel itself wants `own` floats. */
size_t DLK_SIMD(windows_scratch)(const dlk_stage *s, size_t own);

/* Where the pixels of strips are: what the kernel lays out. */
size_t DLK_SIMD(windows_prepared)(const dlk_stage *s);
void DLK_SIMD(windows_lay_out)(const dlk_stage *s, float *prepared);

/* What a kernel does with an image. */
typedef struct windows_kernel {
    void (*transform)(const geometry *g, float *strips); /* NULL: they stay as they are */
    void (*compute)(const window_group *group); /* pools every channel of workspace->kept */
} windows_kernel;

/* Take an image through the stage. */
void DLK_SIMD(run_windows)(const dlk_stage *s, const dlk_stage_pass *pass, const float *prepared,
                           const windows_kernel *kernel);

#endif
