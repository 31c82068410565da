/* Moving elements of vectors: halves, every second float, transposing squares. */
#ifndef DLK_SIMD_SQUARES_H
#define DLK_SIMD_SQUARES_H

#include "simd/vec.h"

/* Lane: four floats of a vector. Indices count through a and then b. */
#if DLK_WIDTH == 16
#define DLK_PAIRS_LOW   0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define DLK_PAIRS_HIGH  2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define DLK_HALVES_LOW  0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define DLK_HALVES_HIGH 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define DLK_LANES_EVEN  0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27
#define DLK_LANES_ODD   4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31
#define DLK_FLOATS_EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define DLK_FLOATS_ALL  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#elif DLK_WIDTH == 8
#define DLK_PAIRS_LOW   0, 8, 1, 9, 4, 12, 5, 13
#define DLK_PAIRS_HIGH  2, 10, 3, 11, 6, 14, 7, 15
#define DLK_HALVES_LOW  0, 1, 8, 9, 4, 5, 12, 13
#define DLK_HALVES_HIGH 2, 3, 10, 11, 6, 7, 14, 15
#define DLK_LANES_EVEN  0, 1, 2, 3, 8, 9, 10, 11
#define DLK_LANES_ODD   4, 5, 6, 7, 12, 13, 14, 15
#define DLK_FLOATS_EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define DLK_FLOATS_ALL  0, 1, 2, 3, 4, 5, 6, 7
#else
#define DLK_PAIRS_LOW   0, 4, 1, 5
#define DLK_PAIRS_HIGH  2, 6, 3, 7
#define DLK_HALVES_LOW  0, 1, 4, 5
#define DLK_HALVES_HIGH 2, 3, 6, 7
#define DLK_FLOATS_EVEN 0, 2, 4, 6
#define DLK_FLOATS_ALL  0, 1, 2, 3
#endif

/* The first half of a vector; the other is 0. */
DLK_INLINE vec load_half(const float *from)
{
    typedef float half __attribute__((vector_size(2 * DLK_WIDTH), aligned(4), may_alias));
    half none = {0};
    return __builtin_shufflevector(*(const half *)from, none, DLK_FLOATS_ALL);
}

/* Elements 0, 2, 4 … of a and then b. */
DLK_INLINE vec even_floats(vec a, vec b)
{
    return __builtin_shufflevector(a, b, DLK_FLOATS_EVEN);
}

/* Elements index[0], index[1] … of a and then b. */
DLK_INLINE vec pick_floats(vec a, vec b, ivec index)
{
#if DLK_WIDTH == 16
    return (vec)_mm512_permutex2var_ps((__m512)a, (__m512i)index, (__m512)b);
#elif DLK_WIDTH == 8
    vec of_a = (vec)_mm256_permutevar8x32_ps((__m256)a, (__m256i)index);
    vec of_b = (vec)_mm256_permutevar8x32_ps((__m256)b, (__m256i)index);
    return choose(index >= V, of_b, of_a);
#else
    vec picked;
    for (int i = 0; i < V; i++)
        picked[i] = index[i] < V ? a[index[i]] : b[index[i] - V];
    return picked;
#endif
}

/* Transpose the 4×4 square in each lane of four vectors. */
DLK_INLINE void transpose_in_lanes(vec row[4])
{
    vec low01 = __builtin_shufflevector(row[0], row[1], DLK_PAIRS_LOW);
    vec high01 = __builtin_shufflevector(row[0], row[1], DLK_PAIRS_HIGH);
    vec low23 = __builtin_shufflevector(row[2], row[3], DLK_PAIRS_LOW);
    vec high23 = __builtin_shufflevector(row[2], row[3], DLK_PAIRS_HIGH);
    row[0] = __builtin_shufflevector(low01, low23, DLK_HALVES_LOW);
    row[1] = __builtin_shufflevector(low01, low23, DLK_HALVES_HIGH);
    row[2] = __builtin_shufflevector(high01, high23, DLK_HALVES_LOW);
    row[3] = __builtin_shufflevector(high01, high23, DLK_HALVES_HIGH);
}

#if DLK_WIDTH > 4
/* *a = the even lanes of both, *b = the odd ones */
DLK_INLINE void sort_lanes(vec *a, vec *b)
{
    vec even = __builtin_shufflevector(*a, *b, DLK_LANES_EVEN);
    *b = __builtin_shufflevector(*a, *b, DLK_LANES_ODD);
    *a = even;
}
#endif

/* Transpose the square of lanes that every fourth vector forms. */
DLK_INLINE void transpose_lanes(vec *row)
{
#if DLK_WIDTH == 16
    sort_lanes(&row[0], &row[4]);
    sort_lanes(&row[8], &row[12]);
    sort_lanes(&row[0], &row[8]);
    sort_lanes(&row[4], &row[12]);
#elif DLK_WIDTH == 8
    sort_lanes(&row[0], &row[4]);
#else
    (void)row;
#endif
}

/* Transpose V vectors of V floats. */
DLK_INLINE void transpose(vec row[V])
{
    DLK_UNROLL
    for (int i = 0; i < V; i += 4)
        transpose_in_lanes(row + i);
    DLK_UNROLL
    for (int i = 0; i < 4; i++)
        transpose_lanes(row + i);
}

/* One lane from each of V / 4 places, `stride` bytes apart. */
DLK_INLINE vec load_lanes_of_bytes(const void *from, size_t stride)
{
    const char *at = from;
#if DLK_WIDTH == 16
    __m512 lanes = _mm512_castps128_ps512(_mm_loadu_ps((const float *)at));
    lanes = _mm512_insertf32x4(lanes, _mm_loadu_ps((const float *)(at + stride)), 1);
    lanes = _mm512_insertf32x4(lanes, _mm_loadu_ps((const float *)(at + 2 * stride)), 2);
    return (vec)_mm512_insertf32x4(lanes, _mm_loadu_ps((const float *)(at + 3 * stride)), 3);
#elif DLK_WIDTH == 8
    return (vec)_mm256_loadu2_m128((const float *)(at + stride), (const float *)at);
#else
    (void)stride;
    vec lane;
    memcpy(&lane, at, sizeof lane);
    return lane;
#endif
}

/* The same, `stride` floats apart. */
DLK_INLINE vec load_lanes(const float *from, size_t stride)
{
    return load_lanes_of_bytes(from, stride * sizeof *from);
}

/* Store those elements whose bit is set, side by side; behind them up to V in all may be anything.
 */
DLK_INLINE void store_picked(float *to, vec value, uint32_t bits)
{
#if DLK_WIDTH == 16
    store(to, (vec)_mm512_maskz_compress_ps((__mmask16)bits, (__m512)value));
#elif DLK_WIDTH == 8
    static const int32_t picked[16][4] = {
        {0}, {0},    {1},    {0, 1},    {2},    {0, 2},    {1, 2},    {0, 1, 2},
        {3}, {0, 3}, {1, 3}, {0, 1, 3}, {2, 3}, {0, 2, 3}, {1, 2, 3}, {0, 1, 2, 3}};
    uint32_t low = bits & 15, high = bits >> 4;
    __m128i first = _mm_loadu_si128((const __m128i *)picked[low]);
    __m128i second = _mm_loadu_si128((const __m128i *)picked[high]);
    _mm_storeu_ps(to, _mm_permutevar_ps(_mm256_castps256_ps128((__m256)value), first));
    _mm_storeu_ps(to + __builtin_popcount(low),
                  _mm_permutevar_ps(_mm256_extractf128_ps((__m256)value, 1), second));
#else
    for (int i = 0; i < V; i++) {
        float element = value[i];
        memcpy(to, &element, sizeof element); /* which may be bits of an integer */
        to += bits >> i & 1;
    }
#endif
}

/*
 * The columns of a square in memory. Its lanes are in place as soon as they are loaded, which takes
 * ports that transposing them would leave idle.
 */
DLK_INLINE void load_columns(const float *from, size_t stride, vec column[V])
{
    DLK_UNROLL
    for (int c = 0; c < V; c += 4) {
        DLK_UNROLL
        for (int r = 0; r < 4; r++)
            column[c + r] = load_lanes(from + (size_t)r * stride + c, 4 * stride);
        transpose_in_lanes(column + c);
    }
}

#endif
