/*
 * Winograd's algorithm F(4, 5): four outputs with a kernel of five elements, from a line of eight
 * inputs.
 */
#ifndef DLK_SIMD_WINOGRAD_EIGHT_H
#define DLK_SIMD_WINOGRAD_EIGHT_H

#include "simd/vec.h"

/* A line of inputs has as many points, in two shares; it makes as many outputs as a share has. */
enum { LINE = 8, HALF = 4, TAPS = 5 };

/*
 * The points are 0, 1, -1 and infinity, then 2, -2, 1/2 and -1/2. The factors of the line's
 * polynomials stand in the weights.
 */
enum { BIAS_POINT = 1 }; /* 1: what is added there is added to every output */

DLK_INLINE void line_at_points(const vec *x, vec *at, int step)
{
    vec even_1 = x[6] - 4.25F * x[4] + x[2], odd_1 = x[5] - 4.25F * x[3] + x[1];
    vec even_2 = x[6] - 1.25F * x[4] + 0.25F * x[2];
    vec odd_2 = 2.0F * x[5] - 2.5F * x[3] + 0.5F * x[1];
    vec even_half = x[6] - 5.0F * x[4] + 4.0F * x[2];
    vec odd_half = 0.5F * x[5] - 2.5F * x[3] + 2.0F * x[1];
    at[0] = x[0] - x[6] + 5.25F * (x[4] - x[2]);
    at[step] = even_1 + odd_1;
    at[2 * step] = even_1 - odd_1;
    at[3 * step] = x[7] - x[1] + 5.25F * (x[3] - x[5]);
    at[4 * step] = even_2 + odd_2;
    at[5 * step] = even_2 - odd_2;
    at[6 * step] = even_half + odd_half;
    at[7 * step] = even_half - odd_half;
}

/* Those of a line of the kernel. */
DLK_INLINE void taps_at_points(const vec *w, vec *at, int step)
{
    vec even_1 = (w[0] + w[2] + w[4]) / -4.5F, odd_1 = (w[1] + w[3]) / -4.5F;
    vec even_2 = (w[0] + 4.0F * w[2] + 16.0F * w[4]) / 90.0F;
    vec odd_2 = (2.0F * w[1] + 8.0F * w[3]) / 90.0F;
    vec even_half = (w[0] + 0.25F * w[2] + 0.0625F * w[4]) / 1.40625F;
    vec odd_half = (0.5F * w[1] + 0.125F * w[3]) / 1.40625F;
    at[0] = w[0];
    at[step] = even_1 + odd_1;
    at[2 * step] = even_1 - odd_1;
    at[3 * step] = w[4];
    at[4 * step] = even_2 + odd_2;
    at[5 * step] = even_2 - odd_2;
    at[6 * step] = even_half + odd_half;
    at[7 * step] = even_half - odd_half;
}

/* What each share contributes to the four outputs, which are `step` apart. */
DLK_INLINE void outputs_from_first(const vec *at, vec *y, int step)
{
    vec sum = at[1] + at[2], difference = at[1] - at[2];
    y[0] = at[0] + sum;
    y[step] = difference;
    y[2 * step] = sum;
    y[3 * step] = difference + at[3];
}

DLK_INLINE void outputs_from_second(const vec *at, vec *y, int step)
{
    vec sum_2 = at[0] + at[1], difference_2 = at[0] - at[1];
    vec sum_half = at[2] + at[3], difference_half = at[2] - at[3];
    y[0] += sum_2 + sum_half;
    y[step] += 2.0F * difference_2 + 0.5F * difference_half;
    y[2 * step] += 4.0F * sum_2 + 0.25F * sum_half;
    y[3 * step] += 8.0F * difference_2 + 0.125F * difference_half;
}

#endif
