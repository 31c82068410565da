/* Forward of pooled stages, five wide, by Winograd's algorithm along rows. */
#include <criterion/criterion.h>

#include "forward_kit.h"
#include "kit.h"

/* What winograd_rows.c states, relative to the sum of absolute products. */
static const double bound = 1e-6;

static const char NAME[] = "winograd 1x5";

static dlk_conv2d tall_conv(int kh, int h, int w, int c, int oc)
{
    return (dlk_conv2d){1, h, w, c, oc, kh, 5, 1, 1, 0, 0};
}

static dlk_conv2d conv(int h, int w, int c, int oc)
{
    return tall_conv(5, h, w, c, oc);
}

static void agree_on_shapes(const dlk_stage_forward *kernel)
{
    const dlk_conv2d shapes[] = {
        conv(28, 28, 1, 10),         conv(12, 12, 3, 20),       conv(6, 6, 1, 1),
        conv(7, 9, 16, 3),           conv(9, 44, 2, 31),        conv(36, 6, 1, 9),
        tall_conv(1, 28, 28, 1, 10), tall_conv(2, 9, 20, 3, 5), tall_conv(7, 14, 33, 2, 13)};
    for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        dlk_stage s = {shapes[i], .relu = true, .pool = true};
        check_stage_forward(kernel, &s, (stage_options){.winner = true, .seed = i}, bound);
    }
}

Test(winograd_rows, agrees_with_double_at_every_size)
{
    on_every_isa(NAME, agree_on_shapes);
}

static void agree_on_random_shapes(const dlk_stage_forward *kernel)
{
    for (uint32_t i = 0; i < 40; i++) {
        int kh = kit_pick(5, i, 1, 7);
        dlk_conv2d shape = tall_conv(kh, kh + kit_pick(1, i, 1, 20), 5 + kit_pick(2, i, 1, 40),
                                     kit_pick(3, i, 1, 11), 2 * kit_pick(4, i, 1, 20) - 1);
        dlk_stage s = {shape, .relu = i % 4 != 0, .pool = true};
        stage_options o = {.winner = i % 5 != 0,
                           .drop = i % 2 ? 0.25 : 0,
                           .drop_planes = i % 3 ? 0.5 : 0,
                           .seed = i};
        check_stage_forward(kernel, &s, o, bound);
    }
}

Test(winograd_rows, agrees_with_double_whatever_follows_the_convolution)
{
    on_every_isa(NAME, agree_on_random_shapes);
}

Test(winograd_rows, marks_windows_without_a_gradient_as_dead)
{
    with_conv(NAME, check_forward_dead, conv(9, 12, 1, 7));
}

Test(winograd_rows, lets_the_first_of_equals_win)
{
    with_conv(NAME, check_forward_ties, conv(9, 12, 1, 7));
}

Test(winograd_rows, loses_no_value_that_is_not_finite)
{
    with_conv(NAME, check_forward_not_finite, conv(8, 8, 2, 3));
}

Test(winograd_rows, gives_the_same_bits_wherever_arrays_lie)
{
    with_conv(NAME, check_forward_alignment, conv(11, 10, 1, 20));
}

Test(winograd_rows, takes_and_makes_planes)
{
    with_conv(NAME, check_forward_planes, conv(28, 28, 1, 10));
    with_conv(NAME, check_forward_planes, conv(7, 6, 5, 3));
    with_conv(NAME, check_forward_planes, conv(10, 43, 4, 9));
}

static void refuse(const dlk_stage_forward *kernel)
{
    dlk_stage fits = {.conv = conv(12, 12, 1, 10), .pool = true}, s = fits;
    cr_assert_null(kernel->misfit(&fits));
    s.conv.kh = 3;
    cr_assert_null(kernel->misfit(&s));
    s.conv.kw = 3;
    cr_assert_str_eq(kernel->misfit(&s), "its kernel is not five wide");
    s = fits;
    s.pool = false;
    cr_assert_str_eq(kernel->misfit(&s), "it has no pool");
    s = fits;
    s.conv.oc = 64;
    cr_assert_str_eq(kernel->misfit(&s), "its channels fill vectors");
}

Test(winograd_rows, says_what_it_does_not_fit)
{
    on_every_isa(NAME, refuse);
}
