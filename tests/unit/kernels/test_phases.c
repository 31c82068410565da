/* Forward of pooled stages, windows in the vectors' elements. */
#include <criterion/criterion.h>
#include <math.h>

#include "forward_kit.h"
#include "kit.h"

/* What the kernel promises, for up to 1000 products an output. */
static const double BOUND = 2e-6;

static dlk_stage pooled(int h, int w, int c, int oc, int kh, int kw)
{
    return (dlk_stage){.conv = {1, h, w, c, oc, kh, kw, 1, 1, 0, 0}, .relu = true, .pool = true};
}

/* On every instruction set whose kernel takes the stage; at least the narrowest does. */
static void check_everywhere(dlk_stage s, stage_options o)
{
    for (dlk_isa isa = DLK_ISA_SSE; isa <= DLK_ISA_AVX512; isa++) {
        const dlk_stage_forward *kernel = find_stage_forward("phases", isa);
        if (kernel && !kernel->misfit(&s))
            check_stage_forward(kernel, &s, o, BOUND);
    }
}

Test(phases, stages_of_common_models_agree_with_double)
{
    stage_options training = {.winner = true, .seed = 1};
    stage_options planes = {.winner = true, .drop_planes = 0.5, .seed = 2};
    stage_options evaluation = {.seed = 3};
    check_everywhere(pooled(28, 28, 1, 10, 5, 5), training);
    check_everywhere(pooled(28, 28, 1, 10, 5, 5), evaluation);
    check_everywhere(pooled(12, 12, 10, 20, 5, 5), planes);
    check_everywhere(pooled(12, 12, 10, 20, 5, 5), evaluation);
    check_everywhere(pooled(32, 32, 3, 6, 5, 5), training);
    check_everywhere(pooled(14, 14, 6, 16, 5, 5), training);
}

Test(phases, any_shape_agrees_with_double)
{
    for (uint32_t i = 0; i < 60; i++) {
        int kh = kit_pick(1, i, 1, 5), kw = kit_pick(2, i, 1, 5);
        int h = kh + kit_pick(3, i, 1, 20), w = kw + kit_pick(4, i, 1, 40);
        dlk_stage s = pooled(h, w, kit_pick(5, i, 1, 20), kit_pick(6, i, 1, 23), kh, kw);
        s.conv.c = i % 3 == 0 ? 1 : s.conv.c;
        s.relu = i % 4 != 0;
        stage_options o = {.winner = i % 5 != 0,
                           .drop = i % 2 ? 0.25 : 0,
                           .drop_planes = i % 3 ? 0.5 : 0,
                           .seed = i};
        check_everywhere(s, o);
    }
}

Test(phases, many_output_channels_agree_with_double)
{
    stage_options o = {.winner = true, .drop_planes = 0.3, .seed = 4};
    check_everywhere(pooled(9, 10, 2, 67, 3, 3), o);
    check_everywhere(pooled(6, 6, 1, 130, 2, 3), o);
}

Test(phases, a_single_window_agrees_with_double)
{
    stage_options o = {.winner = true, .seed = 5};
    check_everywhere(pooled(2, 2, 1, 1, 1, 1), o);
    check_everywhere(pooled(3, 3, 1, 1, 1, 1), o);
    check_everywhere(pooled(4, 3, 5, 7, 3, 2), o);
}

Test(phases, if_all_planes_are_dropped_all_is_zero_and_dead)
{
    dlk_stage s = pooled(8, 8, 2, 5, 3, 3);
    stage_options o = {.winner = true, .drop_planes = 0.999999, .seed = 6};
    check_everywhere(s, o);
}

typedef void alter_fn(const dlk_stage *s, stage_data *d);
typedef void expect_fn(const dlk_stage *s, const stage_data *d);

/* Change the data, run, and look at what comes out. */
static void with_altered(dlk_stage s, alter_fn *alter, expect_fn *expect)
{
    stage_options o = {.winner = true, .seed = 7};
    for (dlk_isa isa = DLK_ISA_SSE; isa <= DLK_ISA_AVX512; isa++) {
        const dlk_stage_forward *kernel = find_stage_forward("phases", isa);
        if (!kernel)
            continue;
        stage_data d = make_stage_data(&s, o);
        alter(&s, &d);
        run_stage_forward(kernel, &s, &d, o);
        expect(&s, &d);
        free_stage_data(&d);
    }
}

static void fill(float *values, size_t count, float value)
{
    for (size_t i = 0; i < count; i++)
        values[i] = value;
}

static void make_flat(const dlk_stage *s, stage_data *d)
{
    fill(d->x, dlk_stage_inputs(s), 0.5F);
    fill(d->bias, (size_t)s->conv.oc, 100);
}

static void expect_first_wins(const dlk_stage *s, const stage_data *d)
{
    for (size_t i = 0; i < dlk_stage_outputs(s); i++)
        cr_assert_eq(d->winner[i], 0, "window %zu is won by %d", i, d->winner[i]);
}

Test(phases, the_first_of_equals_wins)
{
    with_altered(pooled(11, 13, 1, 3, 3, 3), make_flat, expect_first_wins);
    with_altered(pooled(11, 13, 4, 3, 3, 2), make_flat, expect_first_wins);
}

static void make_negative(const dlk_stage *s, stage_data *d)
{
    fill(d->bias, (size_t)s->conv.oc, -100);
}

static void expect_dead(const dlk_stage *s, const stage_data *d)
{
    for (size_t i = 0; i < dlk_stage_outputs(s); i++)
        cr_assert(d->winner[i] == DLK_DEAD && d->y[i] == 0.0F, "window %zu lives", i);
}

Test(phases, windows_without_a_positive_output_are_dead)
{
    with_altered(pooled(11, 13, 1, 3, 3, 3), make_negative, expect_dead);
}

/* The last pixel that counts reaches the last window alone, through its fourth output. */
static void spoil_last_pixel(const dlk_stage *s, stage_data *d)
{
    fill(d->bias, (size_t)s->conv.oc, -100);
    d->x[dlk_stage_inputs(s) - 1] = NAN;
}

static void spoil_last_pixel_with_infinity(const dlk_stage *s, stage_data *d)
{
    spoil_last_pixel(s, d);
    d->x[dlk_stage_inputs(s) - 1] = -INFINITY;
}

static void expect_last_window_spoilt(const dlk_stage *s, const stage_data *d)
{
    size_t oc = (size_t)s->conv.oc, last = dlk_stage_outputs(s) - oc;
    for (size_t i = 0; i < dlk_stage_outputs(s); i++)
        cr_assert_eq(!isfinite(d->y[i]), i >= last, "y[%zu] = %g", i, (double)d->y[i]);
    for (size_t i = last; i < last + oc; i++)
        cr_assert_neq(d->winner[i], DLK_DEAD, "no gradient passes window %zu", i);
}

Test(phases, what_is_not_finite_stays_so_and_passes_gradients)
{
    with_altered(pooled(12, 12, 1, 3, 5, 5), spoil_last_pixel, expect_last_window_spoilt);
    with_altered(pooled(12, 12, 5, 3, 5, 5), spoil_last_pixel, expect_last_window_spoilt);
    with_altered(pooled(12, 12, 5, 3, 5, 5), spoil_last_pixel_with_infinity,
                 expect_last_window_spoilt);
}

static void take_planes(const dlk_stage_forward *kernel)
{
    check_forward_planes(kernel, pooled(28, 28, 1, 10, 5, 5).conv);
    check_forward_planes(kernel, pooled(12, 12, 10, 7, 3, 4).conv);
    check_forward_planes(kernel, pooled(5, 4, 3, 5, 2, 3).conv);
    check_forward_planes(kernel, pooled(9, 50, 2, 9, 1, 1).conv);
}

Test(phases, takes_and_makes_planes)
{
    on_every_isa("phases", take_planes);
}

Test(phases, what_is_out_of_reach_is_named)
{
    const dlk_stage_forward *kernel = find_stage_forward("phases", DLK_ISA_SSE);
    dlk_stage s = pooled(12, 12, 1, 3, 3, 3);
    cr_assert_null(kernel->misfit(&s));
    dlk_stage unpooled = s, strided = s, padded = s, wide = s;
    unpooled.pool = false;
    strided.conv.stride_w = 2;
    padded.conv.pad_h = 1;
    wide.conv.oc = 64;
    cr_assert_not_null(kernel->misfit(&unpooled));
    cr_assert_not_null(kernel->misfit(&strided));
    cr_assert_not_null(kernel->misfit(&padded));
    cr_assert_not_null(kernel->misfit(&wide));
}
