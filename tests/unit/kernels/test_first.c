#include <criterion/criterion.h>

#include "forward_kit.h"

/* What first.c states, relative to the sum of absolute products. */
static const double bound = 2e-6;

static const char *const name = "first 3x3";

static dlk_conv2d conv(int h, int w, int oc)
{
    return (dlk_conv2d){1, h, w, 1, oc, 3, 3, 1, 1, 0, 0};
}

/* Rows of every length, one vector, several and one more, one row of outputs and several bands. */
static const dlk_conv2d *shape(uint32_t i)
{
    static dlk_conv2d shapes[12];
    const int rows[] = {28, 3, 4, 20, 9, 5}, columns[] = {28, 3, 4, 40, 10, 7};
    const int channels[] = {32, 16, 48, 64, 80, 96};
    if (i >= sizeof shapes / sizeof *shapes)
        return NULL;
    shapes[i] = conv(rows[i % 6], columns[i % 6] + (int)i / 6, channels[(i + i / 6) % 6]);
    return &shapes[i];
}

/* ---- Forward ---- */

static void agree_on_tails(const dlk_stage_forward *kernel)
{
    check_forward_tails(kernel, conv(9, 10, 48), bound);
}

Test(first, agrees_with_double_whatever_follows_the_convolution)
{
    on_every_isa(name, agree_on_tails);
}

static void agree_on_sizes(const dlk_stage_forward *kernel)
{
    for (uint32_t i = 0; shape(i); i++) {
        dlk_stage s = {*shape(i), .relu = true};
        check_stage_forward(kernel, &s, (stage_options){.seed = i}, bound);
    }
}

Test(first, agrees_with_double_at_every_size)
{
    on_every_isa(name, agree_on_sizes);
}

Test(first, loses_no_value_that_is_not_finite)
{
    with_conv(name, check_forward_not_finite, conv(8, 8, 32));
}

Test(first, gives_the_same_bits_wherever_arrays_lie)
{
    with_conv(name, check_forward_alignment, conv(11, 10, 32));
}

/* ---- Backward ---- */

static void agree_backward(const dlk_stage_backward *kernel)
{
    for (uint32_t i = 0; shape(i / 2); i++) {
        dlk_stage s = {*shape(i / 2), .relu = i % 2};
        check_stage_backward(kernel, &s, (stage_options){.drop = 0.5, .seed = i}, bound);
    }
}

Test(first_backward, agrees_with_double_at_every_size)
{
    backward_on_every_isa(name, agree_backward);
}

Test(first_backward, passes_a_nan_on_to_its_channel)
{
    backward_on_every_isa(name, check_backward_nan);
}

/* ---- Shapes ---- */

typedef struct misfit {
    dlk_stage stage;
    const char *why;
} misfit;

static void refuse(const dlk_stage_forward *kernel)
{
    dlk_stage fits = {.conv = conv(28, 28, 32)};
    misfit m[] = {{fits, "it is not 3×3 of one channel"},
                  {fits, "it is not 3×3 of one channel"},
                  {fits, "it has a pool"},
                  {fits, "its stride is not 1"},
                  {fits, "its input is padded"},
                  {fits, "its output channels are not whole vectors"}};
    m[0].stage.conv.kw = 5;
    m[1].stage.conv.c = 3;
    m[2].stage.pool = true;
    m[3].stage.conv.stride_h = 2;
    m[4].stage.conv.pad_w = 1;
    m[5].stage.conv.oc = 10;
    cr_assert_null(kernel->misfit(&fits));
    for (size_t i = 0; i < sizeof m / sizeof *m; i++)
        cr_assert_str_eq(kernel->misfit(&m[i].stage), m[i].why);
}

Test(first, says_what_it_does_not_fit)
{
    on_every_isa(name, refuse);
}

static void refuse_data(const dlk_stage_backward *kernel)
{
    dlk_stage s = {.conv = conv(28, 28, 32)};
    cr_assert_null(kernel->misfit(&s, false));
    cr_assert_str_eq(kernel->misfit(&s, true), "the gradient of its input is wanted");
}

Test(first_backward, has_no_gradient_of_its_input)
{
    backward_on_every_isa(name, refuse_data);
}
