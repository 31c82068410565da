/* What the lists, zips, conditions and derived values of a file come to. */
#include "base/clock.h"
#include "support/planned.h"

static void assert_plan(const char *text, const char *expected)
{
    planned p = plan_of(text);
    dlb_str points = DLB_STR_INIT;
    for (size_t i = 0; i < dlb_plan_count(p.plan); i++) {
        dlb_str_add(&points, i ? "\n" : "");
        describe_point(p.plan, i, &points);
    }
    cr_assert_str_eq(points.text, expected, "%s\ncomes to\n%s", text, points.text);
    dlb_str_release(&points);
    planned_release(&p);
}

static size_t count_of(const char *text)
{
    planned p = plan_of(text);
    size_t count = dlb_plan_count(p.plan);
    planned_release(&p);
    return count;
}

Test(expand, a_study_without_a_grid_is_one_point)
{
    cr_assert_eq(count_of(""), 1);
    cr_assert_eq(count_of("[workload]\nlr = 0.5\n"), 1);
    cr_assert_eq(count_of("[grid]\n"), 1);
}

Test(expand, a_grid_is_every_combination_and_its_last_key_moves_fastest)
{
    planned p = plan_of("[grid]\nthreads = 1 2\nlr = 0.1 0.2 0.3\n");
    assert_points(p.plan, "lr=0.1 threads=1", "lr=0.2 threads=1", "lr=0.3 threads=1",
                  "lr=0.1 threads=2", "lr=0.2 threads=2", "lr=0.3 threads=2");
    planned_release(&p);
}

Test(expand, a_key_of_a_grid_replaces_that_of_the_workload)
{
    planned p = plan_of("[workload]\nlr = 0.5\nepochs = 7\n[grid]\nlr = 0.1 0.2\n");
    assert_points(p.plan, "lr=0.1", "lr=0.2");
    cr_assert_str_eq(value_of(p.plan, 1, "epochs"), "7");
    planned_release(&p);
}

Test(expand, values_are_derived_for_each_point)
{
    assert_plan("[grid]\nranks = 1..cores *2\nthreads = cores / ranks\n",
                "ranks=1 threads=8\nranks=2 threads=4\nranks=4 threads=2\nranks=8 threads=1");
}

Test(expand, values_are_derived_in_the_order_of_their_needs_not_of_the_file)
{
    assert_plan("[grid]\nintra_op = threads\nthreads = cores / ranks\nranks = 2 4\n",
                "ranks=2 threads=4 intra_op=4\nranks=4 threads=2 intra_op=2");
}

Test(expand, a_value_of_the_workload_may_be_derived_from_a_grid)
{
    assert_plan("[workload]\nthreads = cores / ranks\n[grid]\nranks = 2 4\n",
                "ranks=2 threads=4\nranks=4 threads=2");
}

Test(expand, a_list_may_depend_on_the_point)
{
    assert_plan("[grid]\nranks = 4 8\nthreads = 1..(cores / ranks)\n",
                "ranks=4 threads=1\nranks=4 threads=2\nranks=8 threads=1");
}

Test(expand, values_are_derived_from_those_of_the_model)
{
    assert_plan("[grid]\nmodel = keras_cnn horovod_cnn\nlr = batch / 1000.0\n",
                "model=keras_cnn lr=0.128\nmodel=horovod_cnn lr=0.1");
}

Test(expand, workers_are_as_many_as_ranks_unless_set)
{
    assert_plan("[grid]\nranks = 2 4\nthreads = workers\n", "ranks=2 threads=2\nranks=4 threads=4");
    assert_plan("[grid]\nthreads = 1 2\nreaders = ranks + workers\n", "threads=1\nthreads=2");
    assert_plan("[grid]\nranks = 2 4\nworkers = 0 8\n",
                "workers=2 ranks=2\nworkers=8 ranks=2\nworkers=4 ranks=4\nworkers=8 ranks=4");
}

Test(expand, zipped_keys_advance_together)
{
    assert_plan("[grid]\nranks = 1 2\nlr = 0.1 0.2\nthreads = 4 2\nkmp_affinity = none compact\n"
                "zip = ranks threads, lr kmp_affinity\n",
                "lr=0.1 ranks=1 threads=4 kmp_affinity=none\n"
                "lr=0.2 ranks=1 threads=4 kmp_affinity=compact\n"
                "lr=0.1 ranks=2 threads=2 kmp_affinity=none\n"
                "lr=0.2 ranks=2 threads=2 kmp_affinity=compact");
}

Test(expand, zipped_lists_may_depend_on_the_point)
{
    assert_plan(
        "[grid]\nranks = 4 8\nthreads = 1..(cores / ranks)\nreaders = 0..(cores / ranks - 1)\n"
        "zip = threads readers\n",
        "readers=0 ranks=4 threads=1\nreaders=1 ranks=4 threads=2\n"
        "readers=0 ranks=8 threads=1");
}

Test(expand, all_conditions_must_hold)
{
    assert_plan("[grid]\nranks = 1 2 4\nthreads = 1 2 4\nwhere = ranks * threads <= 4\n"
                "where = threads > 1\n",
                "ranks=1 threads=2\nranks=1 threads=4\nranks=2 threads=2");
}

Test(expand, a_condition_keeps_values_from_being_derived_where_they_cannot)
{
    assert_plan("[grid]\nranks = 1..5\nthreads = cores / ranks\nwhere = cores % ranks == 0\n",
                "ranks=1 threads=8\nranks=2 threads=4\nranks=4 threads=2");
}

Test(expand, a_condition_may_ask_for_the_host)
{
    assert_plan("[grid]\nthreads = 1 2\nwhere = hostname == \"box\" and sockets == numa_nodes\n",
                "threads=1\nthreads=2");
}

Test(expand, a_condition_may_ask_for_keys_that_nobody_sets)
{
    assert_plan(
        "[grid]\nmodel = keras_cnn horovod_cnn\nthreads = 1 2\nwhere = batch == 128 or threads == "
        "2\n",
        "model=keras_cnn threads=1\nmodel=keras_cnn threads=2\nmodel=horovod_cnn threads=2");
}

Test(expand, grids_are_united_without_duplicates)
{
    planned p = plan_of("[grid a]\nlr = 0.1 0.2\n[grid b]\nlr = 0.2 0.3\n[grid c]\nlr = 0.1 0.3\n");
    assert_points(p.plan, "lr=0.1", "lr=0.2", "lr=0.3");
    cr_assert_str_eq(dlb_plan_grid(p.plan, 1), "a", "the first grid that has it");
    cr_assert_str_eq(dlb_plan_grid(p.plan, 2), "b");
    planned_release(&p);
}

Test(expand, a_key_that_a_grid_leaves_out_has_the_value_that_it_would_be_run_with)
{
    assert_plan("[grid a]\nbatch = 128 64\n[grid b]\nthreads = 0 2\n",
                "batch=128 threads=0\nbatch=64 threads=0\nbatch=128 threads=2");
    assert_plan("[workload]\nmodel = horovod_cnn\n[grid a]\nbatch = 100 50\n[grid b]\nlr = 0.01\n",
                "batch=100\nbatch=50");
    assert_plan("[workload]\nepochs = 3\n[grid a]\nepochs = 3 4\n[grid b]\nlr = 0.001\n",
                "epochs=3\nepochs=4");
}

Test(expand, a_value_that_a_list_has_twice_is_one_point)
{
    cr_assert_eq(count_of("[grid]\nlr = 0.5 1/2.0 0.50\n"), 1);
}

Test(expand, a_variable_that_a_grid_leaves_out_is_not_set_rather_than_empty)
{
    planned p = plan_of("[grid a]\nenv.X = \"\" 1\n[grid b]\nlr = 0.5\n");
    assert_points(p.plan, "lr=0.001 env.X=", "lr=0.001 env.X=1", "lr=0.5 env.X=-");
    cr_assert_str_eq(value_of(p.plan, 2, "env.X"), "");
    planned_release(&p);
}

Test(expand, texts_are_filled_for_each_point)
{
    assert_plan("[grid]\nthreads = 2 4\nenv.OMP_PLACES = cores({threads}) {{0}}\n",
                "threads=2 env.OMP_PLACES=cores(2)\nthreads=2 env.OMP_PLACES={0}\n"
                "threads=4 env.OMP_PLACES=cores(4)\nthreads=4 env.OMP_PLACES={0}");
}

Test(expand, a_parameter_is_a_number_where_it_reads_as_one)
{
    assert_plan("[workload]\ncommand = x {param.a} {param.b}\n[grid]\nparam.a = 1..3\nparam.b = "
                "param.a * 2\n",
                "param.a=1 param.b=2\nparam.a=2 param.b=4\nparam.a=3 param.b=6");
    assert_plan("[workload]\ncommand = x {param.a}\n[grid]\nparam.a = relu tanh 8x8\n",
                "param.a=relu\nparam.a=tanh\nparam.a=8x8");
    assert_plan("[workload]\ncommand = x {param.a}\n[grid]\nparam.a = 10 auto\n",
                "param.a=10\nparam.a=auto");
}

Test(expand, a_foreign_program_has_only_what_the_file_sets)
{
    planned p = plan_of("[workload]\ncommand = x {lr}\nlr = 7\ndata = nowhere\nmodel = none\n");
    cr_assert_eq(dlb_plan_parameters(p.plan), 3);
    cr_assert_eq(dlb_plan_find(p.plan, "batch"), -1);
    planned_release(&p);
}

Test(expand, models_and_data_are_asked_for_once)
{
    fake_calls calls = {0};
    dlb_plan_host host = fake_host(&calls);
    planned p;
    cr_assert_eq(try_plan(&p,
                          "[grid]\nthreads = 1..10\nmodel = keras_cnn horovod_cnn\nseed = 1..10\n",
                          &host, NULL),
                 0);
    cr_assert_eq(dlb_plan_count(p.plan), 200);
    cr_assert_eq(calls.defaults, 2);
    cr_assert_eq(calls.data, 1);
    planned_release(&p);
}

Test(expand, too_many_points_or_combinations_are_refused)
{
    dlb_plan_host host = fake_host(NULL);
    planned p;
    dlb_error err;
    host.max_points = 100;
    cr_assert_eq(try_plan(&p, "[grid]\nseed = 1..100\n", &host, &err), 0);
    planned_release(&p);
    cr_assert_eq(try_plan(&p, "[grid]\nseed = 1..50\nthreads = 1 2 3\n", &host, &err),
                 DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "more than 100 points"), "%s", err.message);
    cr_assert_eq(
        try_plan(&p,
                 "[grid]\nseed = 1..100\nthreads = 1..100\nranks = 1..100\nwhere = ranks > 99\n",
                 &host, &err),
        DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "too many combinations"), "%s", err.message);
}

/* Six keys of ten values, a derived one, a condition, and a second grid that has half of it. */
Test(expand, a_million_points_are_expanded)
{
    static const char text[] =
        "[workload]\nepochs = 100\ndata = synthetic\nintra_op = max(1, threads)\n"
        "[grid a]\nlr = 0.001..0.01 +0.001\nwarmup_epochs = 0..9\nseed = 1..10\nthreads = 1..10\n"
        "readers = 0..9\nbatch = 10..100 +10\nwhere = threads + readers < 100\n"
        "[grid b]\nlr = 0.001..0.01 +0.001\nwarmup_epochs = 0..9\nseed = 1..5\nthreads = 1..10\n"
        "readers = 0..9\nbatch = 10..100 +10\nwhere = threads + readers < 100\n";
    int64_t start = dlb_clock_ns();
    planned p = plan_of(text);
    cr_log_info("a million points in %.3f s\n", (double)(dlb_clock_ns() - start) * 1e-9);
    cr_assert_eq(dlb_plan_count(p.plan), 1000000);
    planned_release(&p);
}
