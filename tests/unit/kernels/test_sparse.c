/* Backward of pooled stages from the windows that a gradient passes. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kit.h"
#include "stage_kit.h"

/* What the kernel promises, for up to 1000 windows a channel. */
static const double BOUND = 2e-6;

static dlk_stage pooled(int h, int w, int c, int oc, int kh, int kw)
{
    return (dlk_stage){.conv = {1, h, w, c, oc, kh, kw, 1, 1, 0, 0}, .relu = true, .pool = true};
}

static void check_everywhere(dlk_stage s, stage_options o)
{
    for (dlk_isa isa = DLK_ISA_SSE; isa <= DLK_ISA_AVX512; isa++) {
        const dlk_stage_backward *kernel = find_stage_backward("sparse", isa);
        if (kernel)
            check_stage_backward(kernel, &s, o, BOUND);
    }
}

Test(sparse, stages_of_common_models_agree_with_double)
{
    stage_options all = {.alive = 0.3, .data = true, .seed = 1};
    stage_options weights = {.alive = 0.5, .seed = 2};
    check_everywhere(pooled(26, 26, 32, 64, 3, 3), all);
    check_everywhere(pooled(28, 28, 1, 10, 5, 5), weights);
    check_everywhere(pooled(12, 12, 10, 20, 5, 5), all);
    check_everywhere(pooled(12, 12, 10, 20, 5, 5), weights);
    check_everywhere(pooled(32, 32, 3, 6, 5, 5), all);
    check_everywhere(pooled(30, 30, 64, 48, 3, 3), all);
}

Test(sparse, any_shape_agrees_with_double)
{
    for (uint32_t i = 0; i < 60; i++) {
        int kh = kit_pick(1, i, 1, 5), kw = kit_pick(2, i, 1, 5);
        int h = kh + kit_pick(3, i, 1, 20), w = kw + kit_pick(4, i, 1, 20);
        dlk_stage s = pooled(h, w, kit_pick(5, i, 1, 35), kit_pick(6, i, 1, 35), kh, kw);
        stage_options o = {.alive = kit_pick(7, i, 0, 4) / 4.0, .data = i % 3 != 0, .seed = i};
        check_everywhere(s, o);
    }
}

Test(sparse, kernels_larger_than_a_block_of_registers_agree_with_double)
{
    stage_options o = {.alive = 0.5, .data = true, .seed = 3};
    check_everywhere(pooled(14, 12, 20, 3, 7, 7), o);
    check_everywhere(pooled(9, 30, 3, 2, 6, 11), o);
}

Test(sparse, a_single_window_agrees_with_double)
{
    stage_options o = {.alive = 1, .data = true, .seed = 4};
    check_everywhere(pooled(2, 2, 1, 1, 1, 1), o);
    check_everywhere(pooled(4, 5, 2, 3, 3, 3), o);
}

Test(sparse, all_dead_and_all_alive_agree_with_double)
{
    check_everywhere(pooled(9, 8, 4, 6, 3, 3), (stage_options){.alive = 0, .data = true});
    check_everywhere(pooled(9, 8, 4, 6, 3, 3), (stage_options){.alive = 1, .data = true});
}

/* ---- Not finite ---- */

typedef void alter_fn(const dlk_stage *s, stage_data *d);
typedef void expect_fn(const dlk_stage *s, const stage_data *d);

/* Change the data, run, and look at what comes out. */
static void with_altered(dlk_stage s, alter_fn *alter, expect_fn *expect)
{
    stage_options o = {.alive = 1, .data = true, .seed = 5};
    for (dlk_isa isa = DLK_ISA_SSE; isa <= DLK_ISA_AVX512; isa++) {
        const dlk_stage_backward *kernel = find_stage_backward("sparse", isa);
        if (!kernel)
            continue;
        stage_data d = make_stage_data(&s, o);
        alter(&s, &d);
        run_stage_backward(kernel, &s, &d, o);
        expect(&s, &d);
        free_stage_data(&d);
    }
}

enum { SPOILT_CHANNEL = 2 };

static void spoil_dy(const dlk_stage *s, stage_data *d)
{
    (void)s;
    d->dy[SPOILT_CHANNEL] = NAN;
    d->winner[SPOILT_CHANNEL] = 0;
}

static void spoil_dead_dy(const dlk_stage *s, stage_data *d)
{
    spoil_dy(s, d);
    d->winner[SPOILT_CHANNEL] = DLK_DEAD;
}

static void spoil_x(const dlk_stage *s, stage_data *d)
{
    for (int oc = 0; oc < s->conv.oc; oc++)
        d->winner[oc] = 0;
    d->x[0] = INFINITY;
}

static size_t weight_count(const dlk_stage *s)
{
    return (size_t)(s->conv.kh * s->conv.kw * s->conv.c) * (size_t)s->conv.oc;
}

static void expect_channel_spoilt(const dlk_stage *s, const stage_data *d)
{
    size_t oc = (size_t)s->conv.oc;
    for (size_t i = 0; i < weight_count(s); i++)
        cr_assert_eq(!isfinite(d->dweights[i]), i % oc == SPOILT_CHANNEL, "dweights[%zu]", i);
    for (size_t i = 0; i < oc; i++)
        cr_assert_eq(!isfinite(d->dbias[i]), i == SPOILT_CHANNEL, "dbias[%zu]", i);
    for (int ky = 0; ky < s->conv.kh; ky++)
        for (int i = 0; i < s->conv.kw * s->conv.c; i++)
            cr_assert(!isfinite(d->dx[ky * s->conv.w * s->conv.c + i]), "row %d, %d", ky, i);
}

static void expect_all_finite(const dlk_stage *s, const stage_data *d)
{
    for (size_t i = 0; i < weight_count(s); i++)
        cr_assert(isfinite(d->dweights[i]), "dweights[%zu]", i);
    for (size_t i = 0; i < dlk_stage_inputs(s); i++)
        cr_assert(isfinite(d->dx[i]), "dx[%zu]", i);
}

static void expect_first_weights_spoilt(const dlk_stage *s, const stage_data *d)
{
    for (size_t i = 0; i < (size_t)s->conv.oc; i++)
        cr_assert(!isfinite(d->dweights[i]), "dweights[%zu] = %g", i, (double)d->dweights[i]);
}

Test(sparse, what_is_not_finite_stays_so_in_all_that_it_reaches)
{
    dlk_stage few = pooled(12, 12, 2, 5, 5, 5), many = pooled(10, 10, 32, 40, 3, 3);
    with_altered(few, spoil_dy, expect_channel_spoilt);
    with_altered(many, spoil_dy, expect_channel_spoilt);
    with_altered(few, spoil_x, expect_first_weights_spoilt);
    with_altered(many, spoil_x, expect_first_weights_spoilt);
}

Test(sparse, a_gradient_at_a_dead_window_counts_for_nothing)
{
    with_altered(pooled(12, 12, 2, 5, 5, 5), spoil_dead_dy, expect_all_finite);
}

/* ---- Sums over images ---- */

static void add_image(const dlk_stage_backward *kernel, const dlk_stage *s, const stage_data *d,
                      float *gradient)
{
    float *scratch = dlb_alloc(kernel->scratch_floats(s, false) + 1, sizeof *scratch);
    dlk_stage_return back = {.x = d->x,
                             .y = d->y,
                             .dy = d->dy,
                             .winner = d->winner,
                             .scale = 1,
                             .gradient = gradient,
                             .scratch = scratch};
    kernel->run(s, &back);
    free(scratch);
}

/* An image of integers, whose sums are exact. */
static stage_data integer_image(const dlk_stage *s, uint32_t seed)
{
    stage_data d = make_stage_data(s, (stage_options){.alive = 0.5, .seed = seed});
    float *x = kit_integers(dlk_stage_inputs(s), seed);
    float *dy = kit_integers(dlk_stage_outputs(s), seed + 100);
    memcpy(d.x, x, dlk_stage_inputs(s) * sizeof *x);
    memcpy(d.dy, dy, dlk_stage_outputs(s) * sizeof *dy);
    free(dy);
    free(x);
    return d;
}

Test(sparse, gradients_of_images_add_up_in_one_buffer_or_in_several)
{
    enum { IMAGES = 3 };
    dlk_stage s = pooled(12, 12, 10, 20, 5, 5);
    const dlk_stage_backward *kernel = find_stage_backward("sparse", dlk_isa_best());
    size_t count = dlb_whole_lines(kernel->gradient_floats(&s)), weights = weight_count(&s);
    float *together = kit_zeros(count), *apart = kit_zeros(IMAGES * count);
    for (uint32_t image = 0; image < IMAGES; image++) {
        stage_data d = integer_image(&s, image);
        add_image(kernel, &s, &d, together);
        add_image(kernel, &s, &d, apart + image * count);
        free_stage_data(&d);
    }
    float *const each[IMAGES] = {apart, apart + count, apart + 2 * count};
    dlk_gradients one = {.count = 1, .each = &together}, several = {IMAGES, each};
    float *dweights = kit_zeros(2 * weights), *dbias = kit_zeros(2 * (size_t)s.conv.oc);
    for (int i = 0; i < kernel->finish_parts(&s); i++) {
        kernel->finish(&s, i, &one, dweights, dbias);
        kernel->finish(&s, i, &several, dweights + weights, dbias + s.conv.oc);
    }
    kit_expect_equal(weights, dweights, dweights + weights, "dweights", 0);
    kit_expect_equal((size_t)s.conv.oc, dbias, dbias + s.conv.oc, "dbias", 0);
    free(dbias);
    free(dweights);
    free(apart);
    free(together);
}

Test(sparse, what_is_out_of_reach_is_named)
{
    const dlk_stage_backward *kernel = find_stage_backward("sparse", DLK_ISA_SSE);
    dlk_stage s = pooled(12, 12, 1, 3, 3, 3);
    cr_assert_null(kernel->misfit(&s, true));
    dlk_stage unpooled = s, strided = s, padded = s;
    unpooled.pool = false;
    strided.conv.stride_h = 2;
    padded.conv.pad_w = 1;
    cr_assert_not_null(kernel->misfit(&unpooled, true));
    cr_assert_not_null(kernel->misfit(&strided, false));
    cr_assert_not_null(kernel->misfit(&padded, true));
}
