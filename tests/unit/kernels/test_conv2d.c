#include <criterion/criterion.h>

#include "kit.h"

/* Operands and results of a convolution, allocated for its shape. */
typedef struct conv {
    dlk_conv2d s;
    size_t in, weights, out;
    float *x, *w, *bias, *y, *dy, *dx, *dw, *dbias, *partial;
    dlk_kernels kernels;
    kit_team *team;
} conv;

static conv conv_make(dlk_conv2d s, dlk_family family, float *numbers(size_t, uint32_t),
                      uint32_t seed)
{
    conv c = {.s = s, .kernels = kit_kernels(family)};
    c.in = kit_size(s.n, s.h, s.w, s.c);
    c.weights = kit_size(s.kh, s.kw, s.c, s.oc);
    c.out = kit_size(s.n, dlk_conv2d_oh(&s), dlk_conv2d_ow(&s), s.oc);
    c.x = numbers(c.in, seed + 1);
    c.w = numbers(c.weights, seed + 2);
    c.bias = numbers((size_t)s.oc, seed + 3);
    c.dy = numbers(c.out, seed + 4);
    c.y = kit_zeros(c.out);
    c.dx = kit_uniform(c.in, 9); /* to be overwritten */
    c.dw = kit_uniform(c.weights, 9);
    c.dbias = kit_uniform((size_t)s.oc, 9);
    c.partial = kit_zeros((size_t)dlk_grad_groups(s.n) * (c.weights + (size_t)s.oc));
    c.team = kit_team_start(1, dlk_conv2d_scratch(&s), 0);
    return c;
}

static void conv_free(conv *c)
{
    kit_team_stop(c->team);
    float *arrays[] = {c->x, c->w, c->bias, c->y, c->dy, c->dx, c->dw, c->dbias, c->partial};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

static void conv_run(conv *c)
{
    dlk_team *team = kit_team_of(c->team);
    c->kernels.conv2d_forward(team, &c->s, c->x, c->w, c->bias, c->y);
    c->kernels.conv2d_backward_data(team, &c->s, c->dy, c->w, c->dx);
    c->kernels.conv2d_backward_weights(team, &c->s, c->x, c->dy, c->partial, c->dw, c->dbias);
}

/* The function whose gradients backward computes: sum(y * dy). */
static double conv_value(void *context)
{
    conv *c = context;
    c->kernels.conv2d_forward(kit_team_of(c->team), &c->s, c->x, c->w, c->bias, c->y);
    return kit_dot(c->out, c->y, c->dy);
}

static void expect_gradients(dlk_family family)
{
    dlk_conv2d s = {.n = 3,
                    .h = 7,
                    .w = 6,
                    .c = 2,
                    .oc = 3,
                    .kh = 3,
                    .kw = 2,
                    .stride_h = 2,
                    .stride_w = 1,
                    .pad_h = 1,
                    .pad_w = 1};
    conv c = conv_make(s, family, kit_uniform, 20);
    conv_run(&c);
    /* The function is linear: a large step costs no accuracy. */
    kit_expect_gradient(c.in, c.x, c.dx, 0.5F, 1e-5, conv_value, &c, "dx");
    kit_expect_gradient(c.weights, c.w, c.dw, 0.5F, 1e-5, conv_value, &c, "dweights");
    kit_expect_gradient((size_t)s.oc, c.bias, c.dbias, 0.5F, 1e-5, conv_value, &c, "dbias");
    conv_free(&c);
}

Test(conv2d, ref_gradients_are_those_of_central_differences)
{
    expect_gradients(DLK_FAMILY_REF);
}

Test(conv2d, blas_gradients_are_those_of_central_differences)
{
    expect_gradients(DLK_FAMILY_BLAS);
}

Test(conv2d, a_known_convolution)
{
    dlk_conv2d s = {
        .n = 1, .h = 3, .w = 3, .c = 1, .oc = 1, .kh = 2, .kw = 2, .stride_h = 1, .stride_w = 1};
    conv c = conv_make(s, DLK_FAMILY_REF, kit_integers, 1);
    for (int i = 0; i < 9; i++)
        c.x[i] = (float)(i + 1);
    float weights[] = {1, 2, 3, 4}, want[] = {47, 57, 77, 87};
    memcpy(c.w, weights, sizeof weights);
    c.bias[0] = 10;
    conv_run(&c);
    kit_expect_equal(4, c.y, want, "y", 0); /* 1*1 + 2*2 + 4*3 + 5*4 + 10, … */
    conv_free(&c);
}

static dlk_conv2d random_shape(uint32_t seed)
{
    dlk_conv2d s = {.n = kit_pick(seed, 0, 1, 9),
                    .c = kit_pick(seed, 1, 1, 20),
                    .oc = kit_pick(seed, 2, 1, 20),
                    .kh = kit_pick(seed, 3, 1, 5),
                    .kw = kit_pick(seed, 4, 1, 5),
                    .stride_h = kit_pick(seed, 5, 1, 3),
                    .stride_w = kit_pick(seed, 6, 1, 3),
                    .pad_h = kit_pick(seed, 7, 0, 2),
                    .pad_w = kit_pick(seed, 8, 0, 2)};
    s.h = kit_pick(seed, 9, s.kh, 13);
    s.w = kit_pick(seed, 10, s.kw, 13);
    return s;
}

static void expect_same_as_ref(dlk_conv2d s, uint32_t seed)
{
    conv ref = conv_make(s, DLK_FAMILY_REF, kit_integers, seed);
    conv blas = conv_make(s, DLK_FAMILY_BLAS, kit_integers, seed);
    conv_run(&ref);
    conv_run(&blas);
    char what[128];
    snprintf(what, sizeof what, "x %d,%d,%d,%d kernel %d,%d oc %d stride %d,%d pad %d,%d", s.n, s.h,
             s.w, s.c, s.kh, s.kw, s.oc, s.stride_h, s.stride_w, s.pad_h, s.pad_w);
    kit_expect_equal(ref.out, blas.y, ref.y, what, seed);
    kit_expect_equal(ref.in, blas.dx, ref.dx, what, seed);
    kit_expect_equal(ref.weights, blas.dw, ref.dw, what, seed);
    kit_expect_equal((size_t)s.oc, blas.dbias, ref.dbias, what, seed);
    conv_free(&blas);
    conv_free(&ref);
}

/* Of integers every order of summation gives the same. */
Test(conv2d, blas_computes_the_same_as_ref_for_random_shapes)
{
    for (uint32_t seed = 100; seed < 180; seed++)
        expect_same_as_ref(random_shape(seed), seed);
}

Test(conv2d, blas_computes_the_same_as_ref_for_pixels_without_patches)
{
    dlk_conv2d s = {
        .n = 3, .h = 5, .w = 7, .c = 6, .oc = 4, .kh = 1, .kw = 1, .stride_h = 1, .stride_w = 1};
    expect_same_as_ref(s, 1);
    s.kh = 3;
    expect_same_as_ref(s, 2);
}

Test(conv2d, blas_computes_the_same_as_ref_in_several_blocks_an_image)
{
    dlk_conv2d s = {.n = 2,
                    .h = 26,
                    .w = 26,
                    .c = 32,
                    .oc = 64,
                    .kh = 3,
                    .kw = 3,
                    .stride_h = 1,
                    .stride_w = 1};
    expect_same_as_ref(s, 3);
    s.stride_h = s.stride_w = 2;
    s.pad_h = s.pad_w = 1;
    expect_same_as_ref(s, 4);
}

Test(conv2d, a_kernel_that_lies_in_the_padding_alone_gives_the_bias)
{
    dlk_conv2d s = {.n = 1,
                    .h = 1,
                    .w = 1,
                    .c = 1,
                    .oc = 2,
                    .kh = 1,
                    .kw = 1,
                    .stride_h = 1,
                    .stride_w = 1,
                    .pad_h = 2,
                    .pad_w = 2};
    expect_same_as_ref(s, 5);
    conv c = conv_make(s, DLK_FAMILY_BLAS, kit_integers, 5);
    conv_run(&c);
    cr_assert(c.y[0] == c.bias[0] && c.y[1] == c.bias[1]);
    conv_free(&c);
}

Test(conv2d, gradients_are_right_in_floating_point_too)
{
    dlk_conv2d s = {.n = 9,
                    .h = 12,
                    .w = 12,
                    .c = 10,
                    .oc = 20,
                    .kh = 5,
                    .kw = 5,
                    .stride_h = 1,
                    .stride_w = 1};
    conv ref = conv_make(s, DLK_FAMILY_REF, kit_uniform, 7);
    conv blas = conv_make(s, DLK_FAMILY_BLAS, kit_uniform, 7);
    conv_run(&ref);
    conv_run(&blas);
    kit_expect_close(ref.out, blas.y, ref.y, 1e-6, "y", 7);
    kit_expect_close(ref.in, blas.dx, ref.dx, 1e-6, "dx", 7);
    kit_expect_close(ref.weights, blas.dw, ref.dw, 1e-6, "dweights", 7);
    conv_free(&blas);
    conv_free(&ref);
}

Test(conv2d, groups_of_a_batch_hold_every_image_once)
{
    for (int n = 1; n <= 200; n++) {
        int expected = 0;
        for (int g = 0; g < dlk_grad_groups(n); g++) {
            int first, end;
            dlk_grad_group(n, g, &first, &end);
            cr_assert(first == expected && end > first, "group %d of a batch of %d", g, n);
            expected = end;
        }
        cr_assert(expected == n, "a batch of %d", n);
    }
}

/* A last batch is smaller; the scratch was planned for the full one. */
Test(conv2d, scratch_does_not_depend_on_the_batch)
{
    dlk_conv2d s = random_shape(3);
    size_t scratch = dlk_conv2d_scratch(&s);
    s.n = 1;
    cr_assert(dlk_conv2d_scratch(&s) == scratch);
}
