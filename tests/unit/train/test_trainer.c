#include <criterion/criterion.h>
#include <dlbench/trainer.h>
#include <string.h>

#include "support/denormal.h"

static dlbench_trainer *make_trainer(void)
{
    dlbench_error err;
    dlbench_trainer *t = dlbench_trainer_create();
    cr_assert_eq(dlbench_trainer_set(t, "model", "horovod_cnn", &err), 0);
    cr_assert_eq(dlbench_trainer_set(t, "train-images", "640", &err), 0);
    cr_assert_eq(dlbench_trainer_set(t, "test_images", "100", &err), 0);
    return t;
}

Test(trainer, steps_make_up_an_epoch)
{
    dlbench_error err;
    dlbench_progress p;
    dlbench_trainer *t = make_trainer();
    cr_assert_eq(dlbench_trainer_load(t, &err), 0, "%s", err.message);
    for (int i = 1; i <= 10; i++) {
        cr_assert_eq(dlbench_trainer_step(t, &p, &err), 0);
        cr_assert(p.epoch == 1 && p.step == i && p.steps == 10);
    }
    cr_assert_eq(p.train.images, 640);
    cr_assert_eq(dlbench_trainer_step(t, &p, &err), 0);
    cr_assert(p.epoch == 2 && p.step == 1);
    dlbench_trainer_destroy(t);
}

Test(trainer, misuse_is_an_error_and_never_an_exit)
{
    dlbench_error err;
    dlbench_metrics metrics;
    dlbench_trainer *t = make_trainer();
    cr_assert_eq(dlbench_trainer_set(t, "batsch", "1", &err), DLBENCH_BAD_INPUT);
    cr_assert(strstr(err.message, "batsch"));
    cr_assert_eq(dlbench_trainer_set(t, "batch", "0", &err), DLBENCH_BAD_INPUT);
    cr_assert_eq(dlbench_trainer_step(t, NULL, &err), DLBENCH_BAD_INPUT);
    cr_assert_eq(dlbench_trainer_evaluate(t, &metrics, &err), DLBENCH_BAD_INPUT);
    cr_assert_null(dlbench_trainer_layer(t, 0).weights);
    cr_assert_eq(dlbench_trainer_load(t, &err), 0);
    cr_assert_eq(dlbench_trainer_load(t, &err), DLBENCH_BAD_INPUT);
    cr_assert_eq(dlbench_trainer_set(t, "batch", "32", &err), DLBENCH_BAD_INPUT);
    cr_assert_null(dlbench_trainer_layer(t, 4).weights);
    cr_assert_eq(dlbench_trainer_evaluate(t, NULL, &err), 0);
    dlbench_trainer_destroy(t);
    dlbench_trainer_destroy(NULL);
}

Test(trainer, parameters_can_be_read_and_overwritten_between_steps)
{
    dlbench_error err;
    dlbench_metrics before, after;
    dlbench_trainer *t = make_trainer();
    cr_assert_eq(dlbench_trainer_load(t, &err), 0);
    cr_assert_eq(dlbench_trainer_layer_count(t), 4);
    dlbench_parameters first = dlbench_trainer_layer(t, 0);
    cr_assert_str_eq(first.layer, "conv2d_1");
    cr_assert(first.weight_count == 250 && first.bias_count == 10);
    cr_assert_eq(dlbench_trainer_evaluate(t, &before, &err), 0);
    memset(first.weights, 0, first.weight_count * sizeof(float));
    cr_assert_eq(dlbench_trainer_evaluate(t, &after, &err), 0);
    cr_assert_neq(before.loss, after.loss);
    dlbench_trainer_destroy(t);
}

/* The loss of a step that follows others, before which the first layer was overwritten, again. */
static double loss_after_overwriting(const char *threads)
{
    dlbench_error err;
    dlbench_progress p;
    dlbench_trainer *t = make_trainer();
    cr_assert_eq(dlbench_trainer_set(t, "threads", threads, &err), 0);
    cr_assert_eq(dlbench_trainer_load(t, &err), 0);
    cr_assert_eq(dlbench_trainer_step(t, &p, &err), 0);
    dlbench_parameters first = dlbench_trainer_layer(t, 0);
    for (int step = 0; step < 3; step++) {
        for (size_t i = 0; i < first.weight_count; i++)
            first.weights[i] = 0.01F * (float)((i * (size_t)(step + 7)) % 31);
        cr_assert_eq(dlbench_trainer_step(t, &p, &err), 0);
    }
    dlbench_trainer_destroy(t);
    return p.train.loss;
}

Test(trainer, every_thread_uses_parameters_that_are_overwritten_between_steps)
{
    double alone = loss_after_overwriting("1");
    cr_assert(alone == loss_after_overwriting("2"));
    cr_assert(alone == loss_after_overwriting("3"));
}

Test(trainer, the_callers_floating_point_mode_is_left_as_it_was)
{
    dlbench_error err;
    dlbench_epoch epoch;
    dlbench_trainer *t = make_trainer();
    cr_assert_eq(dlbench_trainer_load(t, &err), 0);
    cr_assert_eq(dlbench_trainer_epoch(t, &epoch, &err), 0);
    cr_assert_not(denormals_are_flushed());
    dlbench_trainer_destroy(t);
}

Test(trainer, two_trainers_side_by_side_do_not_disturb_each_other)
{
    dlbench_error err;
    dlbench_progress a, b, alone;
    dlbench_trainer *first = make_trainer(), *second = make_trainer(), *third = make_trainer();
    cr_assert_eq(dlbench_trainer_set(second, "seed", "9", &err), 0);
    cr_assert_eq(dlbench_trainer_load(first, &err), 0);
    cr_assert_eq(dlbench_trainer_load(second, &err), 0);
    cr_assert_eq(dlbench_trainer_load(third, &err), 0);
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(dlbench_trainer_step(first, &a, &err), 0);
        cr_assert_eq(dlbench_trainer_step(second, &b, &err), 0);
    }
    for (int i = 0; i < 5; i++)
        cr_assert_eq(dlbench_trainer_step(third, &alone, &err), 0);
    cr_assert_eq(a.train.loss, alone.train.loss);
    cr_assert_neq(a.train.loss, b.train.loss);
    dlbench_trainer_destroy(first);
    dlbench_trainer_destroy(second);
    dlbench_trainer_destroy(third);
}

/* Where the runtime gives one thread only, one does the work of all, with the same result. */
Test(trainer, a_step_inside_the_callers_parallel_region_neither_hangs_nor_differs)
{
    dlbench_error err;
    dlbench_progress outside, inside = {0};
    dlbench_trainer *first = make_trainer(), *second = make_trainer();
    cr_assert_eq(dlbench_trainer_set(first, "threads", "2", &err), 0);
    cr_assert_eq(dlbench_trainer_set(second, "threads", "2", &err), 0);
    cr_assert_eq(dlbench_trainer_load(first, &err), 0);
    cr_assert_eq(dlbench_trainer_load(second, &err), 0);
    cr_assert_eq(dlbench_trainer_step(first, &outside, &err), 0);
#pragma omp parallel num_threads(2)
#pragma omp single
    dlbench_trainer_step(second, &inside, NULL);
    cr_assert_eq(inside.step, 1);
    cr_assert_eq(inside.train.loss, outside.train.loss);
    dlbench_trainer_destroy(first);
    dlbench_trainer_destroy(second);
}
