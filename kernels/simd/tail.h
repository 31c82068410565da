/*
 * What follows the convolution in a stage (bias, max-pool, ReLU, dropout) on sums that are still
 * in registers: a vector of V output channels, of one pixel or of the four of a window; or of one
 * channel of V images (lanes.h).
 */
#ifndef DLK_SIMD_TAIL_H
#define DLK_SIMD_TAIL_H

#include <math.h>

#include "dlk/stage.h"
#include "simd/vec.h"

typedef uint8_t bytes __attribute__((vector_size(DLK_WIDTH)));

/* The tail of V channels. The arrays start at the first of them. */
typedef struct tail {
    float *y;
    uint8_t *winner;     /* NULL: not wanted */
    const uint8_t *keep; /* NULL: all are kept */
    vec bias, scale;
    ivec planes; /* those that dropout2d keeps */
    vec floor;   /* where values die: 0 with a ReLU, else NaN, which nothing is below */
    bool plain;  /* a ReLU is all that follows the bias */
} tail;

DLK_INLINE ivec widen_bytes(const uint8_t *from)
{
    bytes value;
    memcpy(&value, from, sizeof value);
    return __builtin_convertvector(value, ivec);
}

DLK_INLINE ivec nonzero_bytes(const uint8_t *from)
{
    return widen_bytes(from) != 0;
}

/* `bias`: [oc]; NULL: none */
DLK_INLINE tail tail_of(const dlk_stage *s, const dlk_stage_pass *pass, const float *bias,
                        int channel)
{
    ivec all = (ivec){0} == 0;
    return (tail){.y = pass->y + channel,
                  .winner = pass->winner ? pass->winner + channel : NULL,
                  .keep = pass->keep ? pass->keep + channel : NULL,
                  .bias = bias ? load(bias + channel) : (vec){0},
                  .scale = splat(pass->scale),
                  .planes = pass->keep_planes ? nonzero_bytes(pass->keep_planes + channel) : all,
                  .floor = splat(s->relu ? 0.0F : NAN),
                  .plain = s->relu && !pass->keep && !pass->keep_planes && pass->scale == 1.0F};
}

/* Neither dropped nor, behind a ReLU, 0 or less. A NaN is alive. */
DLK_INLINE ivec alive(const tail *t, size_t at, vec value)
{
    ivec kept = t->keep ? t->planes & nonzero_bytes(t->keep + at) : t->planes;
    return kept & ~(value <= t->floor);
}

/* y[at] from the sum of a pixel; returns which channels are alive. */
DLK_INLINE ivec finish(const tail *t, size_t at, vec sum)
{
    vec value = sum + t->bias;
    ivec living = alive(t, at, value);
    store(t->y + at, (vec)((ivec)(value * t->scale) & living));
    return living;
}

/* The same of a pixel alone. */
DLK_INLINE void finish_pixel(const tail *t, size_t at, vec sum)
{
    if (t->plain)
        store(t->y + at, relu(sum + t->bias));
    else
        finish(t, at, sum);
}

/* 0, and NaN in channels where a term is not finite: max-pool itself may lose a NaN. */
DLK_INLINE vec poison(vec a, vec b, vec c, vec d)
{
    vec sum = (a + b) + (c + d);
    return sum - sum;
}

DLK_INLINE ivec choose_index(ivec mask, ivec yes, ivec no)
{
    return (mask & yes) | (~mask & no);
}

DLK_INLINE void store_bytes(uint8_t *to, ivec value)
{
    bytes narrow = __builtin_convertvector(value, bytes);
    memcpy(to, &narrow, sizeof narrow);
}

/* y[at] and winner[at] from the sums of a window, in the order of winners. */
DLK_INLINE void finish_window(const tail *t, size_t at, vec a, vec b, vec c, vec d, vec poisoned)
{
    ivec b_wins = b > a, d_wins = d > c;
    vec upper = choose(b_wins, b, a), lower = choose(d_wins, d, c);
    ivec lower_wins = lower > upper;
    ivec living = finish(t, at, choose(lower_wins, lower, upper) + poisoned);
    if (t->winner) {
        ivec winner = choose_index(lower_wins, 2 - d_wins, -b_wins);
        store_bytes(t->winner + at, choose_index(living, winner, (ivec){0} + DLK_DEAD));
    }
}

#endif
