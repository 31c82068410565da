#include <criterion/criterion.h>

#include "stage_kit.h"

/* What direct_backward.c states, relative to the sum of absolute products. */
static const double bound = 2e-6;

static const char *const name = "direct";

static dlk_conv2d conv(int h, int w, int c, int kernel, int oc)
{
    return (dlk_conv2d){1, h, w, c, oc, kernel, kernel, 1, 1, 0, 0};
}

static void agree_on_sizes(const dlk_stage_backward *kernel)
{
    const dlk_conv2d shapes[] = {conv(28, 28, 1, 3, 32), conv(3, 3, 1, 3, 16),
                                 conv(4, 7, 2, 3, 48),   conv(1, 1, 1, 1, 16),
                                 conv(9, 31, 1, 5, 32),  conv(6, 6, 3, 3, 80)};
    for (uint32_t i = 0; i < 2 * sizeof shapes / sizeof *shapes; i++) {
        dlk_stage s = {shapes[i / 2], .relu = i % 2};
        check_stage_backward(kernel, &s, (stage_options){.drop = 0.5, .seed = i}, bound);
    }
}

Test(direct_backward, agrees_with_double_at_every_size)
{
    backward_on_every_isa(name, agree_on_sizes);
}

static void agree_on_strides(const dlk_stage_backward *kernel)
{
    dlk_stage s = {conv(17, 14, 2, 4, 32), .relu = true};
    s.conv.stride_h = 3;
    s.conv.stride_w = 2;
    s.conv.kw = 2;
    check_stage_backward(kernel, &s, (stage_options){.seed = 6}, bound);
}

Test(direct_backward, agrees_with_double_at_every_stride)
{
    backward_on_every_isa(name, agree_on_strides);
}

Test(direct_backward, passes_a_nan_on_to_its_channel)
{
    backward_on_every_isa(name, check_backward_nan);
}

static void refuse(const dlk_stage_backward *kernel)
{
    dlk_stage fits = {.conv = conv(28, 28, 1, 3, 32)}, s = fits;
    cr_assert_null(kernel->misfit(&fits, false));
    cr_assert_str_eq(kernel->misfit(&fits, true), "the gradient of its input is wanted");
    s.pool = true;
    cr_assert_str_eq(kernel->misfit(&s, false), "it has a pool");
    s = fits;
    s.conv.pad_h = 1;
    cr_assert_str_eq(kernel->misfit(&s, false), "its input is padded");
    s = fits;
    s.conv.oc = 10;
    cr_assert_str_eq(kernel->misfit(&s, false), "its output channels are not whole vectors");
}

Test(direct_backward, says_what_it_does_not_fit)
{
    backward_on_every_isa(name, refuse);
}
