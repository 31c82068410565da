#include "dlk/rng.h"

#include <string.h>

#include "philox.h"

void dlk_rng_block(const dlk_rng_key *key, uint32_t block, uint32_t out[4])
{
    philox4x32_ctr_t words = dlk_philox(key, block);
    memcpy(out, words.v, sizeof words.v);
}

static uint32_t element(const dlk_rng_key *key, uint32_t index)
{
    return dlk_philox(key, index / 4).v[index % 4];
}

float dlk_rng_uniform(const dlk_rng_key *key, uint32_t index)
{
    return (float)(element(key, index) >> 8) * 0x1p-24F;
}

uint32_t dlk_rng_below(const dlk_rng_key *key, uint32_t index, uint32_t bound)
{
    return (uint32_t)((uint64_t)element(key, index) * bound >> 32);
}
