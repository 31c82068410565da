#include <criterion/criterion.h>
#include <math.h>

#include "kit.h"

enum { N = 37, CLASSES = 10 };

typedef struct softmax {
    int n;
    float logits[N * CLASSES], dlogits[N * CLASSES], losses[N];
    uint8_t labels[N];
    float scale;
    dlk_softmax_result result;
    dlk_kernels kernels;
    kit_team *team;
} softmax;

static softmax *softmax_make(const dlk_kernels *k, int n)
{
    softmax *s = calloc(1, sizeof *s);
    s->n = n;
    s->scale = 1.0F;
    s->kernels = *k;
    s->team = kit_team_start(1, 0, 0);
    float *numbers = kit_uniform(N * CLASSES, 5);
    for (int i = 0; i < N * CLASSES; i++)
        s->logits[i] = 3.0F * numbers[i];
    for (int i = 0; i < N; i++)
        s->labels[i] = (uint8_t)kit_pick(6, (uint32_t)i, 0, CLASSES - 1);
    free(numbers);
    return s;
}

static void softmax_free(softmax *s)
{
    kit_team_stop(s->team);
    free(s);
}

static void softmax_run(softmax *s)
{
    s->kernels.softmax_xent(kit_team_of(s->team), s->n, CLASSES, s->logits, s->labels, s->scale,
                            s->losses, s->dlogits, &s->result);
}

static double softmax_value(void *context)
{
    softmax *s = context;
    float unused[N * CLASSES];
    s->kernels.softmax_xent(kit_team_of(s->team), s->n, CLASSES, s->logits, s->labels, 1.0F,
                            s->losses, unused, &s->result);
    return s->result.loss_sum * (double)s->scale;
}

static void gradients_are_those_of_central_differences(const dlk_kernels *k)
{
    softmax *s = softmax_make(k, N);
    s->scale = 0.25F;
    softmax_run(s);
    kit_expect_gradient(N * CLASSES, s->logits, s->dlogits, 0.01F, 1e-4, softmax_value, s,
                        "dlogits");
    softmax_free(s);
}

Test(softmax_xent, gradients_are_those_of_central_differences)
{
    kit_for_every_table(gradients_are_those_of_central_differences);
}

static void the_loss_is_the_negative_log_of_the_labels_probability(const dlk_kernels *k)
{
    softmax *s = softmax_make(k, 1);
    float logits[CLASSES] = {1, 2, 3};
    memcpy(s->logits, logits, sizeof logits);
    s->labels[0] = 2;
    softmax_run(s);
    double sum = exp(1) + exp(2) + exp(3) + 7;
    cr_assert(fabs(s->result.loss_sum - log(sum / exp(3))) < 1e-6);
    cr_assert(s->result.correct == 1);
    softmax_free(s);
}

Test(softmax_xent, the_loss_is_the_negative_log_of_the_labels_probability)
{
    kit_for_every_table(the_loss_is_the_negative_log_of_the_labels_probability);
}

static void the_gradient_of_an_image_sums_to_zero(const dlk_kernels *k)
{
    softmax *s = softmax_make(k, N);
    softmax_run(s);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int c = 0; c < CLASSES; c++)
            sum += (double)s->dlogits[i * CLASSES + c];
        cr_assert(fabs(sum) < 1e-6, "image %d", i);
        cr_assert(s->dlogits[i * CLASSES + s->labels[i]] < 0, "image %d", i);
    }
    softmax_free(s);
}

Test(softmax_xent, the_gradient_of_an_image_sums_to_zero)
{
    kit_for_every_table(the_gradient_of_an_image_sums_to_zero);
}

static void large_logits_do_not_overflow(const dlk_kernels *k)
{
    softmax *s = softmax_make(k, 2);
    for (int c = 0; c < CLASSES; c++) {
        s->logits[c] = 1e30F;
        s->logits[CLASSES + c] = c == 3 ? 1000.0F : -1000.0F;
    }
    s->labels[0] = 0;
    s->labels[1] = 4;
    softmax_run(s);
    cr_assert(fabs((double)s->losses[0] - log(CLASSES)) < 1e-6);
    cr_assert(s->losses[1] == 2000.0F);
    cr_assert(s->result.correct == 1, "the first of equals is the label");
    softmax_free(s);
}

Test(softmax_xent, large_logits_do_not_overflow)
{
    kit_for_every_table(large_logits_do_not_overflow);
}

/* A diverged training must not look like a finite one. */
static void a_logit_that_is_not_finite_makes_the_loss_not_finite(const dlk_kernels *k)
{
    float poisons[] = {NAN, INFINITY, -INFINITY};
    for (int p = 0; p < 3; p++)
        for (int c = 0; c < CLASSES; c++) {
            softmax *s = softmax_make(k, 3);
            s->logits[CLASSES + c] = poisons[p];
            s->labels[1] = 0;
            softmax_run(s);
            cr_assert(isfinite(s->losses[0]) && isfinite(s->losses[2]));
            cr_assert(!isfinite(s->result.loss_sum), "%g at %d", (double)poisons[p], c);
            softmax_free(s);
        }
}

Test(softmax_xent, a_logit_that_is_not_finite_makes_the_loss_not_finite)
{
    kit_for_every_table(a_logit_that_is_not_finite_makes_the_loss_not_finite);
}

static void an_image_that_is_not_finite_is_not_correct(const dlk_kernels *k)
{
    softmax *s = softmax_make(k, 1);
    s->logits[0] = NAN;
    s->labels[0] = 0;
    softmax_run(s);
    cr_assert(s->result.correct == 0);
    softmax_free(s);
}

Test(softmax_xent, an_image_that_is_not_finite_is_not_correct)
{
    kit_for_every_table(an_image_that_is_not_finite_is_not_correct);
}

static void evaluation_needs_no_gradient(const dlk_kernels *k)
{
    softmax *s = softmax_make(k, N);
    softmax_run(s);
    dlk_softmax_result with = s->result, without;
    s->kernels.softmax_xent(kit_team_of(s->team), N, CLASSES, s->logits, s->labels, 1.0F, s->losses,
                            NULL, &without);
    cr_assert(with.loss_sum == without.loss_sum && with.correct == without.correct);
    softmax_free(s);
}

Test(softmax_xent, evaluation_needs_no_gradient)
{
    kit_for_every_table(evaluation_needs_no_gradient);
}

static void the_gradient_may_take_the_place_of_the_logits(const dlk_kernels *k)
{
    softmax *s = softmax_make(k, N);
    softmax_run(s);
    s->kernels.softmax_xent(kit_team_of(s->team), N, CLASSES, s->logits, s->labels, 1.0F, s->losses,
                            s->logits, &s->result);
    kit_expect_equal(N * CLASSES, s->logits, s->dlogits, "dlogits", 0);
    softmax_free(s);
}

Test(softmax_xent, the_gradient_may_take_the_place_of_the_logits)
{
    kit_for_every_table(the_gradient_may_take_the_place_of_the_logits);
}

/* More classes than a table may keep in registers or on a stack, and odd numbers of images. */
static void every_table_computes_as_ref(const dlk_kernels *k)
{
    dlk_kernels ref = kit_kernels(DLK_FAMILY_REF);
    kit_team *team = kit_team_start(1, 0, 0);
    int classes[] = {1, 2, 3, 10, 64, 65, 200}, images[] = {1, 5, 16, 300, 7, 9, 3};
    for (uint32_t i = 0; i < 7; i++) {
        size_t n = (size_t)images[i], count = n * (size_t)classes[i];
        float *logits = kit_uniform(count, i), *got = kit_zeros(count), *want = kit_zeros(count);
        float *losses = kit_zeros(2 * n);
        uint8_t labels[300];
        for (uint32_t j = 0; j < n; j++)
            labels[j] = (uint8_t)kit_pick(7, j, 0, classes[i] - 1);
        for (size_t j = 0; j < count; j++)
            logits[j] *= 20.0F;
        dlk_softmax_result result, expected;
        k->softmax_xent(kit_team_of(team), images[i], classes[i], logits, labels, 0.5F, losses, got,
                        &result);
        ref.softmax_xent(kit_team_of(team), images[i], classes[i], logits, labels, 0.5F, losses + n,
                         want, &expected);
        kit_expect_close(n, losses, losses + n, 3e-7, "losses", i);
        kit_expect_close(count, got, want, 6e-7, "dlogits", i);
        cr_assert(result.correct == expected.correct);
        free(losses);
        free(want);
        free(got);
        free(logits);
    }
    kit_team_stop(team);
}

Test(softmax_xent, every_table_computes_as_ref)
{
    kit_for_every_table(every_table_computes_as_ref);
}

/* The label's probability is 1 up to a rounding, but its loss is not 0. */
static void a_small_loss_keeps_its_digits(const dlk_kernels *k)
{
    softmax *s = softmax_make(k, 1);
    for (int c = 0; c < CLASSES; c++)
        s->logits[c] = c == 4 ? 0.0F : -19.0F;
    s->labels[0] = 4;
    softmax_run(s);
    cr_assert(fabs(s->result.loss_sum / log1p(9 * exp(-19)) - 1) < 1e-6);
    softmax_free(s);
}

Test(softmax_xent, a_small_loss_keeps_its_digits)
{
    kit_for_every_table(a_small_loss_keeps_its_digits);
}
