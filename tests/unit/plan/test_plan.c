/* A plan as others read it: parameters, workloads, filled words, selections. */
#include "support/planned.h"

Test(plan, parameters_stand_in_the_order_of_keys_then_variables)
{
    planned p = plan_of(
        "[workload]\ncommand = x {param.a}\nparam.a = 1\nenv.Z = 1\nenv.B = 1\nthreads = 1\n"
        "[grid]\nlr = 1\n");
    static const char *const names[] = {"lr", "threads", "env.B", "env.Z", "param.a"};
    cr_assert_eq(dlb_plan_parameters(p.plan), 5);
    for (size_t i = 0; i < 5; i++) {
        cr_assert_str_eq(dlb_plan_parameter(p.plan, i), names[i]);
        cr_assert_eq(dlb_plan_find(p.plan, names[i]), (int)i);
        cr_assert_not(dlb_plan_varies(p.plan, i));
    }
    cr_assert_eq(dlb_plan_find(p.plan, "batch"), -1);
    cr_assert_eq(dlb_plan_find(p.plan, "cores"), -1);
    cr_assert_eq(dlb_plan_find(p.plan, "nonsense"), -1);
    planned_release(&p);
}

Test(plan, a_workload_has_what_the_file_sets_as_given_and_the_model_s_own_values)
{
    planned p = plan_of("[workload]\nmodel = horovod_cnn\nepochs = 3\n[grid a]\nthreads = 2 4\n"
                        "[grid b]\nlr = 0.5\n");
    dlb_workload w;
    dlb_plan_workload(p.plan, 1, &w);
    cr_assert_eq(w.epochs, 3);
    cr_assert_eq(w.threads, 4);
    cr_assert_eq(w.batch, 100);
    cr_assert_eq(w.lr, 0.01);
    cr_assert(dlb_workload_is_set(&w, DLB_KEY_model) && dlb_workload_is_set(&w, DLB_KEY_threads));
    cr_assert_not(dlb_workload_is_set(&w, DLB_KEY_lr), "only the other grid sets it");
    cr_assert_not(dlb_workload_is_set(&w, DLB_KEY_batch));
    dlb_workload_release(&w);
    planned_release(&p);
}

Test(plan, a_grid_may_have_repeats_of_its_own)
{
    planned p =
        plan_of("[study]\nrepeats = 2\n[grid a]\nlr = 0.1 0.2\n[grid b]\nrepeats = 5\nlr = 0.2 "
                "0.3\n");
    cr_assert_eq(dlb_plan_repeats(p.plan, 0), 0);
    cr_assert_eq(dlb_plan_repeats(p.plan, 1), 0, "the first grid that has the point decides");
    cr_assert_eq(dlb_plan_repeats(p.plan, 2), 5);
    planned_release(&p);
    assert_refused("[grid]\nrepeats = none\n", "repeats must be a number of runs",
                   "\n              ^");
    assert_refused("[workload]\nrepeats = 3\n", "repeats belongs in a [grid]", "^");
}

/* ---- Words ---- */

static void add_word(void *text, const char *word)
{
    dlb_str_addf(text, "<%s>", word);
}

static void assert_filled(const planned *p, size_t point, dlb_words words, const char *expected)
{
    static const dlb_fill fill = {.repeat = 2, .seed = 8, .run_dir = "/runs/a b"};
    dlb_str text = DLB_STR_INIT;
    dlb_error err;
    cr_assert_eq(dlb_plan_fill(p->plan, point, words, &fill, add_word, &text, &err), 0, "%s",
                 err.message);
    cr_assert_str_eq(text.text, expected, "%s", text.text);
    dlb_str_release(&text);
}

Test(plan, words_are_filled_for_a_point_and_a_repeat)
{
    planned p =
        plan_of("[workload]\ncommand = python3 \"my train.py\" --lr={lr} {run_dir}/out \"\" {{x}} "
                "{if(threads > 2, \"many of \" , \"few\")} {param.w} {seed + repeat}\nseed = 7\n"
                "[grid]\nlr = 0.1 0.25\nthreads = 2 4\nparam.w = \"a b\"\n");
    assert_filled(&p, 0, p.study->command,
                  "<python3><my train.py><--lr=0.1></runs/a b/out><><{x}><few><a b><10>");
    assert_filled(&p, 3, p.study->command,
                  "<python3><my train.py><--lr=0.25></runs/a b/out><><{x}><many of ><a b><10>");
    planned_release(&p);
}

Test(plan, the_seed_of_the_repeat_is_there_even_if_nobody_sets_one)
{
    planned p = plan_of("[workload]\ncommand = x {seed} {repeat} {cores} {hostname}\n");
    assert_filled(&p, 0, p.study->command, "<x><8><2><8><box>");
    planned_release(&p);
}

Test(plan, what_wraps_a_training_may_name_every_key)
{
    planned p = plan_of("[workload]\nmodel = horovod_cnn\nranks = 2\n[launch]\n"
                        "wrap = perf -o {run_dir}/perf.{batch}.{workers}.{kernels}\n");
    assert_filled(&p, 0, p.study->wrap, "<perf><-o></runs/a b/perf.100.2.auto>");
    planned_release(&p);
}

Test(plan, a_word_that_cannot_be_filled_for_a_point_is_an_error)
{
    planned p = plan_of("[workload]\ncommand = x {12 / ranks}\n[grid]\nranks = 4 5\n");
    static const dlb_fill fill = {.repeat = 1, .run_dir = ""};
    dlb_str text = DLB_STR_INIT;
    dlb_error err;
    assert_filled(&p, 0, p.study->command, "<x><3>");
    cr_assert_eq(dlb_plan_fill(p.plan, 1, p.study->command, &fill, add_word, &text, &err),
                 DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "{12 / ranks}"), "%s", err.message);
    dlb_str_release(&text);
    planned_release(&p);
}

/* ---- Selection ---- */

Test(plan, selecting_keeps_the_points_and_their_ids)
{
    planned p = plan_of("[grid]\nranks = 1 2 4\nthreads = 1 2\n");
    char before[DLB_POINT_ID_SIZE], after[DLB_POINT_ID_SIZE];
    dlb_error err;
    dlb_plan_id(p.plan, 5, before);
    cr_assert_eq(dlb_plan_select(p.plan, "ranks >= 2 and threads == 2", &err), 0, "%s",
                 err.message);
    assert_points(p.plan, "ranks=2", "ranks=4");
    dlb_plan_id(p.plan, 1, after);
    cr_assert_str_eq(after, before);
    planned_release(&p);
}

Test(plan, selecting_may_ask_for_what_nobody_sets)
{
    planned p = plan_of("[grid]\nmodel = keras_cnn horovod_cnn\nranks = 1 2\n");
    cr_assert_eq(dlb_plan_select(p.plan, "batch == 100 and workers == 2 and cores == 8", NULL), 0);
    cr_assert_eq(dlb_plan_count(p.plan), 1);
    cr_assert_str_eq(value_of(p.plan, 0, "ranks"), "2");
    planned_release(&p);
}

Test(plan, points_without_a_value_are_not_selected)
{
    planned p = plan_of("[grid a]\nenv.X = 1 2\n[grid b]\nlr = 0.5\n");
    cr_assert_eq(dlb_plan_select(p.plan, "env.X != \"1\"", NULL), 0);
    cr_assert_eq(dlb_plan_count(p.plan), 1);
    planned_release(&p);
}

static void assert_not_selected(const char *expression, const char *part)
{
    planned p = plan_of("[workload]\nenv.X = 1\n[grid]\nranks = 1 2 4\n");
    dlb_error err;
    cr_assert_eq(dlb_plan_select(p.plan, expression, &err), DLB_BAD_INPUT, "%s", expression);
    cr_assert(strstr(err.message, part), "%s", err.message);
    planned_release(&p);
}

Test(plan, selecting_nothing_or_nonsense_is_refused)
{
    assert_not_selected("ranks > 10", "no point is left");
    assert_not_selected("rank > 1", "did you mean ranks?\n  rank > 1\n  ^");
    assert_not_selected("ranks > 1 2", "\n  ranks > 1 2\n            ^");
    assert_not_selected("ranks", "true or false");
    assert_not_selected("ranks > \"a\"", "\n  ranks > \"a\"\n");
    assert_not_selected("repeat == 1", "repeat is set in no grid");
    assert_not_selected("", "\n  \n  ^");
}
