/*
 * Images in lanes: a vector holds the same element of V images, so that nothing is ever moved from
 * lane to lane and no lane is empty, whatever the shape. For evaluation only: what an image drops
 * or who wins in its windows would differ from lane to lane.
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

/*
 * Two windows from both of their rows of four outputs. All that the outputs are made of is in the
 * first and the last of each row: what is not finite there must not be lost to a larger value.
 */
DLK_INLINE void pool_two(const dlk_stage *s, const vec *above, const vec *below, float *y)
{
    vec poisoned = poison(above[0], above[3], below[0], below[3]);
    DLK_UNROLL
    for (int i = 0; i < HALF; i += 2) {
        vec value = larger(larger(above[i], above[i + 1]), larger(below[i], below[i + 1]));
        value += poisoned;
        store(y + i / 2 * V, s->relu ? relu(value) : value);
    }
}

#endif
