#include <criterion/criterion.h>

#include "forward_kit.h"

/* What winograd.c states, relative to the sum of absolute products. */
static const double bound = 3e-6;

static dlk_conv2d conv(int h, int w, int c, int oc)
{
    return (dlk_conv2d){1, h, w, c, oc, 3, 3, 1, 1, 0, 0};
}

static void agree_on_tails(const dlk_stage_forward *kernel)
{
    check_forward_tails(kernel, conv(10, 10, 16, 32), bound);
}

Test(winograd, agrees_with_double_whatever_follows_the_convolution)
{
    on_every_isa("winograd", agree_on_tails);
}

static void agree_on_sizes(const dlk_stage_forward *kernel)
{
    const dlk_conv2d shapes[] = {conv(3, 3, 8, 16),    conv(4, 4, 4, 16),  conv(5, 3, 8, 48),
                                 conv(7, 9, 17, 32),   conv(6, 6, 33, 64), conv(13, 11, 8, 80),
                                 conv(26, 26, 32, 64), conv(8, 27, 12, 16)};
    check_forward_shapes(kernel, shapes, sizeof shapes / sizeof *shapes, bound);
}

Test(winograd, agrees_with_double_at_every_size)
{
    on_every_isa("winograd", agree_on_sizes);
}

static void agree_on_padding(const dlk_stage_forward *kernel)
{
    for (int pad = 1; pad <= 2; pad++) {
        dlk_stage s = {conv(9, 6, 8, 16), .relu = true, .pool = true};
        s.conv.pad_h = pad;
        s.conv.pad_w = pad - 1;
        check_stage_forward(kernel, &s, (stage_options){.winner = true, .seed = 7}, bound);
    }
}

Test(winograd, agrees_with_double_where_the_image_is_padded)
{
    on_every_isa("winograd", agree_on_padding);
}

Test(winograd, marks_windows_without_a_gradient_as_dead)
{
    with_conv("winograd", check_forward_dead, conv(9, 12, 8, 32));
}

Test(winograd, lets_the_first_of_equals_win)
{
    with_conv("winograd", check_forward_ties, conv(9, 12, 8, 32));
}

Test(winograd, loses_no_value_that_is_not_finite)
{
    with_conv("winograd", check_forward_not_finite, conv(8, 8, 9, 16));
}

Test(winograd, gives_the_same_bits_wherever_arrays_lie)
{
    with_conv("winograd", check_forward_alignment, conv(11, 10, 9, 32));
}

static void refuse(const dlk_stage_forward *kernel)
{
    dlk_stage fits = {.conv = conv(26, 26, 32, 64)}, s = fits;
    cr_assert_null(kernel->misfit(&fits));
    s.conv.kh = 5;
    cr_assert_str_eq(kernel->misfit(&s), "its kernel is not 3x3");
    s = fits;
    s.conv.stride_w = 2;
    cr_assert_str_eq(kernel->misfit(&s), "its stride is not 1");
    s = fits;
    s.conv.oc = 50;
    cr_assert_str_eq(kernel->misfit(&s), "its output channels are not whole vectors");
    s = fits;
    s.conv.c = 3;
    cr_assert_str_eq(kernel->misfit(&s), "it has fewer than 4 input channels");
}

Test(winograd, says_what_it_does_not_fit)
{
    on_every_isa("winograd", refuse);
}
