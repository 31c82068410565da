/* Success is evidence: what a run must have left to be called ok. */
#include "cli/sweep_judge.h"

#include <criterion/criterion.h>

#include "base/file.h"
#include "support/tempdir.h"

static tempdir dir;
static dlb_sweep_scene scene;
static char result_path[128], log_path[128];

static void setup(void)
{
    static const char study[] = "[workload]\nmodel = horovod_cnn\ntrain_images = 640\nepochs = 2\n"
                                "batch = 64\nranks = 2\nthreads = 1\nseed = 5\n";
    dlb_error err;
    tempdir_make(&dir);
    cr_assert_eq(dlb_file_write_atomic(tempdir_file(&dir, "s.ini"), study, sizeof study - 1, &err),
                 0);
    cr_assert_eq(dlb_sweep_scene_open(&scene, tempdir_file(&dir, "s.ini"), NULL, &err), 0, "%s",
                 err.message);
    snprintf(result_path, sizeof result_path, "%s", tempdir_file(&dir, "result.json"));
    snprintf(log_path, sizeof log_path, "%s", tempdir_file(&dir, "run.log"));
    cr_assert_eq(dlb_file_write_atomic(log_path, "some words\n", 11, &err), 0);
}

static void teardown(void)
{
    dlb_sweep_scene_close(&scene);
    tempdir_remove(&dir);
}

TestSuite(sweep_judge, .init = setup, .fini = teardown);

/* ---- A result that is all right, repeat 2 of the point ---- */

static const dlb_sweep_run run = {.repeat = 2, .result = result_path};
static const dlb_sweep_shape shape = {.ranks = 2, .threads = 1, .seed = 6, .launcher = "mpirun"};
static const dlb_launch_end good_end = {.wall_s = 3};

static void make_good(dlb_result *result)
{
    static const char *const settings[][2] = {
        {"model", "horovod_cnn"}, {"train_images", "640"}, {"epochs", "2"},
        {"batch", "64"},          {"seed", "6"},           {"workers", "2"}};
    dlb_result_init(result);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        dlb_result_add_setting(result, settings[i][0], settings[i][1]);
    dlb_row_set_text(&result->run, DLB_RUN_status, "ok");
    dlb_row_set_int(&result->run, DLB_RUN_train_images, 640);
    dlb_row_set_int(&result->run, DLB_RUN_batch, 64);
    dlb_row_set_int(&result->run, DLB_RUN_workers, 2);
    dlb_row_set_real(&result->run, DLB_RUN_time_to_solution_s, 1.5);
    for (int e = 0; e < 2; e++)
        dlb_row_set_real(dlb_result_add_epoch(result), DLB_EPOCH_train_loss, 0.5);
    for (int r = 0; r < 2; r++)
        dlb_row_set_int(dlb_result_add_rank(result), DLB_RANK_steps, 10);
    result->ranks_ended = 2;
}

/* What becomes of a run with that result file, NULL for none, and that end. */
static void judge(dlb_result *verdict, const dlb_result *left, const dlb_launch_end *end)
{
    dlb_error err;
    dlb_noise_report noise = {0};
    dlb_sweep_evidence evidence = {
        .run = &run, .shape = &shape, .end = end, .noise = &noise, .log = log_path};
    if (left)
        cr_assert_eq(dlb_result_write(left, result_path, &err), 0, "%s", err.message);
    dlb_sweep_judge(&scene, &evidence, verdict);
}

static const char *text(const dlb_result *verdict, int column)
{
    const dlb_cell *cell = &verdict->run.cells[column];
    return cell->kind == DLB_CELL_TEXT ? cell->text : "";
}

/* `left` is judged failed for a reason in which `word` stands, and has no time but parameters. */
static void expect_failed(dlb_result *left, const dlb_launch_end *end, const char *word)
{
    dlb_result verdict;
    judge(&verdict, left, end);
    cr_expect_str_eq(text(&verdict, DLB_RUN_status), "failed");
    cr_expect(strstr(text(&verdict, DLB_RUN_reason), word), "%s", text(&verdict, DLB_RUN_reason));
    cr_expect(strstr(text(&verdict, DLB_RUN_reason), "some words"));
    cr_expect_eq(verdict.run.cells[DLB_RUN_time_to_solution_s].kind, DLB_CELL_MISSING);
    cr_expect_eq(verdict.epochs.count, 0);
    cr_expect_eq(verdict.run.cells[DLB_RUN_batch].integer, 64);
    cr_expect_eq(verdict.run.cells[DLB_RUN_seed].integer, 6);
    dlb_result_release(&verdict);
    if (left)
        dlb_result_release(left);
}

/* ---- Properties ---- */

Test(sweep_judge, all_evidence_together_is_success)
{
    dlb_result left, verdict;
    make_good(&left);
    judge(&verdict, &left, &good_end);
    cr_expect_str_eq(text(&verdict, DLB_RUN_status), "ok");
    cr_expect_eq(verdict.run.cells[DLB_RUN_time_to_solution_s].real, 1.5);
    cr_expect_eq(verdict.run.cells[DLB_RUN_wall_s].real, 3);
    cr_expect_eq(verdict.run.cells[DLB_RUN_repeat].integer, 2);
    cr_expect_str_eq(text(&verdict, DLB_RUN_launcher), "mpirun");
    dlb_result_release(&verdict);
    dlb_result_release(&left);
}

Test(sweep_judge, a_result_without_a_clean_exit_is_none)
{
    dlb_result left;
    dlb_launch_end end = {.status = 1};
    make_good(&left);
    expect_failed(&left, &end, "exit status 1");
}

Test(sweep_judge, a_clean_exit_without_a_result_is_none)
{
    expect_failed(NULL, &good_end, "left no result");
}

Test(sweep_judge, a_rank_that_did_not_report_its_end_fails_the_run)
{
    dlb_result left;
    make_good(&left);
    left.ranks_ended = 1;
    expect_failed(&left, &good_end, "1 of 2 ranks");
}

Test(sweep_judge, a_rank_with_too_few_steps_fails_the_run)
{
    dlb_result left;
    make_good(&left);
    dlb_row_set_int(&left.ranks.rows[1], DLB_RANK_steps, 9);
    expect_failed(&left, &good_end, "rank 1 took 9 steps where 10");
}

Test(sweep_judge, an_epoch_without_a_finite_loss_fails_the_run)
{
    dlb_result left;
    make_good(&left);
    dlb_row_clear(&left.epochs.rows[1], DLB_EPOCH_train_loss);
    expect_failed(&left, &good_end, "epoch 2 has no finite loss");
}

Test(sweep_judge, the_result_of_another_repeat_is_not_taken_for_this_one)
{
    dlb_result left;
    make_good(&left);
    for (size_t i = 0; i < left.workload.count; i++)
        if (strcmp(left.workload.settings[i].key, "seed") == 0)
            left.workload.settings[i].value[0] = '5';
    expect_failed(&left, &good_end, "another seed");
}

Test(sweep_judge, the_reason_that_a_training_gives_is_kept)
{
    dlb_result left;
    dlb_launch_end end = {.status = 1};
    make_good(&left);
    dlb_row_set_text(&left.run, DLB_RUN_status, "failed");
    dlb_row_set_text(&left.run, DLB_RUN_reason, "the moon was full");
    expect_failed(&left, &end, "the moon was full");
}

Test(sweep_judge, a_signal_is_named)
{
    expect_failed(NULL, &(dlb_launch_end){.status = 128 + 9}, "signal 9");
}

Test(sweep_judge, divergence_is_a_result)
{
    dlb_result left, verdict;
    make_good(&left);
    dlb_row_set_text(&left.run, DLB_RUN_status, "diverged");
    dlb_row_clear(&left.run, DLB_RUN_time_to_solution_s);
    judge(&verdict, &left, &(dlb_launch_end){.status = 1, .wall_s = 1});
    cr_expect_str_eq(text(&verdict, DLB_RUN_status), "diverged");
    dlb_result_release(&verdict);
    dlb_result_release(&left);
}

Test(sweep_judge, a_timeout_is_told_apart_from_a_failure)
{
    dlb_result left, verdict;
    make_good(&left);
    judge(&verdict, &left, &(dlb_launch_end){.status = 143, .timed_out = true, .wall_s = 60});
    cr_expect_str_eq(text(&verdict, DLB_RUN_status), "timeout");
    cr_expect_eq(verdict.run.cells[DLB_RUN_time_to_solution_s].kind, DLB_CELL_MISSING);
    dlb_result_release(&verdict);
    dlb_result_release(&left);
}
