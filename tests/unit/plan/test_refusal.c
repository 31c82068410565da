/* What is wrong with a grid is said with its place, before anything is started. */
#include "support/planned.h"

Test(refusal, unknown_keys_are_named_with_the_closest_one)
{
    assert_refused("[grid]\nthread = 1 2\n",
                   "test.ini:2: unknown key 'thread'; did you mean threads?",
                   "\n    thread = 1 2\n    ^");
    assert_refused("[grid]\nwher = 1\n", "did you mean where?", "\n    ^");
    assert_refused("[grid]\ndrop-last = yes\n", "did you mean drop_last?", "\n    ^");
    assert_refused("[grid]\ncores = 4\n", "unknown key 'cores'", "\n    ^");
}

Test(refusal, keys_of_the_other_section_are_sent_there)
{
    assert_refused("[workload]\nwhere = 1 > 0\n", "where belongs in a [grid]", "\n    ^");
    assert_refused("[grid]\ncommand = x\n", "command belongs in [workload]", "\n    ^");
}

Test(refusal, wrong_values_are_pointed_at)
{
    assert_refused("[grid]\nthreads = 1 2 5000\n",
                   "threads = 5000: must be an integer from 0 to 4096",
                   "\n    threads = 1 2 5000\n                  ^");
    assert_refused("[grid]\noptimizer = sgd adm\n", "did you mean adam?",
                   "\n    optimizer = sgd adm\n                    ^");
    assert_refused("[grid]\nlr = 0.1 yes\n", "lr = yes: must be a number",
                   "\n    lr = 0.1 yes\n             ^");
    assert_refused("[grid]\nthreads = 1 2.5\n", "threads = 2.5: must be an integer",
                   "\n    threads = 1 2.5\n                ^");
    assert_refused("[grid]\nmode = strng\n", "did you mean strong?", "\n           ^");
    assert_refused("[grid]\ndrop_last = maybe\n", "maybe", "\n                ^");
}

Test(refusal, wrong_values_are_found_even_where_a_condition_leaves_them_out)
{
    assert_refused("[grid]\nranks = 1 2\nthreads = 1 5000\nwhere = ranks > 9\n", "threads = 5000",
                   "^");
}

Test(refusal, misspelt_names_in_expressions_are_pointed_at)
{
    assert_refused("[grid]\nthreads = cors / 2\n", "did you mean cores?",
                   "\n    threads = cors / 2\n              ^");
    assert_refused("[grid]\nthreads = 1 2\nwhere = threads > 1 and rank > 1\n",
                   "did you mean ranks?", "\n                            ^");
    assert_refused("[grid]\nthreads = run_dir\n",
                   "run_dir is known to command, wrap and metrics only", "^");
}

Test(refusal, circles_are_named)
{
    assert_refused("[grid]\nlr = 1\nthreads = ranks * 2\nranks = intra_op\nintra_op = threads\n",
                   "threads needs ranks needs intra_op needs threads", "^");
    assert_refused("[grid]\nthreads = threads + 1\n", "threads needs threads", "^");
    assert_refused("[grid]\nranks = workers\nworkers = ranks\n", "ranks needs workers needs ranks",
                   "^");
}

Test(refusal, a_value_that_cannot_be_derived_names_the_point)
{
    assert_refused("[grid]\nlr = 0.1 0.2\nranks = 1 3\nthreads = cores / ranks\n",
                   "(point lr = 0.1, ranks = 3)",
                   "\n    threads = cores / ranks\n                    ^");
    assert_refused("[grid]\nranks = 1 2\nthreads = ranks * 4000\n", "(point ranks = 2)", "^");
}

Test(refusal, lists_belong_in_grids)
{
    assert_refused("[workload]\nthreads = 1 2\n", "lists belong in a [grid]",
                   "\n    threads = 1 2\n                ^");
    assert_refused("[workload]\nthreads = 1..4\n", "lists belong in a [grid]", "^");
}

Test(refusal, zips_must_fit)
{
    assert_refused("[grid]\nranks = 1 2\nthreads = 1 2 3\nzip = ranks threads\n",
                   "threads has 3 values, but ranks, zipped with it, has 2", "^");
    assert_refused("[grid]\nranks = 1 2\nzip = ranks threads\n",
                   "'threads' is no key that this grid sets",
                   "\n    zip = ranks threads\n                ^");
    assert_refused("[grid]\nranks = 1 2\nthreads = 1 2\nzip = ranks\n", "zip needs two keys", "^");
    assert_refused("[grid]\nranks = 1 2\nthreads = 1 2\nzip = ranks threads,\n",
                   "zip needs two keys", "^");
    assert_refused("[grid]\nranks = 1 2\nthreads = 1 2\nzip = ranks threads, ranks lr\n",
                   "ranks is zipped twice", "^");
    assert_refused("[grid]\nranks = 1\nthreads = ranks\nzip = ranks threads\n", "circle", "^");
}

Test(refusal, conditions_must_be_true_or_false)
{
    assert_refused("[grid]\nranks = 1 2\nwhere = ranks\n", "true or false", "\n            ^");
    assert_refused("[grid]\nranks = 1 2\nwhere = ranks > 1 ranks\n", "an operator is missing",
                   "\n                      ^");
    assert_refused("[grid]\nranks = 1 2\nwhere = ranks > \"a\"\n", "test.ini:3",
                   "(point ranks = 1)");
}

Test(refusal, a_grid_without_points_is_no_grid)
{
    assert_refused("[grid a]\nranks = 1\n[grid b]\nranks = 1 2\nwhere = ranks > 4\n",
                   "test.ini:5: this grid has no point", "\n    where = ranks > 4\n            ^");
}

Test(refusal, points_that_contradict_themselves_are_named)
{
    assert_refused("[grid]\nthreads = 4 2\nintra_op = 4\n", "(point threads = 2)",
                   "\n    intra_op = 4\n               ^");
    assert_refused("[workload]\nepochs = 3\n[grid]\nwarmup_epochs = 1 5\n",
                   "(point warmup_epochs = 5)", "\n    warmup_epochs = 1 5\n");
    assert_refused("[grid]\nworkers = 1 1000\n", "is larger than a worker's shard",
                   "(point workers = 1000)");
    assert_refused("[workload]\ntrain_images = 70000\n", "has only 60000 images", "^");
    assert_refused("[study]\nrepeats = 3\n[workload]\nseed = 4294967294\n",
                   "no seeds for 3 repeats", "^");
}

Test(refusal, what_one_grid_gives_does_not_contradict_another)
{
    planned p =
        plan_of("[grid a]\nschedule = step\nschedule_factor = 0.5 0.1\n[grid b]\nlr = 0.5\n");
    cr_assert_eq(dlb_plan_count(p.plan), 3);
    planned_release(&p);
    assert_refused("[grid]\nschedule = constant\nschedule_factor = 0.5\n", "has no effect", "^");
}

Test(refusal, missing_models_and_data_are_pointed_at)
{
    assert_refused("[grid]\nmodel = keras_cnn nope\n", "model = nope: there is no such model",
                   "\n            ^");
    assert_refused("[workload]\ndata = nowhere\n", "data = nowhere", "\n           ^");
}

Test(refusal, names_of_variables_and_parameters_are_checked)
{
    assert_refused("[workload]\nenv.2X = 1\n", "'2X' is no name of an environment variable",
                   "\n        ^");
    assert_refused("[workload]\nenv. = 1\n", "is no name of an environment variable", "^");
    assert_refused("[workload]\ncommand = x\nparam.a-b = 1\n", "'a-b' is no name of a parameter",
                   "^");
    assert_refused("[workload]\nparam.x = 1\n", "param.x is for a foreign program", "^");
    assert_refused("[workload]\nenv.OMP_NUM_THREADS = 1\n", "give threads", "^");
}

Test(refusal, braces_must_name_what_is_there)
{
    assert_refused("[workload]\ncommand = x --lr {lrr}\nlr = 1\n", "did you mean lr?",
                   "\n    command = x --lr {lrr}\n                      ^");
    assert_refused("[workload]\ncommand = x {batch}\nlr = 1\n", "batch has no value",
                   "\n                 ^");
    assert_refused("[workload]\ncommand = x {lr}\n[grid a]\nlr = 1 2\n[grid b]\nthreads = 1 2\n",
                   "lr has no value in [grid b]", "^");
    assert_refused("[launch]\nwrap = perf {nme}\n", "there is no nme", "^");
    assert_refused("[workload]\ncommand = x\n[metrics]\nloss = json {rundir}/a.json b\n",
                   "did you mean run_dir?", "\n                 ^");
    assert_refused("[workload]\ncommand = x }\n", "closes nothing", "^");
}

Test(refusal, an_axis_that_a_foreign_program_never_learns_of_is_refused)
{
    assert_refused("[workload]\ncommand = x\n[grid]\nlr = 1 2\n", "command has no {lr}",
                   "\n    lr = 1 2\n    ^");
    planned p =
        plan_of("[workload]\ncommand = x\nlr = 1\n[grid]\nranks = 1 2\nenv.A = 1 2\nbatch = 1 2\n"
                "epochs = 5 6\nzip = epochs env.A\nwhere = batch > ranks - 2\n");
    cr_assert_eq(dlb_plan_count(p.plan), 8);
    planned_release(&p);
}

Test(refusal, what_was_meant_to_be_computed_is_not_taken_for_words)
{
    assert_refused("[workload]\ncommand = x {param.n}\n[grid]\nparam.n = coers / 2\n",
                   "did you mean cores?", "^");
}
