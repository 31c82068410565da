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

static softmax *softmax_make(int n)
{
    softmax *s = calloc(1, sizeof *s);
    s->n = n;
    s->scale = 1.0F;
    s->kernels = kit_kernels(DLK_FAMILY_AUTO);
    s->team = kit_team_start(1, 0);
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

Test(softmax_xent, gradients_are_those_of_central_differences)
{
    softmax *s = softmax_make(N);
    s->scale = 0.25F;
    softmax_run(s);
    kit_expect_gradient(N * CLASSES, s->logits, s->dlogits, 0.01F, 1e-4, softmax_value, s,
                        "dlogits");
    softmax_free(s);
}

Test(softmax_xent, the_loss_is_the_negative_log_of_the_labels_probability)
{
    softmax *s = softmax_make(1);
    float logits[CLASSES] = {1, 2, 3};
    memcpy(s->logits, logits, sizeof logits);
    s->labels[0] = 2;
    softmax_run(s);
    double sum = exp(1) + exp(2) + exp(3) + 7;
    cr_assert(fabs(s->result.loss_sum - log(sum / exp(3))) < 1e-6);
    cr_assert(s->result.correct == 1);
    softmax_free(s);
}

Test(softmax_xent, the_gradient_of_an_image_sums_to_zero)
{
    softmax *s = softmax_make(N);
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

Test(softmax_xent, large_logits_do_not_overflow)
{
    softmax *s = softmax_make(2);
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

/* A diverged training must not look like a finite one. */
Test(softmax_xent, a_logit_that_is_not_finite_makes_the_loss_not_finite)
{
    float poisons[] = {NAN, INFINITY, -INFINITY};
    for (int p = 0; p < 3; p++)
        for (int c = 0; c < CLASSES; c++) {
            softmax *s = softmax_make(3);
            s->logits[CLASSES + c] = poisons[p];
            s->labels[1] = 0;
            softmax_run(s);
            cr_assert(isfinite(s->losses[0]) && isfinite(s->losses[2]));
            cr_assert(!isfinite(s->result.loss_sum), "%g at %d", (double)poisons[p], c);
            softmax_free(s);
        }
}

Test(softmax_xent, an_image_that_is_not_finite_is_not_correct)
{
    softmax *s = softmax_make(1);
    s->logits[0] = NAN;
    s->labels[0] = 0;
    softmax_run(s);
    cr_assert(s->result.correct == 0);
    softmax_free(s);
}

Test(softmax_xent, evaluation_needs_no_gradient)
{
    softmax *s = softmax_make(N);
    softmax_run(s);
    dlk_softmax_result with = s->result, without;
    s->kernels.softmax_xent(kit_team_of(s->team), N, CLASSES, s->logits, s->labels, 1.0F, s->losses,
                            NULL, &without);
    cr_assert(with.loss_sum == without.loss_sum && with.correct == without.correct);
    softmax_free(s);
}

Test(softmax_xent, the_gradient_may_take_the_place_of_the_logits)
{
    softmax *s = softmax_make(N);
    softmax_run(s);
    s->kernels.softmax_xent(kit_team_of(s->team), N, CLASSES, s->logits, s->labels, 1.0F, s->losses,
                            s->logits, &s->result);
    kit_expect_equal(N * CLASSES, s->logits, s->dlogits, "dlogits", 0);
    softmax_free(s);
}
