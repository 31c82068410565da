/* Forward of many images at once, by Winograd's algorithm at eight points. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "forward_kit.h"
#include "kit.h"

/* What lanes_squares.c and lanes_rows.c state, relative to the sum of absolute products. */
static const double squares_bound = 1e-5, rows_bound = 2e-6;

static const char SQUARES[] = "lanes 5x5", ROWS[] = "lanes 1x5";

static dlk_conv2d tall_conv(int kh, int h, int w, int c, int oc)
{
    return (dlk_conv2d){1, h, w, c, oc, kh, 5, 1, 1, 0, 0};
}

static dlk_conv2d conv(int h, int w, int c, int oc)
{
    return tall_conv(5, h, w, c, oc);
}

/* Evaluation, and training with its winners and with planes that are dropped. */
static void check_both_passes(const dlk_stage_forward *kernel, const dlk_stage *s, uint32_t seed,
                              double bound)
{
    check_stage_forward(kernel, s, (stage_options){.seed = seed}, bound);
    check_stage_forward(kernel, s, (stage_options){.winner = true, .seed = seed + 1}, bound);
    stage_options drop = {.winner = true, .drop_planes = 0.5, .seed = seed + 2};
    check_stage_forward(kernel, s, drop, bound);
}

static void agree_in_squares(const dlk_stage_forward *kernel)
{
    const dlk_conv2d shapes[] = {conv(12, 12, 10, 20), conv(8, 8, 2, 1),   conv(9, 13, 3, 7),
                                 conv(20, 8, 5, 12),   conv(8, 25, 17, 3), conv(12, 8, 2, 33),
                                 conv(8, 8, 64, 11)};
    for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        dlk_stage s = {shapes[i], .relu = i % 2, .pool = true};
        check_both_passes(kernel, &s, i, squares_bound);
    }
}

Test(lanes, squares_agree_with_double_at_every_size)
{
    on_every_isa(SQUARES, agree_in_squares);
}

static void agree_in_rows(const dlk_stage_forward *kernel)
{
    const dlk_conv2d shapes[] = {conv(28, 28, 1, 10), conv(7, 8, 16, 3)};
    for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        dlk_stage s = {shapes[i], .relu = true, .pool = true};
        check_both_passes(kernel, &s, 100 + i, rows_bound);
    }
    for (uint32_t i = 0; i < 40; i++) {
        int kh = kit_pick(5, i, 1, 7);
        dlk_conv2d shape = tall_conv(kh, kh + kit_pick(1, i, 1, 20), 4 + 4 * kit_pick(2, i, 1, 7),
                                     kit_pick(3, i, 1, 5), kit_pick(4, i, 1, 20));
        dlk_stage s = {shape, .relu = i % 4 != 0, .pool = true};
        check_both_passes(kernel, &s, i, rows_bound);
    }
}

Test(lanes, rows_agree_with_double_at_every_size)
{
    on_every_isa(ROWS, agree_in_rows);
}

Test(lanes, lose_no_value_that_is_not_finite)
{
    with_conv(SQUARES, check_forward_not_finite, conv(8, 12, 2, 3));
    with_conv(ROWS, check_forward_not_finite, conv(8, 12, 1, 3));
}

Test(lanes, of_windows_that_are_dead_no_gradient_passes)
{
    with_conv(SQUARES, check_forward_dead, conv(12, 12, 2, 9));
    with_conv(ROWS, check_forward_dead, conv(11, 12, 1, 9));
}

Test(lanes, the_first_of_equals_wins)
{
    with_conv(SQUARES, check_forward_ties, conv(12, 12, 2, 9));
    with_conv(ROWS, check_forward_ties, conv(11, 12, 1, 9));
}

Test(lanes, give_the_same_bits_wherever_arrays_lie)
{
    with_conv(SQUARES, check_forward_alignment, conv(12, 12, 2, 9));
    with_conv(ROWS, check_forward_alignment, conv(11, 12, 1, 9));
}

/* ---- Several images ---- */

static void fill(float *values, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)kit_pick(seed, (uint32_t)i, -1000, 1000) / 1000;
}

/* What images come to: each one's y and winners. */
typedef struct results {
    float *y;
    uint8_t *winner;
} results;

static results make_results(const dlk_stage *s, size_t images)
{
    size_t outputs = images * dlk_stage_outputs(s);
    return (results){dlb_alloc(outputs, sizeof(float)), dlb_alloc(outputs, 1)};
}

static void free_results(results *r)
{
    free(r->winner);
    free(r->y);
}

/* What `count` images, `apart` floats from each other, come to; image i of the batch, counted from
 * `first`, drops its own planes. */
static void run_images(const dlk_lanes *lanes, const dlk_stage_forward *kernel, const dlk_stage *s,
                       int first, int count, size_t apart, const float *x, const results *r)
{
    size_t images = (size_t)lanes->images, taps = (size_t)(s->conv.kh * s->conv.kw * s->conv.c);
    size_t weight_count = taps * (size_t)s->conv.oc, outputs = dlk_stage_outputs(s);
    float *weights = dlb_alloc(weight_count, sizeof *weights);
    float *bias = dlb_alloc((size_t)s->conv.oc, sizeof *bias);
    float *prepared = dlb_alloc(kernel->prepared_floats(s), sizeof *prepared);
    float *scratch = dlb_alloc(kernel->scratch_floats(s), sizeof *scratch);
    float *in = dlb_alloc(images * dlk_stage_inputs(s), sizeof *in);
    float *out = dlb_alloc(images * outputs, sizeof *out);
    uint8_t *winner = dlb_alloc(images * outputs, 1);
    uint8_t *planes = dlb_alloc(images * (size_t)s->conv.oc, 1);
    fill(weights, weight_count, 21);
    fill(bias, (size_t)s->conv.oc, 22);
    for (int i = 0; i < count; i++)
        for (int c = 0; c < s->conv.oc; c++)
            planes[(size_t)c * images + (size_t)i] =
                (uint8_t)kit_pick(25, (uint32_t)((first + i) * s->conv.oc + c), 0, 1);
    for (int i = 0; i < kernel->parts(s); i++)
        kernel->prepare(s, i, weights, bias, prepared);
    lanes->enter(s, count, x, apart, in);
    kernel->run(s, &(dlk_stage_pass){.prepared = prepared,
                                     .x = in,
                                     .y = out,
                                     .winner = winner,
                                     .keep_planes = planes,
                                     .scale = 2,
                                     .scratch = scratch});
    lanes->leave(s, count, out, r->y, outputs);
    lanes->leave_bytes(s, count, winner, r->winner, outputs);
    free(planes);
    free(winner);
    free(out);
    free(in);
    free(scratch);
    free(prepared);
    free(bias);
    free(weights);
}

/* Every number of images, each of them the same bits as alone; others' memory is left alone. */
static void compare_with_alone(const dlk_lanes *lanes, const dlk_stage_forward *kernel,
                               const dlk_stage *s)
{
    size_t apart = dlk_stage_inputs(s) + DLK_SLACK, outputs = dlk_stage_outputs(s);
    float *x = dlb_alloc((size_t)lanes->images * apart, sizeof *x);
    results all = make_results(s, (size_t)lanes->images + 1), alone = make_results(s, 1);
    fill(x, (size_t)lanes->images * apart, 23);
    for (int count = 1; count <= lanes->images; count++) {
        size_t behind = (size_t)count * outputs;
        fill(all.y + behind, outputs, 24);
        memset(all.winner + behind, 99, outputs);
        run_images(lanes, kernel, s, 0, count, apart, x, &all);
        for (int i = 0; i < count; i++) {
            size_t at = (size_t)i * outputs;
            run_images(lanes, kernel, s, i, 1, apart, x + (size_t)i * apart, &alone);
            cr_assert_arr_eq(all.y + at, alone.y, outputs * sizeof(float), "%s: image %d of %d",
                             kernel->name, i, count);
            cr_assert_arr_eq(all.winner + at, alone.winner, outputs, "%s: winners of %d of %d",
                             kernel->name, i, count);
        }
        fill(alone.y, outputs, 24);
        memset(alone.winner, 99, outputs);
        cr_assert_arr_eq(all.y + behind, alone.y, outputs * sizeof(float), "%s: behind image %d",
                         kernel->name, count);
        cr_assert_arr_eq(all.winner + behind, alone.winner, outputs, "%s: behind image %d",
                         kernel->name, count);
    }
    free_results(&alone);
    free_results(&all);
    free(x);
}

Test(lanes, compute_an_image_among_others_as_they_do_alone)
{
    dlk_kernels kernels;
    dlb_error err;
    for (dlk_isa isa = DLK_ISA_SSE; isa <= dlk_isa_best(); isa++) {
        cr_assert_eq(dlk_kernels_select(&kernels, DLK_FAMILY_SIMD, isa, &err), 0);
        for (int i = 0; kernels.lanes->forward[i]; i++)
            compare_with_alone(kernels.lanes, kernels.lanes->forward[i],
                               &(dlk_stage){conv(13, 12, 3, 5), .relu = true, .pool = true});
    }
}

/* ---- What does not fit ---- */

static void refuse(const dlk_stage_forward *kernel)
{
    dlk_stage fits = {.conv = conv(12, 12, 3, 10), .pool = true}, s = fits;
    cr_assert_null(kernel->misfit(&fits));
    s.conv.kw = 3;
    cr_assert_str_eq(kernel->misfit(&s), "its kernel is not five wide");
    s = fits;
    s.conv.w = 15;
    cr_assert_str_eq(kernel->misfit(&s), "its windows do not come in pairs");
    s = fits;
    s.conv.stride_h = 2;
    cr_assert_str_eq(kernel->misfit(&s), "its stride is not 1");
    s = fits;
    s.pool = false;
    cr_assert_str_eq(kernel->misfit(&s), "it has no pool");
    s = fits;
    s.conv.pad_h = 1;
    cr_assert_str_eq(kernel->misfit(&s), "it is padded");
    s = fits;
    s.conv.h = s.conv.w = 400;
    cr_assert_str_eq(kernel->misfit(&s), "its images are too large");
}

static void refuse_squares(const dlk_stage_forward *kernel)
{
    cr_assert_str_eq(kernel->misfit(&(dlk_stage){tall_conv(3, 12, 12, 3, 10), .pool = true}),
                     "its kernel is not five high");
    cr_assert_str_eq(kernel->misfit(&(dlk_stage){conv(12, 12, 1, 10), .pool = true}),
                     "it has one input channel");
    cr_assert_str_eq(kernel->misfit(&(dlk_stage){conv(10, 12, 3, 10), .pool = true}),
                     "its windows do not come in squares");
}

static void refuse_rows(const dlk_stage_forward *kernel)
{
    cr_assert_str_eq(kernel->misfit(&(dlk_stage){tall_conv(8, 12, 12, 3, 10), .pool = true}),
                     "its kernel is more than seven high");
}

Test(lanes, say_what_they_do_not_fit)
{
    on_every_isa(SQUARES, refuse);
    on_every_isa(SQUARES, refuse_squares);
    on_every_isa(ROWS, refuse);
    on_every_isa(ROWS, refuse_rows);
}
