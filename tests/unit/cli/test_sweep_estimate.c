#include "cli/sweep_estimate.h"

#include <criterion/criterion.h>
#include <math.h>

#include "base/file.h"
#include "support/tempdir.h"

static tempdir dir;
static dlb_sweep_scene scene;
static dlb_sweep_estimate *estimate;

static void plan(const char *study)
{
    dlb_error err;
    tempdir_make(&dir);
    cr_assert_eq(dlb_file_write_atomic(tempdir_file(&dir, "s.ini"), study, strlen(study), &err), 0);
    cr_assert_eq(dlb_sweep_scene_open(&scene, tempdir_file(&dir, "s.ini"), NULL, &err), 0, "%s",
                 err.message);
    estimate = dlb_sweep_estimate_create(&scene);
}

static void teardown(void)
{
    dlb_sweep_estimate_free(estimate);
    dlb_sweep_scene_close(&scene);
    tempdir_remove(&dir);
}

TestSuite(sweep_estimate, .fini = teardown);

Test(sweep_estimate, a_training_takes_as_long_as_its_arithmetic)
{
    plan("[workload]\nmodel = horovod_cnn\nthreads = 1\n[grid]\nepochs = 10 20\n");
    double ten = dlb_sweep_estimate_run(estimate, 0), twenty = dlb_sweep_estimate_run(estimate, 1);
    cr_expect_gt(ten, 0);
    cr_expect_gt(twenty, 1.5 * ten);
    cr_expect_lt(twenty, 2 * ten);
    cr_expect_not(dlb_sweep_estimate_has_learnt(estimate));
}

Test(sweep_estimate, what_one_point_took_tells_of_the_others)
{
    plan("[study]\nrepeats = 2\n[workload]\nmodel = horovod_cnn\n[grid]\nepochs = 10 20\n");
    double guess = dlb_sweep_estimate_run(estimate, 1) / dlb_sweep_estimate_run(estimate, 0);
    dlb_sweep_estimate_learn(estimate, 0, 30);
    cr_expect_float_eq(dlb_sweep_estimate_run(estimate, 0), 30, 1e-9);
    cr_expect_float_eq(dlb_sweep_estimate_run(estimate, 1), 30 * guess, 1e-9);
    cr_expect_eq(dlb_sweep_estimate_missing(estimate), 3);
    cr_expect_float_eq(dlb_sweep_estimate_left(estimate, 3), 30 + 60 * guess, 1e-9);
}

Test(sweep_estimate, a_point_is_known_best_by_its_own_runs)
{
    plan("[workload]\nmodel = horovod_cnn\n[grid]\nepochs = 10 20\n");
    dlb_sweep_estimate_learn(estimate, 1, 4);
    dlb_sweep_estimate_learn(estimate, 1, 6);
    cr_expect_float_eq(dlb_sweep_estimate_run(estimate, 1), 5, 1e-9);
}

Test(sweep_estimate, of_a_foreign_program_nothing_is_known_before_it_has_run)
{
    plan("[workload]\ncommand = echo {param.x}\n[grid]\nparam.x = 1 2\n");
    cr_expect(isnan(dlb_sweep_estimate_run(estimate, 0)));
    dlb_sweep_estimate_learn(estimate, 0, 7);
    cr_expect_float_eq(dlb_sweep_estimate_run(estimate, 1), 7, 1e-9);
}
