/*
 * Vectors of floats, and the name of the instruction set that a file is being compiled for.
 *
 * Every file of simd/ but family.c is compiled once for each instruction set, with DLK_ISA (sse,
 * avx2, avx512) and DLK_WIDTH (4, 8, 16 floats) defined. What it exports is named by
 * DLK_SIMD(thing), which is dlk_avx512_thing and so on; everything else in it is static.
 *
 * The types are the compilers' vector extensions: +, -, * and comparisons work element by element,
 * and a product added to something becomes a fused multiply-add where there is one.
 */
#ifndef DLK_SIMD_VEC_H
#define DLK_SIMD_VEC_H

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define DLK_JOIN_NAMES(isa, name) dlk_##isa##_##name
#define DLK_JOIN(isa, name)       DLK_JOIN_NAMES(isa, name)
#define DLK_SIMD(name)            DLK_JOIN(DLK_ISA, name)

enum { V = DLK_WIDTH };

/* Registers for accumulators, with enough left over for operands. */
enum { ACCUMULATORS = DLK_WIDTH == 16 ? 24 : 12 };

typedef float vec __attribute__((vector_size(4 * DLK_WIDTH)));
typedef int32_t ivec __attribute__((vector_size(4 * DLK_WIDTH))); /* masks: 0 or -1 */
typedef float vec_at_float __attribute__((vector_size(4 * DLK_WIDTH), aligned(4), may_alias));

#define DLK_INLINE static inline __attribute__((always_inline))

/* No alignment but that of a float is asked for. */
DLK_INLINE vec load(const float *from)
{
    return *(const vec_at_float *)from;
}

DLK_INLINE void store(float *to, vec value)
{
    *(vec_at_float *)to = value;
}

/* The first `count` elements, of 0 … V; the others are 0. */
DLK_INLINE vec load_some(const float *from, int count)
{
#if DLK_WIDTH == 16
    return (vec)_mm512_maskz_loadu_ps((__mmask16)((1U << count) - 1), from);
#else
    vec value = {0};
    memcpy(&value, from, (size_t)count * sizeof *from);
    return value;
#endif
}

DLK_INLINE void store_some(float *to, vec value, int count)
{
#if DLK_WIDTH == 16
    _mm512_mask_storeu_ps(to, (__mmask16)((1U << count) - 1), (__m512)value);
#else
    memcpy(to, &value, (size_t)count * sizeof *to);
#endif
}

/* Behind the end not even nothing is loaded: a mask hides a missing page, but slowly. */
DLK_INLINE vec load_before(const float *from, const float *end)
{
    ptrdiff_t room = end - from;
    if (room >= V)
        return load(from);
    return room > 0 ? load_some(from, (int)room) : (vec){0};
}

DLK_INLINE void store_before(float *to, const float *end, vec value)
{
    ptrdiff_t room = end - to;
    if (room >= V)
        store(to, value);
    else if (room > 0)
        store_some(to, value, (int)room);
}

DLK_INLINE vec splat(float value)
{
    return value - (vec){0};
}

/* 0, 1, 2, … */
DLK_INLINE ivec lane_numbers(void)
{
    ivec lane;
    for (int i = 0; i < V; i++)
        lane[i] = i;
    return lane;
}

DLK_INLINE vec choose(ivec mask, vec yes, vec no)
{
    return (vec)((mask & (ivec)yes) | (~mask & (ivec)no));
}

/* Where one is a NaN, b. */
DLK_INLINE vec larger(vec a, vec b)
{
#if DLK_WIDTH == 16
    return (vec)_mm512_max_ps((__m512)a, (__m512)b);
#elif DLK_WIDTH == 8
    return (vec)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return choose(a > b, a, b);
#endif
}

/* A NaN stays a NaN. */
DLK_INLINE vec relu(vec x)
{
    return larger((vec){0}, x);
}

/* How many of those left make the next block, if they come in the fewest of at most `most`, evenly.
 */
DLK_INLINE int next_block(int left, int most)
{
    int blocks = (left + most - 1) / most;
    return (left + blocks - 1) / blocks;
}

DLK_INLINE int vectors_of(int floats)
{
    return (floats + V - 1) / V;
}

/* Bit i: element i of the mask is set. */
DLK_INLINE uint32_t mask_bits(ivec mask)
{
#if defined(__AVX512DQ__)
    return _cvtmask16_u32(_mm512_movepi32_mask((__m512i)mask));
#elif defined(__AVX2__)
    return (uint32_t)_mm256_movemask_ps((__m256)mask);
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_ps((__m128)mask);
#else
    uint32_t bits = 0;
    for (int i = 0; i < V; i++)
        bits |= (uint32_t)(mask[i] & 1) << i;
    return bits;
#endif
}

/*
 * Before a loop of a constant number of rounds: write them all out, early enough that an array
 * which they index becomes registers. (clang heeds GCC's pragma too late for that. An instrumented
 * build keeps its loops: compiling it would take minutes.)
 */
#if !defined(NDEBUG)
#define DLK_UNROLL
#elif defined(__clang__)
#define DLK_UNROLL _Pragma("clang loop unroll(full)")
#else
#define DLK_UNROLL _Pragma("GCC unroll 64")
#endif

/*
 * CALL(number), a macro's, with a number of 1 … most that the compiler knows in each call, so that
 * arrays which it sizes become registers.
 */
#define DLK_WITH_CONSTANT(number, most, CALL)                                                      \
    do {                                                                                           \
        _Static_assert((most) <= 8, "a case for every number");                                    \
        switch (number) {                                                                          \
            DLK_CONSTANT_CASE(1, most, CALL)                                                       \
            DLK_CONSTANT_CASE(2, most, CALL)                                                       \
            DLK_CONSTANT_CASE(3, most, CALL)                                                       \
            DLK_CONSTANT_CASE(4, most, CALL)                                                       \
            DLK_CONSTANT_CASE(5, most, CALL)                                                       \
            DLK_CONSTANT_CASE(6, most, CALL)                                                       \
            DLK_CONSTANT_CASE(7, most, CALL)                                                       \
            DLK_CONSTANT_CASE(8, most, CALL)                                                       \
        }                                                                                          \
    } while (0)

/* What is beyond `most` is called with it: it is never reached, and no other size is compiled. */
#define DLK_CONSTANT_CASE(constant, most, CALL)                                                    \
    case constant:                                                                                 \
        if ((constant) <= (most))                                                                  \
            CALL((constant) <= (most) ? (constant) : (most));                                      \
        break;

#endif
