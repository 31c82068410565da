#include <criterion/criterion.h>

#include "forward_kit.h"

/* What direct.c states, relative to the sum of absolute products. */
static const double bound = 2e-6;

static dlk_conv2d conv(int h, int w, int c, int kernel, int oc)
{
    return (dlk_conv2d){1, h, w, c, oc, kernel, kernel, 1, 1, 0, 0};
}

static void agree_on_tails(const dlk_stage_forward *kernel)
{
    check_forward_tails(kernel, conv(9, 10, 3, 3, 48), bound);
}

Test(direct, agrees_with_double_whatever_follows_the_convolution)
{
    on_every_isa("direct", agree_on_tails);
}

static void agree_on_sizes(const dlk_stage_forward *kernel)
{
    const dlk_conv2d shapes[] = {conv(28, 28, 1, 3, 32), conv(3, 3, 1, 3, 16),
                                 conv(4, 4, 2, 3, 16),   conv(1, 1, 1, 1, 16),
                                 conv(7, 33, 5, 5, 32),  conv(12, 12, 8, 1, 16),
                                 conv(16, 15, 32, 3, 64)};
    check_forward_shapes(kernel, shapes, sizeof shapes / sizeof *shapes, bound);
}

Test(direct, agrees_with_double_at_every_size)
{
    on_every_isa("direct", agree_on_sizes);
}

static void agree_on_widths(const dlk_stage_forward *kernel)
{
    for (int w = 3; w <= 30; w++) {
        dlk_stage s = {conv(4, w, 2, 3, 48), .pool = w % 2};
        check_stage_forward(kernel, &s, (stage_options){.winner = true, .seed = 5}, bound);
    }
}

Test(direct, agrees_with_double_however_a_row_is_cut)
{
    on_every_isa("direct", agree_on_widths);
}

static void agree_on_strides(const dlk_stage_forward *kernel)
{
    for (int pool = 0; pool <= 1; pool++) {
        dlk_stage s = {conv(17, 14, 3, 4, 32), .relu = true, .pool = pool};
        s.conv.stride_h = 3;
        s.conv.stride_w = 2;
        s.conv.kw = 2;
        check_stage_forward(kernel, &s, (stage_options){.winner = true, .seed = 6}, bound);
    }
}

Test(direct, agrees_with_double_at_every_stride)
{
    on_every_isa("direct", agree_on_strides);
}

Test(direct, marks_windows_without_a_gradient_as_dead)
{
    with_conv("direct", check_forward_dead, conv(9, 12, 1, 3, 32));
}

Test(direct, lets_the_first_of_equals_win)
{
    with_conv("direct", check_forward_ties, conv(9, 12, 1, 3, 32));
}

Test(direct, loses_no_value_that_is_not_finite)
{
    with_conv("direct", check_forward_not_finite, conv(8, 8, 2, 3, 32));
}

Test(direct, gives_the_same_bits_wherever_arrays_lie)
{
    with_conv("direct", check_forward_alignment, conv(11, 10, 3, 3, 32));
}

static void refuse(const dlk_stage_forward *kernel)
{
    dlk_stage fits = {.conv = conv(28, 28, 1, 3, 32)}, s = fits;
    cr_assert_null(kernel->misfit(&fits));
    s.conv.pad_w = 1;
    cr_assert_str_eq(kernel->misfit(&s), "its input is padded");
    s = fits;
    s.conv.oc = 10;
    cr_assert_str_eq(kernel->misfit(&s), "its output channels are not whole vectors");
}

Test(direct, says_what_it_does_not_fit)
{
    on_every_isa("direct", refuse);
}
