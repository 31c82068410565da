/* What several workers on one rank learn. */
#include <criterion/criterion.h>
#include <math.h>

#include "base/mem.h"
#include "support/tempdir.h"
#include "unit/train/short_run.h"

#define QUICK                                                                                      \
    "model", "horovod_cnn", "data", "synthetic", "train_images", "512", "test_images", "100",      \
        "threads", "2"

static tempdir dir;

/* Dropout would differ from worker to worker, as it should: this model has none. */
static void write_model(void)
{
    tempdir_make(&dir);
    FILE *file = fopen(tempdir_file(&dir, "plain.model"), "w");
    cr_assert_not_null(file);
    fputs("model plain\ninput 28x28x1\nconv2d filters=4 kernel=5\nrelu\nmaxpool size=2\nflatten\n"
          "dense units=10\nsoftmax\n",
          file);
    fclose(file);
}

static void remove_model(void)
{
    tempdir_remove(&dir);
}

TestSuite(workers, .init = write_model, .fini = remove_model);

static float *parameters_after(dlb_session *s, int steps)
{
    dlb_error err;
    dlb_graph *g = dlb_session_graph(s);
    for (int i = 0; i < steps; i++)
        cr_assert_eq(dlb_session_step(s, NULL, &err), 0, "%s", err.message);
    float *copy = dlb_alloc(dlb_graph_size(g), sizeof *copy);
    memcpy(copy, dlb_graph_parameters(g), dlb_graph_size(g) * sizeof *copy);
    return copy;
}

static dlb_session *plain_session(const char *optimizer, const char *workers, const char *batch)
{
    return SESSION("model", tempdir_file(&dir, "plain.model"), "data", "synthetic", "train_images",
                   "96", "test_images", "10", "optimizer", optimizer, "lr", "0.5", "lr_scaling",
                   "none", "workers", workers, "batch", batch);
}

static void expect_same_step(const char *optimizer)
{
    dlb_session *one = plain_session(optimizer, "1", "96");
    dlb_session *six = plain_session(optimizer, "6", "16");
    size_t size = dlb_graph_size(dlb_session_graph(one));
    float *before = parameters_after(one, 0);
    float *large = parameters_after(one, 1), *average = parameters_after(six, 1);
    float moved = 0, apart = 0;
    for (size_t i = 0; i < size; i++) {
        moved = fmaxf(moved, fabsf(large[i] - before[i]));
        apart = fmaxf(apart, fabsf(large[i] - average[i]));
    }
    cr_assert_gt(moved, 0.0F);
    cr_assert_lt(apart, 1e-5F * moved + 1e-7F, "%s: %g of %g", optimizer, (double)apart,
                 (double)moved);
    free(average);
    free(large);
    free(before);
    dlb_session_free(six);
    dlb_session_free(one);
}

Test(workers, the_average_of_their_gradients_is_that_of_one_large_batch)
{
    expect_same_step("sgd");
    expect_same_step("lars");
    expect_same_step("larc");
}

/* 512 images are 85 or 86 for each of 6 workers: in the last step some have 1 image, some none. */
Test(workers, an_epoch_shows_every_image_once_also_when_some_worker_has_none_left)
{
    dlb_session *s = SESSION(QUICK, "workers", "6", "batch", "17");
    dlb_error err;
    dlb_epoch epoch;
    cr_assert_eq(dlb_session_steps_per_epoch(s), 6);
    cr_assert_eq(dlb_session_epoch(s, &epoch, &err), 0, "%s", err.message);
    cr_assert_eq(epoch.train.images, 512);
    cr_assert(isfinite(epoch.train.loss));
    dlb_session_free(s);
}

Test(workers, each_draws_dropout_masks_of_its_own)
{
    dlb_session *two = SESSION(QUICK, "workers", "2", "batch", "8", "shuffle", "none");
    dlb_session *four = SESSION(QUICK, "workers", "4", "batch", "4", "shuffle", "none");
    float *a = parameters_after(two, 1), *b = parameters_after(four, 1);
    size_t size = dlb_graph_size(dlb_session_graph(two));
    cr_assert_arr_neq(a, b, size * sizeof *a);
    free(b);
    free(a);
    dlb_session_free(four);
    dlb_session_free(two);
}

static double rate_of_epoch(dlb_session *s)
{
    dlb_error err;
    dlb_epoch epoch;
    cr_assert_eq(dlb_session_epoch(s, &epoch, &err), 0, "%s", err.message);
    return epoch.lr;
}

Test(workers, the_rate_grows_with_their_number_after_the_warm_up)
{
    dlb_session *flat = SESSION(QUICK, "workers", "4", "batch", "16", "lr", "0.01", "lr_scaling",
                                "linear", "warmup", "flat", "warmup_epochs", "1", "epochs", "2");
    dlb_session *root =
        SESSION(QUICK, "workers", "4", "batch", "16", "lr", "0.01", "lr_scaling", "sqrt");
    double unscaled = rate_of_epoch(flat), linear = rate_of_epoch(flat);
    double by_root = rate_of_epoch(root);
    cr_assert_float_eq(unscaled, 0.01, 1e-12);
    cr_assert_float_eq(linear, 0.04, 1e-12);
    cr_assert_float_eq(by_root, 0.02, 1e-12);
    dlb_session_free(root);
    dlb_session_free(flat);
}

static void expect_same_bits(dlb_session *a, dlb_session *b)
{
    size_t size = dlb_graph_size(dlb_session_graph(a));
    cr_assert_arr_eq(dlb_graph_parameters(dlb_session_graph(a)),
                     dlb_graph_parameters(dlb_session_graph(b)), size * sizeof(float));
}

static dlb_session *alone(const char *optimizer, const char *threads, const char *teams,
                          const char *piece_kb)
{
    return SESSION(QUICK, "batch", "37", "optimizer", optimizer, "threads", threads, "inter_op",
                   teams, "comm_piece_kb", piece_kb);
}

Test(workers, one_alone_learns_the_same_whatever_its_threads_teams_and_pieces)
{
    const char *const optimizers[] = {"sgd", "adam", "adagrad", "lars"};
    for (int i = 0; i < 4; i++) {
        dlb_session *one = alone(optimizers[i], "1", "1", "1024");
        free(parameters_after(one, 14)); /* the last has 31 images */
        const char *const others[][3] = {{"2", "1", "4"}, {"3", "1", "1024"}, {"4", "2", "4"}};
        for (int k = 0; k < 3; k++) {
            dlb_session *other = alone(optimizers[i], others[k][0], others[k][1], others[k][2]);
            free(parameters_after(other, 14));
            expect_same_bits(one, other);
            dlb_session_free(other);
        }
        dlb_session_free(one);
    }
}

static dlb_session *overwritten_between_steps(const char *threads)
{
    dlb_session *s = alone("sgd", threads, "1", "64");
    for (int step = 0; step < 3; step++) {
        float *parameters = dlb_graph_parameters(dlb_session_graph(s));
        for (int i = 0; i < 200; i++)
            parameters[i] = 0.01F * (float)((i * (step + 3)) % 29);
        free(parameters_after(s, 1));
    }
    return s;
}

Test(workers, every_thread_reads_parameters_that_were_overwritten_between_steps)
{
    dlb_session *one = overwritten_between_steps("1"), *three = overwritten_between_steps("3");
    expect_same_bits(one, three);
    dlb_session_free(three);
    dlb_session_free(one);
}

Test(workers, the_size_of_pieces_changes_nothing)
{
    const char *const optimizers[] = {"sgd", "adam", "adagrad", "lars", "larc"};
    for (int i = 0; i < 5; i++) {
        dlb_session *small = SESSION(QUICK, "workers", "3", "batch", "16", "optimizer",
                                     optimizers[i], "comm_piece_kb", "4", "inter_op", "1");
        dlb_session *large = SESSION(QUICK, "workers", "3", "batch", "16", "optimizer",
                                     optimizers[i], "comm_piece_kb", "1024", "inter_op", "2");
        free(parameters_after(small, 3));
        free(parameters_after(large, 3));
        expect_same_bits(small, large);
        dlb_session_free(large);
        dlb_session_free(small);
    }
}

/* ---- Checkpoints ---- */

static void resume(dlb_session *s, const char *path)
{
    dlb_error err;
    cr_assert_eq(dlb_session_resume(s, path, &err), 0, "%s", err.message);
}

static void save(dlb_session *s, const char *path)
{
    dlb_error err;
    cr_assert_eq(dlb_session_checkpoint(s, path, &err), 0, "%s", err.message);
}

#define PLATEAU                                                                                    \
    "workers", "2", "batch", "32", "optimizer", "adam", "schedule", "plateau", "schedule_epochs",  \
        "1", "lr", "0.001"

Test(workers, a_training_that_goes_on_from_a_checkpoint_ends_as_one_that_was_never_stopped)
{
    const int stops[] = {0, 3, 8, 11}; /* of 8 steps an epoch */
    const char *path = tempdir_file(&dir, "checkpoint");
    dlb_session *whole = SESSION(QUICK, PLATEAU, "epochs", "3");
    for (int i = 0; i < 3; i++)
        rate_of_epoch(whole);
    for (int i = 0; i < 4; i++) {
        dlb_session *first = SESSION(QUICK, PLATEAU, "epochs", "3");
        dlb_session *second = SESSION(QUICK, PLATEAU, "epochs", "3", "threads", "1");
        dlb_error err;
        for (int done = 0; done < stops[i]; done++) {
            cr_assert_eq(dlb_session_step(first, NULL, &err), 0);
            if (done == 7)
                cr_assert_eq(dlb_session_epoch(first, NULL, &err), 0);
        }
        save(first, path);
        resume(second, path);
        while (!dlb_session_finished(second))
            rate_of_epoch(second);
        expect_same_bits(whole, second);
        dlb_outcome a = dlb_session_outcome(whole), b = dlb_session_outcome(second);
        cr_assert_eq(b.epoch_count, 3);
        cr_assert_eq(b.steps, a.steps);
        cr_assert_not_null(b.untimed, "another number of threads is another setting");
        for (int e = 0; e < 3; e++) {
            cr_assert_eq(a.epochs[e].test.loss, b.epochs[e].test.loss);
            cr_assert_eq(a.epochs[e].train.loss, b.epochs[e].train.loss);
            cr_assert_eq(a.epochs[e].lr, b.epochs[e].lr);
        }
        dlb_session_free(second);
        dlb_session_free(first);
    }
    dlb_session_free(whole);
}

Test(workers, a_checkpoint_of_another_training_is_refused)
{
    const char *path = tempdir_file(&dir, "checkpoint");
    dlb_error err;
    dlb_session *first = SESSION(QUICK, PLATEAU);
    dlb_session *other = SESSION(QUICK, PLATEAU, "seed", "2");
    save(first, path);
    cr_assert_eq(dlb_session_resume(other, path, &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "seed"), "%s", err.message);
    dlb_session_free(other);
    dlb_session_free(first);
}
