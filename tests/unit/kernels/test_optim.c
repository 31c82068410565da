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

static optim optim_make(float weight, float grad)
{
    optim o = {.kernels = kit_kernels(DLK_FAMILY_AUTO), .team = kit_team_start(1, 0)};
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

Test(optim, plain_sgd_steps_against_the_gradient)
{
    optim o = optim_make(2.0F, 0.5F);
    sgd_step(&o, &(dlk_sgd){.lr = 0.1F, .scale = 1});
    expect_weight(&o, 1.95);
    optim_free(&o);
}

Test(optim, weight_decay_is_added_to_the_gradient)
{
    optim o = optim_make(2.0F, 0.5F);
    sgd_step(&o, &(dlk_sgd){.lr = 0.1F, .scale = 1, .weight_decay = 0.25F});
    expect_weight(&o, 2.0 - 0.1 * (0.5 + 0.25 * 2.0));
    optim_free(&o);
}

Test(optim, momentum_accumulates_velocity)
{
    optim o = optim_make(2.0F, 0.5F);
    dlk_sgd s = {.lr = 0.1F, .scale = 1, .momentum = 0.9F};
    sgd_step(&o, &s); /* velocity 0.5 */
    expect_weight(&o, 1.95);
    fill(o.grad, -0.25F);
    sgd_step(&o, &s); /* velocity 0.45 - 0.25 */
    expect_weight(&o, 1.95 - 0.1 * 0.2);
    optim_free(&o);
}

Test(optim, nesterov_looks_ahead)
{
    optim o = optim_make(2.0F, 0.5F);
    dlk_sgd s = {.lr = 0.1F, .scale = 1, .momentum = 0.9F, .nesterov = 1};
    sgd_step(&o, &s); /* along 0.5 + 0.9 * 0.5 */
    expect_weight(&o, 2.0 - 0.1 * 0.95);
    sgd_step(&o, &s); /* velocity 0.95, along 0.5 + 0.9 * 0.95 */
    expect_weight(&o, 2.0 - 0.1 * 0.95 - 0.1 * 1.355);
    optim_free(&o);
}

Test(optim, scale_multiplies_the_gradient_with_its_weight_decay)
{
    optim o = optim_make(2.0F, 0.5F);
    sgd_step(&o, &(dlk_sgd){.lr = 0.1F, .scale = 0.25F, .weight_decay = 0.25F});
    expect_weight(&o, 2.0 - 0.1 * 0.25 * (0.5 + 0.25 * 2.0));
    optim_free(&o);
}

Test(optim, velocity_keeps_the_scale_of_its_step)
{
    optim o = optim_make(2.0F, 0.5F);
    sgd_step(&o, &(dlk_sgd){.lr = 0.1F, .scale = 0.5F, .momentum = 0.9F}); /* velocity 0.25 */
    expect_weight(&o, 1.975);
    sgd_step(&o, &(dlk_sgd){.lr = 0.1F, .scale = 0.1F, .momentum = 0.9F}); /* 0.225 + 0.05 */
    expect_weight(&o, 1.975 - 0.1 * 0.275);
    optim_free(&o);
}

Test(optim, a_scale_of_1_changes_no_bit)
{
    optim o = optim_make(0.0F, 0.0F);
    float *expected = kit_uniform(COUNT, 1);
    for (int i = 0; i < COUNT; i++) {
        o.weights[i] = expected[i];
        o.grad[i] = 3.1F * expected[COUNT - 1 - i];
    }
    for (int i = 0; i < COUNT; i++)
        expected[i] -= 0.1F * (o.grad[i] + 1e-4F * expected[i]);
    sgd_step(&o, &(dlk_sgd){.lr = 0.1F, .scale = 1, .weight_decay = 1e-4F});
    kit_expect_equal(COUNT, o.weights, expected, "weights", 1);
    free(expected);
    optim_free(&o);
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
Test(optim, adam_is_that_of_keras)
{
    optim o = optim_make(1.0F, 0.5F);
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

Test(optim, adams_first_step_is_the_learning_rate_whatever_the_gradient)
{
    float gradients[] = {0.1F, 1.0F, -1e4F};
    for (int i = 0; i < 3; i++) {
        optim o = optim_make(1.0F, gradients[i]);
        adam_step(&o, 1, 0.0F);
        expect_weight(&o, gradients[i] > 0 ? 0.999 : 1.001);
        optim_free(&o);
    }
}

Test(optim, adams_weight_decay_is_added_to_the_gradient)
{
    optim decayed = optim_make(2.0F, 0.5F), plain = optim_make(2.0F, 0.5F + 0.25F * 2.0F);
    adam_step(&decayed, 1, 0.25F);
    adam_step(&plain, 1, 0.0F);
    kit_expect_equal(COUNT, decayed.weights, plain.weights, "weights", 0);
    kit_expect_equal(COUNT, decayed.second, plain.second, "v", 0);
    optim_free(&plain);
    optim_free(&decayed);
}

Test(optim, adagrad_divides_by_all_gradients_so_far)
{
    optim o = optim_make(1.0F, 3.0F);
    dlk_adagrad s = {.lr = 0.1F, .epsilon = 1e-7F};
    o.kernels.adagrad(kit_team_of(o.team), COUNT, &s, o.grad, o.weights, o.state);
    expect_weight(&o, 0.9);
    fill(o.grad, 4.0F);
    o.kernels.adagrad(kit_team_of(o.team), COUNT, &s, o.grad, o.weights, o.state);
    expect_weight(&o, 0.9 - 0.1 * 4.0 / 5.0);
    optim_free(&o);
}

Test(optim, a_gradient_of_zero_moves_nothing)
{
    optim o = optim_make(1.0F, 0.0F);
    dlk_adagrad s = {.lr = 0.1F, .epsilon = 1e-7F};
    adam_step(&o, 1, 0.0F);
    o.kernels.adagrad(kit_team_of(o.team), COUNT, &s, o.grad, o.weights, o.state);
    expect_weight(&o, 1.0);
    optim_free(&o);
}
