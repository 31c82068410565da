#include <math.h>

#include <criterion/criterion.h>

#include "base/file.h"
#include "report/points.h"
#include "support/tempdir.h"

static tempdir dir;
static dlb_points *points;

static void setup(void)
{
    tempdir_make(&dir);
    points = NULL;
}

static void teardown(void)
{
    dlb_points_free(points);
    tempdir_remove(&dir);
}

TestSuite(points, .init = setup, .fini = teardown);

static int read_text(const char *text, dlb_error *err)
{
    const char *path = tempdir_file(&dir, "runs.csv");
    cr_assert_eq(dlb_file_write_atomic(path, text, strlen(text), NULL), 0);
    return dlb_points_read(&points, path, err);
}

static void read_runs(const char *text)
{
    dlb_error err = {0};
    cr_assert_eq(read_text(text, &err), 0, "%s", err.message);
}

static double measure(size_t point, enum dlb_measure which, size_t run)
{
    const double *values;
    cr_assert_gt(dlb_point_measure(points, point, which, &values), run);
    return values[run];
}

static dlb_point_run run_of(size_t point, size_t run)
{
    const dlb_point_run *runs;
    cr_assert_gt(dlb_point_runs(points, point, &runs), run);
    return runs[run];
}

Test(points, runs_of_a_point_stand_by_repeat_whatever_the_order_of_the_file)
{
    read_runs("point,repeat,status,ranks,time_to_solution_s\n"
              "b,2,ok,2,22\n"
              "a,1,ok,1,11\n"
              "b,1,ok,2,21\n"
              "a,3,ok,1,13\n");
    cr_assert_eq(dlb_points_count(points), 2);
    cr_assert_eq(dlb_points_runs(points), 4);
    cr_assert_str_eq(dlb_point_id(points, 0), "b");
    cr_assert_eq(measure(0, DLB_MEASURE_time_to_solution_s, 0), 21);
    cr_assert_eq(measure(0, DLB_MEASURE_time_to_solution_s, 1), 22);
    cr_assert_eq(run_of(1, 1).repeat, 3);
    cr_assert_eq(dlb_point_number(points, 1, dlb_points_find(points, "ranks")), 1);
}

Test(points, a_run_that_is_not_ok_has_no_times_whatever_its_cells_say)
{
    read_runs("point,repeat,status,time_to_solution_s,test_accuracy,images_per_s,load\n"
              "a,1,ok,5,0.9,100,70\n"
              "a,2,failed,6,0.8,90,71\n"
              "a,3,timeout,7,0.7,80,72\n"
              "a,4,diverged,8,0.1,70,73\n"
              "a,5,,9,0.1,70,74\n");
    cr_assert_eq(measure(0, DLB_MEASURE_time_to_solution_s, 0), 5);
    for (size_t run = 1; run < 5; run++) {
        cr_assert(isnan(measure(0, DLB_MEASURE_time_to_solution_s, run)));
        cr_assert(isnan(measure(0, DLB_MEASURE_images_per_s, run)));
        cr_assert(isnan(measure(0, DLB_MEASURE_test_accuracy, run)));
        cr_assert_eq(measure(0, DLB_MEASURE_load, run), 70 + (double)run);
    }
    cr_assert_eq(run_of(0, 3).status, DLB_STATUS_DIVERGED);
    cr_assert_eq(run_of(0, 4).status, DLB_STATUS_FAILED, "no status is no success");
}

Test(points, how_long_runs_lasted_that_timed_out_is_known_apart_from_times)
{
    read_runs("point,repeat,status,wall_s\na,1,ok,5\na,2,timeout,60\na,3,failed,7\nb,1,ok,4\n");
    const double *values;
    cr_assert_eq(dlb_point_timeouts(points, 0, &values), 3);
    cr_assert(isnan(values[0]) && isnan(values[2]));
    cr_assert_eq(values[1], 60);
    cr_assert(isnan(measure(0, DLB_MEASURE_wall_s, 1)));
}

Test(points, a_repeat_that_is_no_whole_number_is_the_next_one)
{
    read_runs("point,repeat,status,wall_s\na,1,ok,5\na,1.5,ok,6\na,1e300,ok,7\n");
    cr_assert_eq(run_of(0, 1).repeat, 2);
    cr_assert_eq(run_of(0, 2).repeat, 3);
}

Test(points, without_ids_equal_parameters_make_a_point_and_seeds_make_repeats)
{
    read_runs("status,workers,warmup_epochs,seed,test_accuracy\n"
              "ok,1,0,1,0.98\n"
              "ok,32,0,1,0.97\n"
              "ok,1,0,2,0.99\n");
    cr_assert_eq(dlb_points_count(points), 2);
    cr_assert_eq(run_of(0, 1).repeat, 2);
    cr_assert_eq(measure(0, DLB_MEASURE_test_accuracy, 1), 0.99);
    cr_assert(!dlb_points_varies(points, dlb_points_find(points, "seed")));
    cr_assert(dlb_points_varies(points, dlb_points_find(points, "workers")));
}

Test(points, the_seed_of_a_point_is_that_of_its_first_repeat)
{
    read_runs("point,repeat,status,seed,wall_s\n"
              "a,1,ok,7,1\n"
              "a,2,ok,8,1\n"
              "b,2,ok,8,1\n");
    cr_assert_str_eq(dlb_point_text(points, 1, dlb_points_find(points, "seed")), "7");
    cr_assert(!dlb_points_varies(points, dlb_points_find(points, "seed")));
}

Test(points, parameters_are_keys_environment_and_those_of_foreign_programs)
{
    read_runs(
        "run,point,status,threads,env.OMP_PROC_BIND,param.size,grid,host,wall_s,papi_tot_ins\n"
        "r1,a,ok,2,close,1024,main,vm,1,5\n");
    static const char *const names[] = {"threads", "env.OMP_PROC_BIND", "param.size", "grid"};
    cr_assert_eq(dlb_points_parameters(points), 4);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(dlb_points_find(points, names[i]), i);
    cr_assert_eq(dlb_points_find(points, "host"), -1);
    cr_assert_str_eq(dlb_point_text(points, 0, -1), "");
    cr_assert(isnan(dlb_point_number(points, 0, -1)));
    cr_assert_eq(dlb_points_metrics(points), 0);
}

Test(points, what_a_failed_run_does_not_tell_is_no_value_of_its_own)
{
    read_runs("point,repeat,status,kernels,ranks,wall_s\n"
              "a,1,failed,,1,\n"
              "a,2,ok,blas,1,3\n"
              "b,1,failed,,2,\n");
    cr_assert(!dlb_points_varies(points, dlb_points_find(points, "kernels")));
    cr_assert(dlb_points_varies(points, dlb_points_find(points, "ranks")));
    cr_assert_str_eq(dlb_point_text(points, 0, dlb_points_find(points, "kernels")), "blas");
}

Test(points, an_empty_value_is_a_value_where_the_run_came_to_its_end)
{
    read_runs("point,status,kmp_affinity,wall_s\na,ok,,1\nb,ok,compact,1\n");
    cr_assert(dlb_points_varies(points, dlb_points_find(points, "kmp_affinity")));
}

Test(points, metrics_are_the_number_columns_that_nobody_else_knows)
{
    read_runs("point,repeat,status,wall_s,comment,bandwidth_gbs\n"
              "a,2,ok,1,fast,12.5\n"
              "a,1,failed,1,slow,99\n");
    const double *values;
    cr_assert_eq(dlb_points_metrics(points), 1);
    cr_assert_str_eq(dlb_points_metric(points, 0), "bandwidth_gbs");
    cr_assert_eq(dlb_point_metric(points, 0, 0, &values), 2);
    cr_assert(isnan(values[0]), "of a failed run");
    cr_assert_eq(values[1], 12.5);
}

Test(points, hosts_commits_and_oversubscription_are_told)
{
    const char *const *hosts, *const *commits;
    read_runs("point,status,host,commit,oversubscribed,wall_s\n"
              "a,ok,n1,abc,no,1\nb,ok,n2,abc,yes,1\nb,ok,n1,abc,no,1\n");
    cr_assert_eq(dlb_points_hosts(points, &hosts), 2);
    cr_assert_str_eq(hosts[1], "n2");
    cr_assert_eq(dlb_points_commits(points, &commits), 1);
    cr_assert(!dlb_point_oversubscribed(points, 0));
    cr_assert(dlb_point_oversubscribed(points, 1));
}

Test(points, a_column_that_no_run_has_is_missing_for_all)
{
    read_runs("point,status,wall_s,wait_s\na,ok,1,\na,ok,2,\n");
    cr_assert(isnan(measure(0, DLB_MEASURE_wait_s, 1)));
    cr_assert(isnan(measure(0, DLB_MEASURE_test_accuracy, 0)));
}

Test(points, a_file_that_is_no_runs_csv_is_refused)
{
    dlb_error err;
    cr_assert_eq(read_text("run,epoch,lr,train_loss\nr,1,0.1,2\n", &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "no runs.csv"), "%s", err.message);
    cr_assert_eq(dlb_points_read(&points, "/nowhere/runs.csv", &err), DLB_BAD_INPUT);
}

Test(points, a_study_without_runs_has_no_points)
{
    read_runs("point,repeat,status,ranks,time_to_solution_s\n");
    cr_assert_eq(dlb_points_count(points), 0);
    cr_assert_eq(dlb_points_runs(points), 0);
}
