/*
 * Dense layers with few outputs and not many inputs, such as the last one of a network. Their
 * products are too small for blocks, and to look for zeros takes longer than to multiply by them.
 * Outputs would leave lanes empty, so what lies in the lanes is images (forward) or inputs.
 */
#ifndef DLK_SIMD_NARROW_H
#define DLK_SIMD_NARROW_H

#include <stdbool.h>

#include "dlk/dense.h"
#include "simd/vec.h"

enum { NARROW = 16, SHORT = 1024 };

static inline bool is_narrow(const dlk_dense *s)
{
    return s->out <= NARROW && s->in <= SHORT;
}

/* A product that the leader has done sooner alone than taken to another core. */
static inline bool is_small(const dlk_dense *s)
{
    return (long long)s->n * s->in * s->out <= 256 * 1024;
}

void DLK_SIMD(narrow_forward)(dlk_team *team, const dlk_dense *s, const float *x,
                              const float *weights, const float *bias, float *y);
void DLK_SIMD(narrow_data)(dlk_team *team, const dlk_dense *s, const float *dy,
                           const float *weights, float *dx);
void DLK_SIMD(narrow_weights)(dlk_team *team, const dlk_dense *s, const float *x, const float *dy,
                              float *dweights);

#endif
