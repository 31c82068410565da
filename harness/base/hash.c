#include "base/hash.h"

enum { WORD = sizeof(uint64_t) };

/* The product takes low bits to high ones; the shift brings them back. */
static uint64_t stir(uint64_t hash)
{
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static uint64_t mix(uint64_t hash, const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, WORD);
    return stir(hash ^ word);
}

/* The last word overlaps the one before it; a count below that of a word is filled up. */
uint64_t dlb_hash(const void *bytes, size_t count)
{
    const unsigned char *from = bytes;
    uint64_t hash = count;
    if (count < WORD) {
        unsigned char filled[WORD] = {0};
        for (size_t i = 0; i < count; i++)
            filled[i] = from[i];
        return stir(mix(hash, filled));
    }
    for (size_t i = 0; i + WORD < count; i += WORD)
        hash = mix(hash, from + i);
    return stir(mix(hash, from + count - WORD));
}
