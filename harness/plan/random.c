#include "plan/random.h"

#include "plan/hash.h"

static uint64_t next(dlb_random *random)
{
    return dlb_hash_mix(random->state += UINT64_C(0x9e3779b97f4a7c15));
}

dlb_random dlb_random_stream(uint64_t seed, uint64_t stream)
{
    return (dlb_random){dlb_hash_mix(dlb_hash_mix(seed) + stream)};
}

/* A number below `bound`, without bias (Lemire 2019). */
static uint32_t below(dlb_random *random, uint32_t bound)
{
    uint32_t unfair = -bound % bound; /* 2^32 mod bound */
    for (;;) {
        uint64_t scaled = (next(random) >> 32) * bound;
        if ((uint32_t)scaled >= unfair)
            return (uint32_t)(scaled >> 32);
    }
}

void dlb_random_shuffle(dlb_random *random, uint32_t *items, size_t count)
{
    for (size_t left = count; left > 1; left--) {
        uint32_t chosen = below(random, (uint32_t)left);
        uint32_t last = items[left - 1];
        items[left - 1] = items[chosen];
        items[chosen] = last;
    }
}
