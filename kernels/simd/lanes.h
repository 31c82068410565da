/*
 * Images in lanes: a vector holds the same element of V images, so that nothing is ever moved from
 * lane to lane and no lane is empty, whatever the shape. What an image drops with whole planes
 * differs from lane to lane, so nothing is skipped: all is computed, and dropped at the end.
 *
 * Tensors are [c][h][w][V]. Both kernels make squares or rows of 4 outputs at once, that is pairs
 * of windows.
 */
#ifndef DLK_SIMD_LANES_H
#define DLK_SIMD_LANES_H

#include "simd/pooled.h"
#include "simd/tail.h"
#include "simd/winograd_eight.h"

/* What goes into a stage and comes out of it shall stay in a second-level cache. */
enum { MOST_FLOATS = 128 * 1024 };

/* Why pairs of windows cannot be made; NULL: they can. */
static inline const char *lanes_misfit(const dlk_stage *s)
{
    const char *why = pooled_misfit(s);
    if (why)
        return why;
    if (s->conv.kw != TAPS)
        return "its kernel is not five wide";
    if (dlk_stage_ow(s) % 2 != 0)
        return "its windows do not come in pairs";
    if (V * (dlk_stage_inputs(s) + dlk_stage_outputs(s)) > MOST_FLOATS)
        return "its images are too large";
    return NULL;
}

/* What follows the convolution for a channel of so many windows: a vector has one of V images. */
DLK_INLINE tail lanes_tail(const dlk_stage *s, const dlk_stage_pass *pass, int channel, int windows)
{
    size_t at = (size_t)channel * (size_t)windows * V;
    ivec all = (ivec){0} == 0;
    return (tail){.y = pass->y + at,
                  .winner = pass->winner ? pass->winner + at : NULL,
                  .scale = splat(pass->scale),
                  .planes =
                      pass->keep_planes ? nonzero_bytes(pass->keep_planes + channel * V) : all,
                  .floor = splat(s->relu ? 0.0F : NAN),
                  .plain = s->relu && !pass->winner && !pass->keep_planes && pass->scale == 1.0F};
}

/* y[at] from the outputs of a window. */
DLK_INLINE void pool_window(const tail *t, size_t at, const vec *above, const vec *below,
                            vec poisoned)
{
    if (t->plain) {
        vec value = larger(larger(above[0], above[1]), larger(below[0], below[1]));
        store(t->y + at, relu(value + poisoned));
    } else {
        finish_window(t, at, above[0], above[1], below[0], below[1], poisoned);
    }
}

/*
 * Two windows, y[at] and y[at + V], from both of their rows of four outputs. All that the outputs
 * are made of is in the first and the last of each row: what is not finite there must not be lost
 * to a larger value.
 */
DLK_INLINE void pool_two(const tail *t, size_t at, const vec *above, const vec *below)
{
    vec poisoned = poison(above[0], above[3], below[0], below[3]);
    pool_window(t, at, above, below, poisoned);
    pool_window(t, at + V, above + 2, below + 2, poisoned);
}

#endif
