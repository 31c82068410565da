#include "plan/hash.h"

uint64_t dlb_hash_mix(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

uint64_t dlb_hash_bytes(uint64_t seed, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    uint64_t hash = seed ^ UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return dlb_hash_mix(hash);
}

uint64_t dlb_hash_text(uint64_t seed, const char *text)
{
    return dlb_hash_bytes(seed, text, strlen(text));
}
