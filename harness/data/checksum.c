#include "data/checksum.h"

#include <endian.h>

/*
 * Multiply and rotate over little-endian 64-bit words, with constants of xxHash64. Each step is a
 * bijection of the sum, so a change within a single word is never missed.
 */
static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * 0x9e3779b185ebca87u;
    sum = (sum << 31 | sum >> 33) * 0xc2b2ae3d27d4eb4fu;
    return sum;
}

static uint64_t load(const uint8_t *bytes, size_t count)
{
    uint64_t word = 0;
    memcpy(&word, bytes, count);
    return le64toh(word);
}

/* Four words a turn go into sums of their own: one sum alone would wait for each multiplication. */
uint64_t dlb_checksum(uint64_t sum, const uint8_t *bytes, size_t count)
{
    enum { LANES = 4, WORD = sizeof(uint64_t) };
    uint64_t lane[LANES] = {0};
    size_t at = 0;
    for (; at + LANES * WORD <= count; at += LANES * WORD)
        for (size_t i = 0; i < LANES; i++)
            lane[i] = mix(lane[i], load(bytes + at + i * WORD, WORD));

    sum = mix(sum, count);
    for (size_t i = 0; i < LANES; i++)
        sum = mix(sum, lane[i]);
    for (; at < count; at += WORD)
        sum = mix(sum, load(bytes + at, count - at < WORD ? count - at : WORD));
    return sum ^ sum >> 32;
}
