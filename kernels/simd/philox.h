/*
 * Philox 4×32-10 (kernels/philox.h), several blocks at a time: a 64-bit lane a block, of which the
 * low half counts. The high half may hold anything, because multiplications read the low one.
 */
#ifndef DLK_SIMD_PHILOX_H
#define DLK_SIMD_PHILOX_H

#include "dlk/rng.h"
#include "simd/vec.h"

enum { LANES = DLK_WIDTH / 2, DRAWS = 2 };

typedef uint64_t lanes __attribute__((vector_size(4 * DLK_WIDTH)));

/* The four 32-bit words of each block. */
typedef struct drawn {
    lanes word[4];
} drawn;

/* The whole products of the low halves. */
DLK_INLINE lanes multiply_low(lanes a, lanes b)
{
#if defined(__AVX512F__)
    return (lanes)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (lanes)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (lanes)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
    return (a & 0xffffffff) * (b & 0xffffffff);
#endif
}

/*
 * Hide where a value comes from. A shift of a product would be merged into the product, and that
 * become one of whole lanes, which takes three times as long.
 */
DLK_INLINE lanes opaque(lanes value)
{
#if defined(__x86_64__)
    __asm__("" : "+x"(value));
#endif
    return value;
}

DLK_INLINE lanes splat_lanes(uint64_t value)
{
    return value - (lanes){0};
}

DLK_INLINE void play_round(drawn *d, uint32_t k0, uint32_t k1)
{
    lanes a = multiply_low(d->word[0], splat_lanes(0xD2511F53));
    lanes b = multiply_low(d->word[2], splat_lanes(0xCD9E8D57));
    d->word[0] = b >> 32 ^ d->word[1] ^ splat_lanes(k0);
    d->word[1] = opaque(b);
    d->word[2] = a >> 32 ^ d->word[3] ^ splat_lanes(k1);
    d->word[3] = opaque(a);
}

/*
 * Blocks first … first + DRAWS * LANES - 1, modulo 2³², of a key's sequence. A round waits for the
 * one before, so several vectors of blocks take turns.
 */
DLK_INLINE void draw(const dlk_rng_key *key, uint32_t first, drawn d[DRAWS])
{
    uint32_t k0 = key->seed, k1 = (uint32_t)key->purpose << 16 | key->stream;
    lanes numbers;
    for (int i = 0; i < LANES; i++)
        numbers[i] = first + (uint32_t)i;
    for (int i = 0; i < DRAWS; i++)
        d[i] = (drawn){{numbers + (uint32_t)(i * LANES), splat_lanes(key->step),
                        splat_lanes(key->epoch), splat_lanes(key->worker)}};
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9, k1 += 0xBB67AE85)
        for (int i = 0; i < DRAWS; i++)
            play_round(&d[i], k0, k1);
}

#endif
