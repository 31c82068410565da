/* The exponential function of vectors. */
#ifndef DLK_SIMD_EXP_H
#define DLK_SIMD_EXP_H

#include "simd/vec.h"

/*
 * e^x for x <= 0, to 2 units in the last place; 0 where that would be a denormal, and anything for
 * a NaN. x = n ln 2 + r with |r| <= ln 2 / 2, ln 2 in two parts of which n times the first is
 * exact; the polynomial for e^r is that of Cephes.
 */
DLK_INLINE vec exp_negative(vec x)
{
    const float rounding = 12582912.0F; /* 1.5 · 2²³: adding it leaves a whole number */
    vec shifted = x * 1.44269504F + rounding, n = shifted - rounding;
    vec r = x - n * 0.693359375F + n * 2.12194440e-4F;
    vec p = splat(1.9875691500e-4F);
    p = p * r + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    p = p * (r * r) + r + 1.0F;
    ivec exponent = (ivec)shifted << 23; /* of shifted, only the last bits of n stay */
    return choose(x < -87.0F, (vec){0}, (vec)((ivec)p + exponent));
}

#endif
