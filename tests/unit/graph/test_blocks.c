#include <criterion/criterion.h>

#include "graph/blocks.h"

Test(blocks, no_page_has_images_of_two_blocks)
{
    enum { IMAGES = 3 * DLB_BLOCK_IMAGES + 5 };
    const size_t sizes[] = {1, 100, 255, 256, 257, 5824, 65536};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int i = DLB_BLOCK_IMAGES; i < IMAGES; i += DLB_BLOCK_IMAGES) {
            size_t last = dlb_blocks_at(i - 1, sizes[s]) + sizes[s] - 1;
            cr_assert_lt(last / DLB_PAGE, dlb_blocks_at(i, sizes[s]) / DLB_PAGE);
        }
}

Test(blocks, images_lie_one_behind_the_other_in_a_block_and_have_room_in_all)
{
    for (int images = 1; images <= 2 * DLB_BLOCK_IMAGES; images++) {
        for (int i = 1; i < images; i++)
            if (i % DLB_BLOCK_IMAGES != 0)
                cr_assert_eq(dlb_blocks_at(i, 300), dlb_blocks_at(i - 1, 300) + 300);
        cr_assert_eq(dlb_blocks_bytes(images, 300), dlb_blocks_at(images - 1, 300) + 300);
    }
}

Test(blocks, the_first_half_has_whole_blocks_and_all_images_of_a_single_one)
{
    cr_assert_eq(dlb_blocks_half(64), 32);
    cr_assert_eq(dlb_blocks_half(60), 32);
    cr_assert_eq(dlb_blocks_half(33), 32);
    cr_assert_eq(dlb_blocks_half(17), 16);
    cr_assert_eq(dlb_blocks_half(9), 9);
}
