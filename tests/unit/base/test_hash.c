#include <criterion/criterion.h>

#include "base/hash.h"
#include "base/mem.h"

Test(hash, the_bytes_alone_count)
{
    const char text[] = "xp123-r4 p123-r4";
    cr_assert_eq(dlb_hash(text + 1, 7), dlb_hash(text + 9, 7));
    cr_assert_eq(dlb_hash(NULL, 0), dlb_hash(text, 0));
}

Test(hash, length_counts_as_well)
{
    const char zeros[24] = {0};
    for (size_t a = 0; a < sizeof zeros; a++)
        for (size_t b = 0; b < a; b++)
            cr_assert_neq(dlb_hash(zeros, a), dlb_hash(zeros, b), "%zu and %zu", a, b);
}

Test(hash, every_byte_changes_every_part)
{
    for (size_t count = 1; count <= 24; count++)
        for (size_t at = 0; at < count; at++) {
            char bytes[24] = {0};
            uint64_t changed = 0, before = dlb_hash(bytes, count);
            for (int value = 1; value < 256; value++) {
                bytes[at] = (char)value;
                changed |= dlb_hash(bytes, count) ^ before;
            }
            cr_assert_eq(changed, UINT64_MAX, "byte %zu of %zu", at, count);
        }
}

/* How many of those names share the lowest bits with one before. */
static int shared(const char *format, int names, int bits)
{
    char *taken = dlb_alloc((size_t)1 << bits, 1);
    int shared = 0;
    for (int i = 0; i < names; i++) {
        char name[64];
        size_t length = (size_t)snprintf(name, sizeof name, format, i);
        char *slot = &taken[dlb_hash(name, length) & (((uint64_t)1 << bits) - 1)];
        shared += *slot;
        *slot = 1;
    }
    free(taken);
    return shared;
}

/* By chance 100000 names in 2^18 slots leave some 16850 to share one. */
Test(hash, names_that_differ_little_spread_as_if_by_chance)
{
    const char *const formats[] = {"%d",         "%08d",          "p%07d",       "%015d",
                                   "%016d",      "%06d-r1",       "point-%d-r3", "%d,host,ok",
                                   "node%010d-", "0.0000000001%d"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        int found = shared(formats[i], 100000, 18);
        cr_assert(found < 18500, "%s: %d share a slot", formats[i], found);
    }
}
