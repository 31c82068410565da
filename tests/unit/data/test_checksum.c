#include "data/checksum.h"

#include <criterion/criterion.h>

static const uint8_t text[] = "The quick brown fox jumps over the lazy dog";

Test(checksum, is_the_same_on_every_machine)
{
    cr_assert_eq(dlb_checksum(0, text, sizeof text), 0xf4a3ab2eea79afd5u);
}

Test(checksum, every_single_bit_changes_it)
{
    uint64_t sum = dlb_checksum(0, text, sizeof text);
    for (size_t bit = 0; bit < 8 * sizeof text; bit++) {
        uint8_t changed[sizeof text];
        memcpy(changed, text, sizeof text);
        changed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        cr_assert_neq(dlb_checksum(0, changed, sizeof changed), sum, "bit %zu", bit);
    }
}

Test(checksum, trailing_zeros_and_the_order_of_blocks_count)
{
    const uint8_t zeros[32] = {0};
    cr_assert_neq(dlb_checksum(0, zeros, 16), dlb_checksum(0, zeros, 17));
    cr_assert_neq(dlb_checksum(dlb_checksum(0, text, 8), text + 8, 8),
                  dlb_checksum(dlb_checksum(0, text + 8, 8), text, 8));
}
