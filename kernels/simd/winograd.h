/*
 * What Winograd's algorithms at six points have in common: F(4, 3) makes four outputs with a kernel
 * of three elements, F(2, 5) two with one of five, both from a line of six inputs.
 */
#ifndef DLK_SIMD_WINOGRAD_H
#define DLK_SIMD_WINOGRAD_H

#include <stddef.h>

#include "simd/vec.h"

/* A patch of inputs, and the points of both directions. */
enum { PATCH = 6, POINTS = PATCH * PATCH };

/*
 * The points are 0, ±NEAR, ±FAR and infinity. With NEAR = 1 / FAR, errors are a quarter of those at
 * the usual ±1 and ±2, and their squares are 1/2 and 2.
 */
static const float NEAR = 0.707106781F, FAR = 1.41421356F;

/* A line of the input at the points, `step` apart, up to factors that `weights_at_points` takes
 * back. */
DLK_INLINE void input_at_points(const vec *x, vec *at, int step)
{
    vec even_near = x[4] - 2.0F * x[2], odd_near = x[3] - 2.0F * x[1];
    vec even_far = x[4] - 0.5F * x[2], odd_far = x[3] - 0.5F * x[1];
    at[0] = x[4] - 2.5F * x[2] + x[0];
    at[step] = even_near + NEAR * odd_near;
    at[2 * step] = even_near - NEAR * odd_near;
    at[3 * step] = even_far + FAR * odd_far;
    at[4 * step] = even_far - FAR * odd_far;
    at[5 * step] = x[5] - 2.5F * x[3] + x[1];
}

/* Those of a line of the kernel, which has 3 or 5 elements. */
DLK_INLINE void weights_at_points(const int taps, const vec *w, vec *at, int step)
{
    vec even_near = w[0] + 0.5F * w[2], odd_near = w[1];
    vec even_far = w[0] + 2.0F * w[2], odd_far = w[1];
    if (taps == 5) {
        even_near += 0.25F * w[4], odd_near += 0.5F * w[3];
        even_far += 4.0F * w[4], odd_far += 2.0F * w[3];
    }
    even_near *= -FAR / 3, odd_near *= -1 / 3.0F;
    even_far *= FAR / 6, odd_far *= 1 / 3.0F;
    at[0] = w[0];
    at[step] = even_near + odd_near;
    at[2 * step] = even_near - odd_near;
    at[3 * step] = even_far + odd_far;
    at[4 * step] = even_far - odd_far;
    at[5 * step] = w[taps - 1];
}

/*
 * A patch at all points: V channels or V patches at once. Its even and its odd rows start every
 * `row` floats, its pixels every `column`; rows of points every `to_row`, their points every
 * `step`.
 */
DLK_INLINE void patch_at_points(const float *even, const float *odd, ptrdiff_t row,
                                ptrdiff_t column, float *to, size_t to_row, size_t step)
{
    vec x[PATCH], half[POINTS], at[PATCH];
    DLK_UNROLL
    for (int j = 0; j < PATCH; j++) {
        DLK_UNROLL
        for (int i = 0; i < PATCH; i++)
            x[i] = load((i % 2 ? odd : even) + i / 2 * row + j * column);
        input_at_points(x, half + j, PATCH);
    }
    DLK_UNROLL
    for (size_t i = 0; i < PATCH; i++) {
        input_at_points(half + PATCH * i, at, 1);
        DLK_UNROLL
        for (size_t j = 0; j < PATCH; j++)
            store(to + i * to_row + j * step, at[j]);
    }
}

/* The same of one input channel's weights for V output channels; elements are `tap` apart. */
DLK_INLINE void kernel_at_points(const int taps, const float *weights, size_t tap, float *to,
                                 size_t step)
{
    enum { MOST_TAPS = 5 };
    vec w[MOST_TAPS], half[PATCH * MOST_TAPS], at[PATCH];
    for (int j = 0; j < taps; j++) {
        for (int i = 0; i < taps; i++)
            w[i] = load(weights + (size_t)(taps * i + j) * tap);
        weights_at_points(taps, w, half + j, taps);
    }
    for (int i = 0; i < PATCH; i++) {
        weights_at_points(taps, half + taps * i, at, 1);
        for (int j = 0; j < PATCH; j++)
            store(to + (size_t)(PATCH * i + j) * step, at[j]);
    }
}

/* ---- F(2, 5): from points to outputs ---- */

/* A line of points has two shares: 0 and the near ones, the far ones and infinity. */
enum { SHARE = PATCH / 2 };

/* What each contributes to the line's two outputs, which are `step` apart. */
DLK_INLINE void pair_from_near(const vec *at, vec *y, int step)
{
    y[0] = at[0] + FAR * (at[1] + at[2]);
    y[step] = at[1] - at[2];
}

DLK_INLINE void pair_from_far(const vec *at, vec *y, int step)
{
    y[0] += NEAR * (at[0] + at[1]);
    y[step] += at[2] + (at[0] - at[1]);
}

DLK_INLINE void pair_from_points(const vec *at, vec *y, int step)
{
    pair_from_near(at, y, step);
    pair_from_far(at + SHARE, y, step);
}

#endif
