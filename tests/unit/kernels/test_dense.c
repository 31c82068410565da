#include <criterion/criterion.h>
#include <math.h>

#include "base/mem.h"
#include "kit.h"

typedef struct dense {
    dlk_dense s;
    size_t in, weights, out;
    float *x, *w, *bias, *y, *dy, *dx, *dw, *dbias;
    dlk_kernels kernels;
    kit_team *team;
} dense;

static dense dense_make(dlk_dense s, const dlk_kernels *k, float *numbers(size_t, uint32_t),
                        uint32_t seed)
{
    dense d = {.s = s, .kernels = *k};
    d.in = kit_size(1, 1, s.n, s.in);
    d.weights = kit_size(1, 1, s.in, s.out);
    d.out = kit_size(1, 1, s.n, s.out);
    d.x = numbers(d.in, seed + 1);
    d.w = numbers(d.weights, seed + 2);
    d.bias = numbers((size_t)s.out, seed + 3);
    d.dy = numbers(d.out, seed + 4);
    d.y = kit_uniform(d.out, 9); /* to be overwritten */
    d.dx = kit_uniform(d.in, 9);
    d.dw = kit_uniform(d.weights, 9);
    d.dbias = kit_uniform((size_t)s.out, 9);
    d.team = kit_team_start(1, dlk_dense_scratch(), dlk_dense_shared(&s));
    return d;
}

static void dense_free(dense *d)
{
    kit_team_stop(d->team);
    float *arrays[] = {d->x, d->w, d->bias, d->y, d->dy, d->dx, d->dw, d->dbias};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

static void dense_run(dense *d)
{
    dlk_team *team = kit_team_of(d->team);
    d->kernels.dense_forward(team, &d->s, d->x, d->w, d->bias, d->y);
    d->kernels.dense_backward_data(team, &d->s, d->dy, d->w, d->dx);
    d->kernels.dense_backward_weights(team, &d->s, d->x, d->dy, d->dw, d->dbias);
}

static double dense_value(void *context)
{
    dense *d = context;
    d->kernels.dense_forward(kit_team_of(d->team), &d->s, d->x, d->w, d->bias, d->y);
    return kit_dot(d->out, d->y, d->dy);
}

static void gradients_are_those_of_central_differences(const dlk_kernels *k)
{
    dense d = dense_make((dlk_dense){.n = 4, .in = 11, .out = 7}, k, kit_uniform, 40);
    dense_run(&d);
    kit_expect_gradient(d.in, d.x, d.dx, 0.5F, 1e-5, dense_value, &d, "dx");
    kit_expect_gradient(d.weights, d.w, d.dw, 0.5F, 1e-5, dense_value, &d, "dweights");
    kit_expect_gradient(7, d.bias, d.dbias, 0.5F, 1e-5, dense_value, &d, "dbias");
    dense_free(&d);
}

Test(dense, gradients_are_those_of_central_differences)
{
    kit_for_every_table(gradients_are_those_of_central_differences);
}

/* x and dy with about `percent` of their elements not zero. */
static void dense_thin_out(dense *d, int percent, uint32_t seed)
{
    kit_thin_out(d->in, d->x, percent, seed + 5);
    kit_thin_out(d->out, d->dy, percent, seed + 6);
}

static void expect_same_as_ref(dlk_dense s, const dlk_kernels *k, float *numbers(size_t, uint32_t),
                               double tolerance, int percent, uint32_t seed)
{
    dlk_kernels reference = kit_kernels(DLK_FAMILY_REF);
    dense ref = dense_make(s, &reference, numbers, seed);
    dense fast = dense_make(s, k, numbers, seed);
    dense_thin_out(&ref, percent, seed);
    dense_thin_out(&fast, percent, seed);
    dense_run(&ref);
    dense_run(&fast);
    char what[80];
    snprintf(what, sizeof what, "dense %d × %d → %d, %d %% not zero", s.n, s.in, s.out, percent);
    kit_expect_close(ref.out, fast.y, ref.y, tolerance, what, seed);
    kit_expect_close(ref.in, fast.dx, ref.dx, tolerance, what, seed);
    kit_expect_close(ref.weights, fast.dw, ref.dw, tolerance, what, seed);
    kit_expect_close((size_t)s.out, fast.dbias, ref.dbias, tolerance, what, seed);
    dense_free(&fast);
    dense_free(&ref);
}

/* Sums of integers are exact in any order. */
static void every_table_computes_as_ref_for_random_shapes(const dlk_kernels *k)
{
    for (uint32_t seed = 200; seed < 250; seed++) {
        dlk_dense s = {.n = kit_pick(seed, 0, 1, 140),
                       .in = kit_pick(seed, 1, 1, 300),
                       .out = kit_pick(seed, 2, 1, seed % 2 ? 20 : 150)};
        expect_same_as_ref(s, k, kit_integers, 0, kit_pick(seed, 3, 0, 100), seed);
    }
}

Test(dense, every_table_computes_as_ref_for_random_shapes)
{
    kit_for_every_table(every_table_computes_as_ref_for_random_shapes);
}

/* More than one tile of images, of outputs, and slices of the inputs. */
static void every_table_computes_as_ref_where_it_cuts_the_product(const dlk_kernels *k)
{
    int percent[] = {0, 20, 50, 100};
    for (int i = 0; i < 4; i++) {
        int p = percent[i];
        expect_same_as_ref((dlk_dense){.n = 9, .in = 9216, .out = 128}, k, kit_integers, 0, p, 1);
        expect_same_as_ref((dlk_dense){.n = 131, .in = 1030, .out = 30}, k, kit_integers, 0, p, 2);
        expect_same_as_ref((dlk_dense){.n = 5, .in = 1500, .out = 300}, k, kit_integers, 0, p, 3);
        expect_same_as_ref((dlk_dense){.n = 130, .in = 600, .out = 131}, k, kit_integers, 0, p, 4);
        expect_same_as_ref((dlk_dense){.n = 131, .in = 1000, .out = 10}, k, kit_integers, 0, p, 5);
        expect_same_as_ref((dlk_dense){.n = 300, .in = 800, .out = 3}, k, kit_integers, 0, p, 6);
    }
}

Test(dense, every_table_computes_as_ref_where_it_cuts_the_product)
{
    kit_for_every_table(every_table_computes_as_ref_where_it_cuts_the_product);
}

/* ---- Behind the results there is something else: in a graph dbias behind dweights ---- */

enum { BEHIND = 40 };

static const float untouched = 0.25F;

static float *with_something_behind(size_t count, float *before)
{
    free(before);
    float *array = dlb_alloc(count + BEHIND, sizeof *array);
    for (size_t i = 0; i < count + BEHIND; i++)
        array[i] = untouched;
    return array;
}

static void expect_untouched(const float *array, size_t count, const dense *d, const char *what)
{
    for (size_t i = count; i < count + BEHIND; i++)
        cr_assert(array[i] == untouched, "%d × %d → %d: behind %s there is %g", d->s.n, d->s.in,
                  d->s.out, what, (double)array[i]);
}

static void run_and_look_behind(dlk_dense s, const dlk_kernels *k)
{
    dense d = dense_make(s, k, kit_integers, 90);
    d.y = with_something_behind(d.out, d.y);
    d.dx = with_something_behind(d.in, d.dx);
    d.dw = with_something_behind(d.weights, d.dw);
    dense_run(&d);
    expect_untouched(d.y, d.out, &d, "y");
    expect_untouched(d.dx, d.in, &d, "dx");
    expect_untouched(d.dw, d.weights, &d, "dweights");
    dense_free(&d);
}

static void nothing_behind_the_results_is_written(const dlk_kernels *k)
{
    const int ins[] = {1, 3, 15, 17, 64, 65, 1025}, images[] = {1, 2, 16, 17, 33};
    for (int out = 1; out <= 17; out++)
        for (int i = 0; i < 7; i++)
            for (int n = 0; n < 5; n++)
                run_and_look_behind((dlk_dense){images[n], ins[i], out, images[n] / 2}, k);
}

Test(dense, nothing_behind_the_results_is_written)
{
    kit_for_every_table(nothing_behind_the_results_is_written);
}

/* Real numbers: sums of thousands differ by their order, up to 5e-6 of the largest. */
static void every_table_agrees_with_ref_within_its_bound(const dlk_kernels *k)
{
    for (int percent = 20; percent <= 100; percent += 40) {
        dlk_dense s = {.n = 16, .in = 9216, .out = 128};
        expect_same_as_ref(s, k, kit_uniform, 5e-6, percent, 7);
    }
}

Test(dense, every_table_agrees_with_ref_within_its_bound)
{
    kit_for_every_table(every_table_agrees_with_ref_within_its_bound);
}

/* Number `at` of `numbers` is a NaN while the layer runs. */
static void dense_run_poisoned(dense *d, float *numbers, int at)
{
    float before = numbers[at];
    numbers[at] = NAN;
    dense_run(d);
    numbers[at] = before;
}

static void expect_all_nan(const float *numbers, int count, int stride, const char *what)
{
    for (int i = 0; i < count; i++)
        cr_assert(isnan(numbers[i * stride]), "%s: element %d is a number", what, i);
}

static int count_nan(const float *numbers, size_t count)
{
    int found = 0;
    for (size_t i = 0; i < count; i++)
        found += isnan(numbers[i]) != 0;
    return found;
}

static bool any_nan(const float *numbers, size_t count)
{
    return count_nan(numbers, count) > 0;
}

/* A zero may swallow the NaN that it is multiplied by; anything else may not. */
static void a_nan_reaches_all_that_depends_on_it(const dlk_kernels *k)
{
    const int outs[] = {37, 10, 4};
    for (int percent = 10; percent <= 100; percent += 90)
        for (uint32_t seed = 0; seed < 30; seed++) {
            dlk_dense s = {.n = 11, .in = 150, .out = outs[seed % 3]};
            dense d = dense_make(s, k, kit_uniform, 60);
            dense_thin_out(&d, percent, seed);
            int image = kit_pick(seed, 0, 0, s.n - 1), i = kit_pick(seed, 1, 0, s.in - 1);
            int j = kit_pick(seed, 2, 0, s.out - 1);
            d.dy[image * s.out + 3] = 1.0F;
            dense_run_poisoned(&d, d.x, image * s.in + i);
            expect_all_nan(d.y + image * s.out, s.out, 1, "y");
            cr_assert_eq(count_nan(d.y, d.out), s.out, "other images have a NaN, too");
            cr_assert(any_nan(d.dw, d.weights) && !any_nan(d.dx, d.in));
            dense_run_poisoned(&d, d.dy, image * s.out + j);
            expect_all_nan(d.dx + image * s.in, s.in, 1, "dx");
            cr_assert_eq(count_nan(d.dx, d.in), s.in, "other images have a NaN, too");
            cr_assert(any_nan(d.dw, d.weights) && isnan(d.dbias[j]) && !any_nan(d.y, d.out));
            d.x[image * s.in + i] = d.dy[image * s.out + j] = 1.0F;
            dense_run_poisoned(&d, d.w, i * s.out + j);
            cr_assert(isnan(d.y[image * s.out + j]) && isnan(d.dx[image * s.in + i]));
            dense_free(&d);
        }
}

Test(dense, a_nan_reaches_all_that_depends_on_it)
{
    kit_for_every_table(a_nan_reaches_all_that_depends_on_it);
}

/* ---- Zeros are skipped, but not where that would hide what is not finite ---- */

/* With all of an image zero, y and dx of it have nothing else; with a column of dy, dweights. */
static void zeros_do_not_hide(dlk_dense s, const dlk_kernels *k, float bad, int i, int j)
{
    const int image = s.n - 1;
    dense d = dense_make(s, k, kit_uniform, 97);
    kit_thin_out(d.in, d.x, 30, 98);
    memset(d.x + image * s.in, 0, (size_t)s.in * sizeof *d.x);
    memset(d.dy + image * s.out, 0, (size_t)s.out * sizeof *d.dy);
    d.w[i * s.out + j] = bad;
    dense_run(&d);
    cr_assert(isnan(d.y[image * s.out + j]), "y: %g of 0 × %g (%d → %d)",
              (double)d.y[image * s.out + j], (double)bad, s.in, s.out);
    cr_assert(isnan(d.dx[image * s.in + i]), "dx: %g of 0 × %g (%d → %d)",
              (double)d.dx[image * s.in + i], (double)bad, s.in, s.out);
    for (int n = 0; n < s.n; n++)
        d.dy[n * s.out + j] = 0;
    d.x[i] = bad;
    dense_run(&d);
    cr_assert(isnan(d.dw[i * s.out + j]), "dweights: %g of 0 × %g (%d → %d)",
              (double)d.dw[i * s.out + j], (double)bad, s.in, s.out);
    dense_free(&d);
}

/* Rows of 1 to 8 vectors, whole and not, as they lie there and copied. */
static void zeros_hide_nothing(const dlk_kernels *k)
{
    const int widths[] = {17, 32, 48, 50, 64, 70, 96, 100, 128, 150};
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int w = 0; w < 10; w++)
        for (int in = 0; in < 10; in += 3)
            for (int b = 0; b < 3; b++) {
                dlk_dense s = {.n = 20, .in = widths[in], .out = widths[w], .half = 16 * (b % 2)};
                zeros_do_not_hide(s, k, bad[b], 0, s.out - 1);
                zeros_do_not_hide(s, k, bad[b], s.in - 1, 0);
                zeros_do_not_hide(s, k, bad[b], s.in / 2, s.out / 2);
            }
}

Test(dense, zeros_do_not_hide_what_is_not_finite)
{
    kit_for_every_table(zeros_hide_nothing);
}

/* y and dx of the images from `first` on, computed on their own. */
static void expect_same_alone(const dense *whole, int first, int count)
{
    dense d = *whole;
    size_t x = (size_t)first * (size_t)d.s.in, y = (size_t)first * (size_t)d.s.out;
    d.s.n = count;
    d.in = kit_size(1, 1, count, d.s.in);
    d.out = kit_size(1, 1, count, d.s.out);
    d.y = kit_zeros(d.out);
    d.dx = kit_zeros(d.in);
    dlk_team *team = kit_team_of(d.team);
    d.kernels.dense_forward(team, &d.s, d.x + x, d.w, d.bias, d.y);
    d.kernels.dense_backward_data(team, &d.s, d.dy + y, d.w, d.dx);
    kit_expect_equal(d.out, d.y, whole->y + y, "y", (uint32_t)first);
    kit_expect_equal(d.in, d.dx, whole->dx + x, "dx", (uint32_t)first);
    free(d.y);
    free(d.dx);
}

/* A graph takes images through small layers in parts. */
static void an_image_does_not_depend_on_those_beside_it(const dlk_kernels *k)
{
    const int shapes[][3] = {{128, 128, 10},  {64, 50, 10},    {64, 320, 50},
                             {37, 33, 1},     {300, 1000, 16}, {70, 64, 64},
                             {2304, 1024, 4}, {1152, 512, 8},  {1300, 512, 32}};
    for (uint32_t i = 0; k->family != DLK_FAMILY_BLAS && i < 9; i++) {
        dlk_dense s = {.n = shapes[i][0], .in = shapes[i][1], .out = shapes[i][2]};
        dense d = dense_make(s, k, kit_uniform, 95);
        dense_thin_out(&d, i % 2 ? 100 : 30, i);
        dense_run(&d);
        for (int first = 0, count; first < d.s.n; first += count) {
            count = d.s.n - first < 16 ? d.s.n - first : 16;
            expect_same_alone(&d, first, count);
        }
        expect_same_alone(&d, d.s.n / 2, 1);
        dense_free(&d);
    }
}

Test(dense, an_image_does_not_depend_on_those_beside_it)
{
    kit_for_every_table(an_image_does_not_depend_on_those_beside_it);
}

/* Of images [first, end). */
static void gradients_of(const dense *whole, int first, int end, float *dw, float *dbias)
{
    const dlk_dense *s = &whole->s;
    const float *x = whole->x + (size_t)first * (size_t)s->in;
    const float *dy = whole->dy + (size_t)first * (size_t)s->out;
    dlk_dense part = {.n = end - first, .in = s->in, .out = s->out};
    whole->kernels.dense_backward_weights(kit_team_of(whole->team), &part, x, dy, dw, dbias);
}

static void expect_sum(size_t count, const float *got, const float *a, const float *b,
                       double tolerance, const char *what, uint32_t seed)
{
    float *sum = kit_zeros(count);
    for (size_t i = 0; i < count; i++)
        sum[i] = a[i] + b[i];
    kit_expect_close(count, got, sum, tolerance, what, seed);
    free(sum);
}

/* Two threads may each take a half, and one thread both: the model that is learnt is the same. */
static void gradients_by_halves_are_those_of_both_added(const dlk_kernels *k)
{
    double tolerance = k->family == DLK_FAMILY_BLAS ? 1e-6 : 0;
    for (uint32_t seed = 300; seed < 350; seed++) {
        dlk_dense s = {.n = kit_pick(seed, 0, 2, 260),
                       .in = kit_pick(seed, 1, 1, 400),
                       .out = kit_pick(seed, 2, 1, seed % 2 ? 20 : 150)};
        s.half = kit_pick(seed, 4, 1, s.n - 1);
        dense d = dense_make(s, k, kit_uniform, seed);
        dense_thin_out(&d, kit_pick(seed, 3, 0, 100), seed);
        dense_run(&d);
        float *dw[2] = {kit_zeros(d.weights), kit_zeros(d.weights)};
        float *dbias[2] = {kit_zeros((size_t)s.out), kit_zeros((size_t)s.out)};
        gradients_of(&d, 0, s.half, dw[0], dbias[0]);
        gradients_of(&d, s.half, s.n, dw[1], dbias[1]);
        expect_sum(d.weights, d.dw, dw[0], dw[1], tolerance, "dweights", seed);
        if (k->family != DLK_FAMILY_BLAS)
            expect_sum((size_t)s.out, d.dbias, dbias[0], dbias[1], 0, "dbias", seed);
        for (int half = 0; half < 2; half++) {
            free(dw[half]);
            free(dbias[half]);
        }
        dense_free(&d);
    }
}

Test(dense, gradients_by_halves_are_those_of_both_added)
{
    kit_for_every_table(gradients_by_halves_are_those_of_both_added);
}

/* Unless a thread flushes them, denormals count. */
static void denormals_are_not_zeros(const dlk_kernels *k)
{
    dlk_dense s = {.n = 3, .in = 70, .out = 5};
    dense d = dense_make(s, k, kit_uniform, 70);
    memset(d.bias, 0, (size_t)s.out * sizeof *d.bias);
    for (size_t i = 0; i < d.in; i++)
        d.x[i] = ldexpf(1.0F, -140);
    for (size_t i = 0; i < d.weights; i++)
        d.w[i] = ldexpf(1.0F, 100);
    dense_run(&d);
    for (size_t i = 0; i < d.out; i++)
        cr_assert(d.y[i] == ldexpf(70.0F, -40), "y is %g", (double)d.y[i]);
    dense_free(&d);
}

Test(dense, denormals_are_not_zeros)
{
    kit_for_every_table(denormals_are_not_zeros);
}

/* The scratch of a team is planned for the full batch, and a last batch may be any smaller one. */
static void a_smaller_batch_needs_no_more_scratch(const dlk_kernels *k)
{
    dense d = dense_make((dlk_dense){.n = 600, .in = 3000, .out = 130}, k, kit_integers, 80);
    memset(d.x, 0, d.in * sizeof *d.x);
    for (int n = 600; n > 0; n -= 88) {
        d.s.n = n;
        d.s.half = n / 2 + n % 3;
        dense_run(&d);
        kit_expect_equal((size_t)d.s.out, d.y + (n - 1) * d.s.out, d.bias, "y", (uint32_t)n);
    }
    dense_free(&d);
}

Test(dense, a_smaller_batch_needs_no_more_scratch)
{
    kit_for_every_table(a_smaller_batch_needs_no_more_scratch);
}
