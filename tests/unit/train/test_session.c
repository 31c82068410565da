#include <criterion/criterion.h>
#include <math.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure/cores.h"
#include "unit/train/short_run.h"

#define SHORT "data", "mnist", "train_images", "640", "test_images", "256"

enum { STEPS = 6 };

typedef struct curve {
    double loss[STEPS];
} curve;

/* Batches of 37 of 200 images: the sixth is smaller. */
static curve loss_curve(const char *model, const char *kernels, const char *intra_op,
                        const char *inter_op, const char *readers)
{
    dlb_session *s = SESSION("model", model, "kernels", kernels, "threads", "4", "intra_op",
                             intra_op, "inter_op", inter_op, "readers", readers, "batch", "37",
                             "train_images", "200", "test_images", "10");
    curve c;
    dlb_error err;
    for (int i = 0; i < STEPS; i++) {
        dlb_progress p;
        cr_assert_eq(dlb_session_step(s, &p, &err), 0, "%s", err.message);
        c.loss[i] = p.train.loss;
    }
    dlb_session_free(s);
    return c;
}

Test(session, the_loss_curve_is_bit_identical_for_any_threads_and_teams)
{
    const char *const runs[][2] = {{"keras_cnn", "simd"},
                                   {"horovod_cnn", "simd"},
                                   {"keras_cnn", "blas"},
                                   {"horovod_cnn", "blas"},
                                   {"horovod_cnn", "ref"}};
    const char *const settings[][3] = {
        {"2", "1", "1"}, {"2", "2", "0"}, {"3", "1", "2"}, {"3", "2", "3"}, {"4", "4", "1"}};
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
        curve one = loss_curve(runs[r][0], runs[r][1], "1", "1", "0");
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
            const char *const *t = settings[i];
            curve other = loss_curve(runs[r][0], runs[r][1], t[0], t[1], t[2]);
            cr_assert_eq(memcmp(&one, &other, sizeof one), 0, "%s, %s: intra_op %s, inter_op %s",
                         runs[r][0], runs[r][1], t[0], t[1]);
        }
    }
}

Test(session, ref_and_blas_learn_the_same)
{
    curve ref = loss_curve("horovod_cnn", "ref", "2", "1", "1");
    curve blas = loss_curve("horovod_cnn", "blas", "2", "1", "1");
    for (int i = 0; i < STEPS; i++)
        cr_assert_float_eq(ref.loss[i], blas.loss[i], 1e-4 * ref.loss[i]);
}

static double final_accuracy(const char *model, const char *images, int epochs)
{
    dlb_session *s =
        SESSION("model", model, "train_images", images, "test_images", "1000", "threads", "2");
    dlb_error err;
    dlb_epoch epoch = {0};
    for (int i = 0; i < epochs; i++)
        cr_assert_eq(dlb_session_epoch(s, &epoch, &err), 0, "%s", err.message);
    dlb_session_free(s);
    return epoch.test.accuracy;
}

Test(session, both_models_learn_mnist)
{
    cr_assert_gt(final_accuracy("keras_cnn", "4096", 1), 0.85);
    cr_assert_gt(final_accuracy("horovod_cnn", "6400", 2), 0.75);
}

Test(session, another_seed_is_another_training_and_the_same_seed_the_same)
{
    dlb_error err;
    double loss[3];
    const char *const seeds[] = {"1", "2", "1"};
    for (int i = 0; i < 3; i++) {
        dlb_session *s = SESSION("model", "horovod_cnn", "seed", seeds[i], "batch", "16", SHORT);
        dlb_progress p;
        cr_assert_eq(dlb_session_step(s, &p, &err), 0);
        loss[i] = p.train.loss;
        dlb_session_free(s);
    }
    cr_assert_neq(loss[0], loss[1]);
    cr_assert_eq(loss[0], loss[2]);
}

Test(session, a_loss_that_is_not_finite_ends_the_training_as_diverged)
{
    dlb_session *s = SESSION("model", "horovod_cnn", "lr", "100", "weight_decay", "10", SHORT);
    dlb_error err;
    dlb_epoch epoch;
    int status = 0;
    for (int i = 0; i < 20 && status == 0; i++)
        status = dlb_session_epoch(s, &epoch, &err);
    cr_assert_eq(status, DLB_DIVERGED);
    cr_assert(strstr(err.message, "not finite"));
    cr_assert_eq(dlb_session_step(s, NULL, &err), DLB_DIVERGED);
    dlb_session_free(s);
}

static int stop_at_third(void *arg, const dlb_progress *progress)
{
    *(int *)arg = progress->step;
    return progress->step == 3;
}

Test(session, a_hook_stops_after_the_step_and_training_can_go_on)
{
    int last = 0;
    dlb_session_hooks hooks = {.on_step = stop_at_third, .arg = &last};
    const char *const pairs[] = {"model", "horovod_cnn", "batch", "64", SHORT, NULL};
    dlb_session *s = make_session(pairs, &hooks);
    dlb_error err;
    dlb_epoch epoch;
    cr_assert_eq(dlb_session_epoch(s, &epoch, &err), DLB_STOPPED);
    cr_assert_eq(last, 3);
    cr_assert_eq(dlb_session_outcome(s).steps, 3);
    cr_assert_eq(dlb_session_epoch(s, &epoch, &err), 0, "%s", err.message);
    cr_assert_eq(epoch.train.images, 640);
    dlb_session_free(s);
}

static int stop_always(void *arg, const dlb_progress *progress)
{
    (void)arg;
    (void)progress;
    return 1;
}

static int stop_once_at_last(void *arg, const dlb_progress *progress)
{
    int *stops = arg;
    return progress->step == progress->steps && (*stops)++ == 0;
}

Test(session, an_evaluation_that_was_stopped_has_no_result)
{
    dlb_session_hooks hooks = {.on_evaluate = stop_always};
    const char *const pairs[] = {"model", "horovod_cnn", SHORT, NULL};
    dlb_session *s = make_session(pairs, &hooks);
    dlb_error err;
    dlb_epoch epoch;
    cr_assert_eq(dlb_session_epoch(s, &epoch, &err), DLB_STOPPED);
    dlb_outcome o = dlb_session_outcome(s);
    cr_assert_eq(o.epoch_count, 1);
    cr_assert_eq(o.epochs[0].train.images, 640);
    cr_assert_eq(o.epochs[0].test.images, 0);
    dlb_session_free(s);
}

Test(session, an_epoch_stopped_at_its_last_step_is_still_evaluated)
{
    int stops = 0;
    dlb_session_hooks hooks = {.on_step = stop_once_at_last, .arg = &stops};
    const char *const pairs[] = {"model", "horovod_cnn", SHORT, NULL};
    dlb_session *s = make_session(pairs, &hooks);
    dlb_error err;
    dlb_epoch epoch;
    cr_assert_eq(dlb_session_epoch(s, &epoch, &err), DLB_STOPPED);
    cr_assert_eq(dlb_session_epoch(s, &epoch, &err), 0);
    cr_assert_eq(epoch.number, 1);
    cr_assert_eq(epoch.test.images, 256);
    cr_assert_eq(dlb_session_epoch(s, &epoch, &err), 0);
    cr_assert_eq(epoch.number, 2);
    dlb_session_free(s);
}

Test(session, a_stop_leaves_counters_with_what_was_counted)
{
    dlb_session_hooks hooks = {.on_step = stop_always};
    const char *const pairs[] = {"model", "horovod_cnn", "counters", "perf::TASK-CLOCK",
                                 SHORT,   NULL};
    dlb_session *s = make_session(pairs, &hooks);
    dlb_error err;
    long long first = 0, second = 0;
    cr_assert_eq(dlb_session_step(s, NULL, &err), DLB_STOPPED);
    cr_assert(dlb_counters_value(dlb_session_counters(s), 0, &first));
    cr_assert_eq(dlb_session_step(s, NULL, &err), DLB_STOPPED);
    cr_assert(dlb_counters_value(dlb_session_counters(s), 0, &second));
    cr_assert_gt(first, 0);
    cr_assert_gt(second, first);
    dlb_session_free(s);
}

Test(session, what_the_caller_does_between_steps_is_not_training_time)
{
    dlb_session *s = SESSION("model", "horovod_cnn", SHORT);
    dlb_error err;
    double wall = dlb_clock_s();
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(dlb_session_step(s, NULL, &err), 0);
        usleep(100000);
    }
    wall = dlb_clock_s() - wall;
    cr_assert_lt(dlb_session_outcome(s).time_to_solution_s, wall - 0.29);
    dlb_session_free(s);
}

Test(session, an_epoch_shows_every_image_once_and_times_add_up)
{
    dlb_session *s = SESSION("model", "horovod_cnn", "batch", "100", "threads", "2", SHORT);
    dlb_error err;
    dlb_epoch first, second;
    cr_assert_eq(dlb_session_epoch(s, &first, &err), 0);
    cr_assert_eq(dlb_session_epoch(s, &second, &err), 0);
    cr_assert_eq(first.train.images, 640);
    cr_assert_eq(first.test.images, 256);
    cr_assert_eq(dlb_session_steps_per_epoch(s), 7);
    dlb_outcome o = dlb_session_outcome(s);
    cr_assert_eq(o.images, 1280);
    cr_assert_float_eq(o.time_to_solution_s, first.train_s + second.train_s, 1e-9);
    double busy = first.input_s + first.forward_s + first.backward_s + first.update_s;
    cr_assert(busy > 0 && busy <= first.train_s);
    dlb_session_free(s);
}

Test(session, drop_last_leaves_the_smaller_batch_out)
{
    dlb_session *s = SESSION("model", "horovod_cnn", "batch", "100", "drop_last", "yes", SHORT);
    dlb_error err;
    dlb_epoch epoch;
    cr_assert_eq(dlb_session_epoch(s, &epoch, &err), 0);
    cr_assert_eq(epoch.train.images, 600);
    dlb_session_free(s);
}

Test(session, time_to_target_is_that_of_the_first_epoch_to_reach_it)
{
    dlb_session *s = SESSION("model", "horovod_cnn", "target_accuracy", "0.01", SHORT);
    dlb_session *never = SESSION("model", "horovod_cnn", "target_accuracy", "1", SHORT);
    dlb_error err;
    dlb_epoch first, other;
    cr_assert_eq(dlb_session_epoch(s, &first, &err), 0);
    cr_assert_eq(dlb_session_epoch(s, &other, &err), 0);
    cr_assert_eq(dlb_session_epoch(never, &other, &err), 0);
    cr_assert_eq(dlb_session_outcome(s).time_to_target_s, first.train_s);
    cr_assert(isnan(dlb_session_outcome(never).time_to_target_s));
    dlb_session_free(never);
    dlb_session_free(s);
}

Test(session, the_models_own_values_take_the_place_of_keys_not_given)
{
    dlb_session *own = SESSION("model", "horovod_cnn", SHORT);
    dlb_session *given = SESSION("model", "horovod_cnn", "batch", "32", SHORT);
    cr_assert_eq(dlb_session_workload(own)->batch, 64);
    cr_assert_float_eq(dlb_session_workload(own)->momentum, 0.5, 0);
    cr_assert_eq(dlb_session_workload(own)->optimizer, DLB_optimizer_sgd);
    cr_assert_eq(dlb_session_workload(given)->batch, 32);
    cr_assert_float_eq(dlb_session_workload(given)->lr, 0.01, 0);
    dlb_session_free(given);
    dlb_session_free(own);
}

static void expect_refusal(const char *const *pairs, const char *says)
{
    dlb_workload workload;
    dlb_session *session = NULL;
    dlb_error err;
    make_workload(&workload, pairs);
    cr_assert_eq(dlb_session_create(&session, &workload, NULL, &err), DLB_BAD_INPUT);
    cr_assert_null(session);
    cr_assert(strstr(err.message, says), "'%s' does not say '%s'", err.message, says);
    dlb_workload_release(&workload);
}

#define REFUSE(says, ...) expect_refusal((const char *const[]){__VA_ARGS__, NULL}, says)

Test(session, what_cannot_be_is_refused_before_training)
{
    REFUSE("no model", "model", "lenet");
    REFUSE("intra_op", "threads", "2", "intra_op", "3", SHORT);
    REFUSE("inter_op", "threads", "2", "inter_op", "3", SHORT);
    REFUSE("leaves nothing", "drop_last", "yes", "batch", "641", SHORT);
    REFUSE("60000", "train_images", "60001");
    REFUSE("nowhere", "data", "/nowhere");
}

/* One thread alone cannot be busy for longer than the epoch took; two can, where both may run. */
Test(session, counters_cover_every_thread_of_the_pool)
{
    dlb_session *s = SESSION("model", "keras_cnn", "threads", "2", "counters",
                             "perf::TASK-CLOCK PAPI_TOT_INS", SHORT);
    dlb_error err;
    dlb_epoch epoch;
    cr_assert_eq(dlb_session_epoch(s, &epoch, &err), 0);
    long long task_clock_ns = 0, instructions = 0;
    dlb_counters *counters = dlb_session_counters(s);
    cr_assert(dlb_counters_value(counters, 0, &task_clock_ns), "%s", dlb_counters_why(counters, 0));
    double busy_s = 1e-9 * (double)task_clock_ns;
    dlb_value load = dlb_session_outcome(s).noise.load;
    if (dlb_cores_allowed() > 1 && load.known && load.number < 1)
        cr_assert_gt(busy_s, 1.1 * epoch.train_s);
    cr_assert(busy_s > 0 && busy_s <= 2.1 * epoch.train_s + 0.05);
    if (!dlb_counters_value(counters, 1, &instructions))
        cr_assert_gt(strlen(dlb_counters_why(counters, 1)), 0);
    else
        cr_assert_gt(instructions, 0);
    dlb_session_free(s);
}
