/* Philox 4×32-10 as dlk/rng.h keys it, inline for kernels that draw many blocks. */
#ifndef DLK_PHILOX_H
#define DLK_PHILOX_H

#include <Random123/philox.h>

#include "dlk/rng.h"

static inline philox4x32_ctr_t dlk_philox(const dlk_rng_key *key, uint32_t block)
{
    philox4x32_ctr_t counter = {{block, key->step, key->epoch, key->worker}};
    philox4x32_key_t words = {{key->seed, (uint32_t)key->purpose << 16 | key->stream}};
    return philox4x32(counter, words);
}

#endif
