/* Sums of what groups of images have added up (dlk_gradients), in the groups' order; what was taken
 * is zero then. */
#ifndef DLK_SIMD_GROUPS_H
#define DLK_SIMD_GROUPS_H

#include "dlk/stage.h"
#include "loops.h"
#include "simd/vec.h"

/* V floats from `at` on. */
DLK_INLINE vec take_sum(const dlk_gradients *groups, size_t at)
{
    vec sum = load(groups->each[0] + at);
    store(groups->each[0] + at, (vec){0});
    for (int i = 1; i < groups->count; i++) {
        sum += load(groups->each[i] + at);
        store(groups->each[i] + at, (vec){0});
    }
    return sum;
}

static inline void clear_groups(const dlk_gradients *groups, size_t at, size_t count)
{
    for (int i = 0; i < groups->count; i++)
        memset(groups->each[i] + at, 0, count * sizeof(float));
}

static inline void take_sums(const dlk_gradients *groups, size_t at, size_t count, float *to)
{
    memcpy(to, groups->each[0] + at, count * sizeof *to);
    for (int i = 1; i < groups->count; i++)
        dlk_add(count, groups->each[i] + at, to);
    clear_groups(groups, at, count);
}

#endif
