/* Sums of what groups of images have added up (dlk_gradients), in the groups' order. */
#ifndef DLK_SIMD_GROUPS_H
#define DLK_SIMD_GROUPS_H

#include "dlk/stage.h"
#include "loops.h"
#include "simd/vec.h"

/* V floats from `at` on. */
DLK_INLINE vec sum_of_groups(const dlk_gradients *groups, size_t at)
{
    vec sum = load(groups->first + at);
    for (int i = 1; i < groups->count; i++)
        sum += load(groups->first + (size_t)i * groups->stride + at);
    return sum;
}

static inline void sum_groups(const dlk_gradients *groups, size_t at, size_t count, float *to)
{
    memcpy(to, groups->first + at, count * sizeof *to);
    for (int i = 1; i < groups->count; i++)
        dlk_add(count, groups->first + (size_t)i * groups->stride + at, to);
}

#endif
