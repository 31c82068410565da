/* Forward of pooled 5×5 stages by Winograd's algorithm, windows in the vectors' elements. */
#include <criterion/criterion.h>

#include "forward_kit.h"
#include "kit.h"

/* What winograd_windows.c states, relative to the sum of absolute products. */
static const double bound = 1e-6;

static const char NAME[] = "winograd 5x5";

static dlk_conv2d conv(int h, int w, int c, int oc)
{
    return (dlk_conv2d){1, h, w, c, oc, 5, 5, 1, 1, 0, 0};
}

static void agree_on_shapes(const dlk_stage_forward *kernel)
{
    const dlk_conv2d shapes[] = {conv(12, 12, 10, 20), conv(14, 14, 6, 16), conv(6, 6, 4, 1),
                                 conv(7, 9, 17, 3),    conv(9, 44, 5, 33),  conv(36, 6, 4, 64),
                                 conv(8, 8, 64, 11)};
    for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        dlk_stage s = {shapes[i], .relu = true, .pool = true};
        check_stage_forward(kernel, &s, (stage_options){.winner = true, .seed = i}, bound);
    }
}

Test(winograd_windows, agrees_with_double_at_every_size)
{
    on_every_isa(NAME, agree_on_shapes);
}

static void agree_on_random_shapes(const dlk_stage_forward *kernel)
{
    for (uint32_t i = 0; i < 40; i++) {
        dlk_conv2d shape = conv(5 + kit_pick(1, i, 1, 20), 5 + kit_pick(2, i, 1, 40),
                                kit_pick(3, i, 4, 20), kit_pick(4, i, 1, 40));
        dlk_stage s = {shape, .relu = i % 4 != 0, .pool = true};
        stage_options o = {.winner = i % 5 != 0,
                           .drop = i % 2 ? 0.25 : 0,
                           .drop_planes = i % 3 ? 0.5 : 0,
                           .seed = i};
        check_stage_forward(kernel, &s, o, bound);
    }
}

Test(winograd_windows, agrees_with_double_whatever_follows_the_convolution)
{
    on_every_isa(NAME, agree_on_random_shapes);
}

Test(winograd_windows, marks_windows_without_a_gradient_as_dead)
{
    with_conv(NAME, check_forward_dead, conv(9, 12, 8, 7));
}

Test(winograd_windows, lets_the_first_of_equals_win)
{
    with_conv(NAME, check_forward_ties, conv(9, 12, 8, 7));
}

Test(winograd_windows, loses_no_value_that_is_not_finite)
{
    with_conv(NAME, check_forward_not_finite, conv(8, 8, 5, 3));
}

Test(winograd_windows, gives_the_same_bits_wherever_arrays_lie)
{
    with_conv(NAME, check_forward_alignment, conv(11, 10, 9, 20));
}

Test(winograd_windows, takes_and_makes_planes)
{
    with_conv(NAME, check_forward_planes, conv(12, 12, 10, 20));
    with_conv(NAME, check_forward_planes, conv(7, 6, 5, 3));
    with_conv(NAME, check_forward_planes, conv(10, 43, 4, 9));
}

static void refuse(const dlk_stage_forward *kernel)
{
    dlk_stage fits = {.conv = conv(12, 12, 10, 20), .pool = true}, s = fits;
    cr_assert_null(kernel->misfit(&fits));
    s.conv.kw = 3;
    cr_assert_str_eq(kernel->misfit(&s), "its kernel is not 5x5");
    s = fits;
    s.conv.c = 3;
    cr_assert_str_eq(kernel->misfit(&s), "it has fewer than 4 input channels");
    s = fits;
    s.pool = false;
    cr_assert_str_eq(kernel->misfit(&s), "it has no pool");
    s = fits;
    s.conv = conv(6, 6, 10, 64);
    cr_assert_str_eq(kernel->misfit(&s), "its channels fill vectors, its windows not half of them");
    s.conv.oc--;
    cr_assert_null(kernel->misfit(&s));
}

Test(winograd_windows, says_what_it_does_not_fit)
{
    on_every_isa(NAME, refuse);
}
