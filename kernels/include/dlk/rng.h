/*
 * Counter-based random numbers (Philox 4×32-10 of Random123).
 *
 * A number is a pure function of (seed, purpose, stream, epoch, step, worker, index): no state,
 * so shuffles and masks never depend on threads, ranks, or the order in which they are drawn.
 */
#ifndef DLK_RNG_H
#define DLK_RNG_H

#include <stdint.h>

typedef enum dlk_purpose {
    DLK_RNG_INIT = 1,  /* initial weights; stream = parameter */
    DLK_RNG_SHUFFLE,   /* order of an epoch */
    DLK_RNG_DROPOUT,   /* masks; stream = layer */
    DLK_RNG_SYNTHETIC, /* made-up data */
} dlk_purpose;

/* What a sequence is drawn for; the index within it is given with each call. */
typedef struct dlk_rng_key {
    uint32_t seed;
    uint16_t purpose; /* dlk_purpose */
    uint16_t stream;  /* layer, parameter, … */
    uint32_t epoch, step, worker;
} dlk_rng_key;

/* Four uniform 32-bit numbers: elements 4*block … 4*block+3 of the key's sequence. */
void dlk_rng_block(const dlk_rng_key *key, uint32_t block, uint32_t out[4]);

/* Element `index` of the key's sequence, uniform in [0, 1) with 24 bits. */
float dlk_rng_uniform(const dlk_rng_key *key, uint32_t index);

/* Element `index`, uniform in 0 … bound-1 (bound > 0), by multiplication without division. */
uint32_t dlk_rng_below(const dlk_rng_key *key, uint32_t index, uint32_t bound);

#endif
