#include <criterion/criterion.h>
#include <math.h>

#include "kit.h"

enum { COUNT = 20011 }; /* more than one task */

/* The first element is compared with a calculation by hand, the others with the first. */
typedef struct optim {
    float *grad, *weights, *state, *second;
    dlk_kernels kernels;
    kit_team *team;
} optim;

static void fill(float *array, float value)
{
    for (int i = 0; i < COUNT; i++)
        array[i] = value;
}

static optim optim_make(const dlk_kernels *k, float weight, float grad)
{
    optim o = {.kernels = *k, .team = kit_team_start(1, 0, 0)};
    o.grad = kit_zeros(COUNT);
    o.weights = kit_zeros(COUNT);
    o.state = kit_zeros(COUNT);
    o.second = kit_zeros(COUNT);
    fill(o.grad, grad);
    fill(o.weights, weight);
    return o;
}

static void optim_free(optim *o)
{
    free(o->second);
    free(o->state);
    free(o->weights);
    free(o->grad);
    kit_team_stop(o->team);
}

static void expect_weight(const optim *o, double want)
{
    for (int i = 0; i < COUNT; i++)
        cr_assert(fabs((double)o->weights[i] - want) < 1e-6, "weight %d is %.8f instead of %.8f", i,
                  (double)o->weights[i], want);
}

static void sgd_step(optim *o, const dlk_sgd *s)
{
    o->kernels.sgd(kit_team_of(o->team), COUNT, s, o->grad, o->weights,
                   s->momentum == 0.0F ? NULL : o->state);
}

static void plain_sgd_steps_against_the_gradient(const dlk_kernels *k)
{
    optim o = optim_make(k, 2.0F, 0.5F);
    sgd_step(&o, &(dlk_sgd){.lr = 0.1F, .scale = 1});
    expect_weight(&o, 1.95);
    optim_free(&o);
}

Test(optim, plain_sgd_steps_against_the_gradient)
{
    kit_for_every_table(plain_sgd_steps_against_the_gradient);
}

static void weight_decay_is_added_to_the_gradient(const dlk_kernels *k)
{
    optim o = optim_make(k, 2.0F, 0.5F);
    sgd_step(&o, &(dlk_sgd){.lr = 0.1F, .scale = 1, .weight_decay = 0.25F});
    expect_weight(&o, 2.0 - 0.1 * (0.5 + 0.25 * 2.0));
    optim_free(&o);
}

Test(optim, weight_decay_is_added_to_the_gradient)
{
    kit_for_every_table(weight_decay_is_added_to_the_gradient);
}

static void momentum_accumulates_velocity(const dlk_kernels *k)
{
    optim o = optim_make(k, 2.0F, 0.5F);
    dlk_sgd s = {.lr = 0.1F, .scale = 1, .momentum = 0.9F};
    sgd_step(&o, &s); /* velocity 0.5 */
    expect_weight(&o, 1.95);
    fill(o.grad, -0.25F);
    sgd_step(&o, &s); /* velocity 0.45 - 0.25 */
    expect_weight(&o, 1.95 - 0.1 * 0.2);
    optim_free(&o);
}

Test(optim, momentum_accumulates_velocity)
{
    kit_for_every_table(momentum_accumulates_velocity);
}

static void nesterov_looks_ahead(const dlk_kernels *k)
{
    optim o = optim_make(k, 2.0F, 0.5F);
    dlk_sgd s = {.lr = 0.1F, .scale = 1, .momentum = 0.9F, .nesterov = 1};
    sgd_step(&o, &s); /* along 0.5 + 0.9 * 0.5 */
    expect_weight(&o, 2.0 - 0.1 * 0.95);
    sgd_step(&o, &s); /* velocity 0.95, along 0.5 + 0.9 * 0.95 */
    expect_weight(&o, 2.0 - 0.1 * 0.95 - 0.1 * 1.355);
    optim_free(&o);
}

Test(optim, nesterov_looks_ahead)
{
    kit_for_every_table(nesterov_looks_ahead);
}

static void scale_multiplies_the_gradient_with_its_weight_decay(const dlk_kernels *k)
{
    optim o = optim_make(k, 2.0F, 0.5F);
    sgd_step(&o, &(dlk_sgd){.lr = 0.1F, .scale = 0.25F, .weight_decay = 0.25F});
    expect_weight(&o, 2.0 - 0.1 * 0.25 * (0.5 + 0.25 * 2.0));
    optim_free(&o);
}

Test(optim, scale_multiplies_the_gradient_with_its_weight_decay)
{
    kit_for_every_table(scale_multiplies_the_gradient_with_its_weight_decay);
}

static void velocity_keeps_the_scale_of_its_step(const dlk_kernels *k)
{
    optim o = optim_make(k, 2.0F, 0.5F);
    sgd_step(&o, &(dlk_sgd){.lr = 0.1F, .scale = 0.5F, .momentum = 0.9F}); /* velocity 0.25 */
    expect_weight(&o, 1.975);
    sgd_step(&o, &(dlk_sgd){.lr = 0.1F, .scale = 0.1F, .momentum = 0.9F}); /* 0.225 + 0.05 */
    expect_weight(&o, 1.975 - 0.1 * 0.275);
    optim_free(&o);
}

Test(optim, velocity_keeps_the_scale_of_its_step)
{
    kit_for_every_table(velocity_keeps_the_scale_of_its_step);
}

/* Fused multiply-adds round once instead of twice. */
static void sgd_is_the_formula_up_to_rounding(const dlk_kernels *k)
{
    optim o = optim_make(k, 0.0F, 0.0F);
    float *expected = kit_uniform(COUNT, 1);
    for (int i = 0; i < COUNT; i++) {
        o.weights[i] = expected[i];
        o.grad[i] = 3.1F * expected[COUNT - 1 - i];
    }
    for (int i = 0; i < COUNT; i++)
        expected[i] -= 0.1F * (o.grad[i] + 1e-4F * expected[i]);
    sgd_step(&o, &(dlk_sgd){.lr = 0.1F, .scale = 1, .weight_decay = 1e-4F});
    kit_expect_close(COUNT, o.weights, expected, k->family == DLK_FAMILY_SIMD ? 1e-7 : 0.0,
                     "weights", 1);
    free(expected);
    optim_free(&o);
}

Test(optim, sgd_is_the_formula_up_to_rounding)
{
    kit_for_every_table(sgd_is_the_formula_up_to_rounding);
}

static dlk_adam adam_at(int t, float weight_decay)
{
    double lr = 1e-3, correction = sqrt(1 - pow(0.999, t)) / (1 - pow(0.9, t));
    return (dlk_adam){.beta1 = 0.9,
                      .beta2 = 0.999,
                      .step_size = (float)(lr * correction),
                      .epsilon = 1e-7F,
                      .weight_decay = weight_decay};
}

static void adam_step(optim *o, int t, float weight_decay)
{
    dlk_adam s = adam_at(t, weight_decay);
    o->kernels.adam(kit_team_of(o->team), COUNT, &s, o->grad, o->weights, o->state, o->second);
}

/* Two steps with gradients 0.5 and -2, in double. */
static void adam_is_that_of_keras(const dlk_kernels *k)
{
    optim o = optim_make(k, 1.0F, 0.5F);
    adam_step(&o, 1, 0.0F);
    double m = 0.1 * 0.5, v = 0.001 * 0.25;
    double w = 1.0 - 1e-3 * sqrt(1 - 0.999) / (1 - 0.9) * m / (sqrt(v) + 1e-7);
    expect_weight(&o, w);
    fill(o.grad, -2.0F);
    adam_step(&o, 2, 0.0F);
    m = 0.9 * m + 0.1 * -2.0;
    v = 0.999 * v + 0.001 * 4.0;
    w -= 1e-3 * sqrt(1 - 0.999 * 0.999) / (1 - 0.81) * m / (sqrt(v) + 1e-7);
    expect_weight(&o, w);
    cr_assert(fabs((double)o.state[COUNT - 1] / m - 1) < 1e-6);
    cr_assert(fabs((double)o.second[COUNT - 1] / v - 1) < 1e-6);
    optim_free(&o);
}

Test(optim, adam_is_that_of_keras)
{
    kit_for_every_table(adam_is_that_of_keras);
}

static void adams_first_step_is_the_learning_rate_whatever_the_gradient(const dlk_kernels *k)
{
    float gradients[] = {0.1F, 1.0F, -1e4F};
    for (int i = 0; i < 3; i++) {
        optim o = optim_make(k, 1.0F, gradients[i]);
        adam_step(&o, 1, 0.0F);
        expect_weight(&o, gradients[i] > 0 ? 0.999 : 1.001);
        optim_free(&o);
    }
}

Test(optim, adams_first_step_is_the_learning_rate_whatever_the_gradient)
{
    kit_for_every_table(adams_first_step_is_the_learning_rate_whatever_the_gradient);
}

static void adams_weight_decay_is_added_to_the_gradient(const dlk_kernels *k)
{
    optim decayed = optim_make(k, 2.0F, 0.5F), plain = optim_make(k, 2.0F, 0.5F + 0.25F * 2.0F);
    adam_step(&decayed, 1, 0.25F);
    adam_step(&plain, 1, 0.0F);
    kit_expect_equal(COUNT, decayed.weights, plain.weights, "weights", 0);
    kit_expect_equal(COUNT, decayed.second, plain.second, "v", 0);
    optim_free(&plain);
    optim_free(&decayed);
}

Test(optim, adams_weight_decay_is_added_to_the_gradient)
{
    kit_for_every_table(adams_weight_decay_is_added_to_the_gradient);
}

static void adagrad_divides_by_all_gradients_so_far(const dlk_kernels *k)
{
    optim o = optim_make(k, 1.0F, 3.0F);
    dlk_adagrad s = {.lr = 0.1F, .epsilon = 1e-7F};
    o.kernels.adagrad(kit_team_of(o.team), COUNT, &s, o.grad, o.weights, o.state);
    expect_weight(&o, 0.9);
    fill(o.grad, 4.0F);
    o.kernels.adagrad(kit_team_of(o.team), COUNT, &s, o.grad, o.weights, o.state);
    expect_weight(&o, 0.9 - 0.1 * 4.0 / 5.0);
    optim_free(&o);
}

Test(optim, adagrad_divides_by_all_gradients_so_far)
{
    kit_for_every_table(adagrad_divides_by_all_gradients_so_far);
}

static void a_gradient_of_zero_moves_nothing(const dlk_kernels *k)
{
    optim o = optim_make(k, 1.0F, 0.0F);
    dlk_adagrad s = {.lr = 0.1F, .epsilon = 1e-7F};
    adam_step(&o, 1, 0.0F);
    o.kernels.adagrad(kit_team_of(o.team), COUNT, &s, o.grad, o.weights, o.state);
    expect_weight(&o, 1.0);
    optim_free(&o);
}

Test(optim, a_gradient_of_zero_moves_nothing)
{
    kit_for_every_table(a_gradient_of_zero_moves_nothing);
}

/* Numbers of all magnitudes, so that rounding and divisions differ where they can. */
static optim optim_random(const dlk_kernels *k, uint32_t seed)
{
    optim o = optim_make(k, 0.0F, 0.0F);
    for (uint32_t i = 0; i < COUNT; i++) {
        float magnitude = ldexpf(1.0F, kit_pick(seed, i, -20, 4));
        o.grad[i] = magnitude * (float)kit_pick(seed + 1, i, -1000, 1000) / 1000.0F;
        o.weights[i] = (float)kit_pick(seed + 2, i, -1000, 1000) / 1000.0F;
        o.state[i] = 0.5F * o.grad[i];
        o.second[i] = 0.25F * o.grad[i] * o.grad[i];
    }
    return o;
}

static void expect_same_state(const optim *got, const optim *want)
{
    kit_expect_close(COUNT, got->weights, want->weights, 2e-7, "weights", 0);
    kit_expect_close(COUNT, got->state, want->state, 2e-7, "first state", 0);
    kit_expect_close(COUNT, got->second, want->second, 2e-7, "second state", 0);
}

static void every_table_steps_as_ref(const dlk_kernels *k)
{
    dlk_kernels ref = kit_kernels(DLK_FAMILY_REF);
    dlk_adagrad adagrad = {.lr = 0.1F, .epsilon = 1e-7F, .weight_decay = 1e-3F};
    dlk_sgd sgd = {.lr = 0.1F, .scale = 0.7F, .momentum = 0.9F, .weight_decay = 1e-3F};
    for (int which = 0; which < 4; which++) {
        optim o[] = {optim_random(k, 5), optim_random(&ref, 5)};
        sgd.nesterov = which == 1;
        for (int i = 0; i < 2; i++)
            if (which < 2)
                sgd_step(&o[i], &sgd);
            else if (which == 2)
                adam_step(&o[i], 3, 1e-3F);
            else
                o[i].kernels.adagrad(kit_team_of(o[i].team), COUNT, &adagrad, o[i].grad,
                                     o[i].weights, o[i].second);
        expect_same_state(&o[0], &o[1]);
        optim_free(&o[0]);
        optim_free(&o[1]);
    }
}

Test(optim, every_table_steps_as_ref)
{
    kit_for_every_table(every_table_steps_as_ref);
}
