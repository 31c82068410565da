#include <criterion/criterion.h>
#include <math.h>

#include "dlk/rng.h"

static dlk_rng_key key_of(uint32_t key0, uint32_t key1, uint32_t step, uint32_t epoch,
                          uint32_t worker)
{
    return (dlk_rng_key){.seed = key0,
                         .purpose = (uint16_t)(key1 >> 16),
                         .stream = (uint16_t)key1,
                         .epoch = epoch,
                         .step = step,
                         .worker = worker};
}

static void expect_block(const dlk_rng_key *key, uint32_t block, const uint32_t want[4])
{
    uint32_t got[4];
    dlk_rng_block(key, block, got);
    cr_assert(memcmp(got, want, sizeof got) == 0, "%08x %08x %08x %08x", got[0], got[1], got[2],
              got[3]);
}

/* From kat_vectors of Random123: philox 4x32, 10 rounds. */
Test(rng, is_the_published_philox)
{
    uint32_t all = 0xffffffff;
    dlk_rng_key zeros = key_of(0, 0, 0, 0, 0), ones = key_of(all, all, all, all, all);
    dlk_rng_key pi = key_of(0xa4093822, 0x299f31d0, 0x85a308d3, 0x13198a2e, 0x03707344);
    expect_block(&zeros, 0, (uint32_t[]){0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    expect_block(&ones, all, (uint32_t[]){0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    expect_block(&pi, 0x243f6a88, (uint32_t[]){0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

Test(rng, elements_are_those_of_the_blocks)
{
    dlk_rng_key key = key_of(5, 6, 7, 8, 9);
    for (uint32_t index = 0; index < 100; index++) {
        uint32_t words[4];
        dlk_rng_block(&key, index / 4, words);
        float want = (float)(words[index % 4] >> 8) / 16777216.0F;
        cr_assert(dlk_rng_uniform(&key, index) == want, "element %u", index);
    }
}

Test(rng, uniform_numbers_fill_the_interval_evenly)
{
    enum { DRAWS = 100000, BINS = 20 };
    dlk_rng_key key = key_of(1, 2, 3, 4, 5);
    int bins[BINS] = {0};
    double sum = 0;
    for (uint32_t i = 0; i < DRAWS; i++) {
        float u = dlk_rng_uniform(&key, i);
        cr_assert(u >= 0.0F && u < 1.0F);
        bins[(int)(u * BINS)]++;
        sum += (double)u;
    }
    cr_assert(fabs(sum / DRAWS - 0.5) < 4 / sqrt(12.0 * DRAWS));
    for (int b = 0; b < BINS; b++)
        cr_assert(abs(bins[b] - DRAWS / BINS) < 4 * sqrt((double)DRAWS / BINS), "bin %d", b);
}

Test(rng, below_stays_below_and_reaches_every_value)
{
    dlk_rng_key key = key_of(1, 2, 3, 4, 5);
    int seen[7] = {0};
    for (uint32_t i = 0; i < 7000; i++) {
        uint32_t value = dlk_rng_below(&key, i, 7);
        cr_assert(value < 7);
        seen[value]++;
    }
    for (int v = 0; v < 7; v++)
        cr_assert(abs(seen[v] - 1000) < 150, "value %d: %d of 7000", v, seen[v]);
    for (uint32_t i = 0; i < 100; i++)
        cr_assert(dlk_rng_below(&key, i, 1) == 0);
}

/* Shuffles and masks of different purposes must not be related. */
Test(rng, every_part_of_the_key_matters)
{
    dlk_rng_key base = key_of(1, 0x00010001, 1, 1, 1), keys[6];
    uint32_t first[4], other[4];
    for (int i = 0; i < 6; i++)
        keys[i] = base;
    keys[0].seed++, keys[1].purpose++, keys[2].stream++;
    keys[3].epoch++, keys[4].step++, keys[5].worker++;
    dlk_rng_block(&base, 0, first);
    for (int i = 0; i < 6; i++) {
        dlk_rng_block(&keys[i], 0, other);
        cr_assert(memcmp(first, other, sizeof first) != 0, "part %d", i);
    }
}
