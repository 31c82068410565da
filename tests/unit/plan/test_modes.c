/* How the work follows the workers: the table of docs/sweeps.md. */
#include "support/planned.h"

static void assert_mode(const char *mode, const char *const expected[4])
{
    char text[256];
    dlb_str got = DLB_STR_INIT;
    snprintf(text, sizeof text,
             "[workload]\nbatch = 64\ntrain_images = 4000\n%s\n[grid]\nworkers = 1 2 4 8\n", mode);
    planned p = plan_of(text);
    for (size_t i = 0; i < 4; i++) {
        dlb_workload w;
        dlb_plan_workload(p.plan, i, &w);
        dlb_str_clear(&got);
        dlb_str_addf(&got, "%lld %lld %s", w.batch, w.train_images,
                     dlb_key_info(DLB_KEY_lr_scaling)->choices[w.lr_scaling]);
        cr_assert_str_eq(got.text, expected[i], "%s, point %zu: %s", mode, i, got.text);
        dlb_workload_release(&w);
    }
    dlb_str_release(&got);
    planned_release(&p);
}

Test(modes, derive_batch_images_and_scaling)
{
    assert_mode("mode = none", (const char *const[]){"64 4000 linear", "64 4000 linear",
                                                     "64 4000 linear", "64 4000 linear"});
    assert_mode("mode = strong", (const char *const[]){"64 4000 none", "32 4000 none",
                                                       "16 4000 none", "8 4000 none"});
    assert_mode("mode = weak", (const char *const[]){"64 4000 linear", "64 8000 linear",
                                                     "64 16000 linear", "64 32000 linear"});
    assert_mode("mode = batch-scaled", (const char *const[]){"64 4000 linear", "64 4000 linear",
                                                             "64 4000 linear", "64 4000 linear"});
}

Test(modes, ranks_are_the_workers_where_these_are_not_set)
{
    planned p = plan_of("[workload]\nmode = strong\nbatch = 64\n[grid]\nranks = 1 4\n");
    assert_points(p.plan, "batch=64 ranks=1", "batch=16 ranks=4");
    planned_release(&p);
}

Test(modes, a_model_s_own_batch_is_divided_too)
{
    planned p = plan_of("[workload]\nmode = strong\nmodel = horovod_cnn\n[grid]\nworkers = 1 4\n");
    assert_points(p.plan, "batch=100 workers=1", "batch=25 workers=4");
    planned_release(&p);
}

Test(modes, what_is_derived_is_given_so_that_a_run_is_told)
{
    planned p = plan_of("[workload]\nmode = strong\n[grid]\nworkers = 1 4\n");
    dlb_workload w;
    dlb_plan_workload(p.plan, 1, &w);
    cr_assert(dlb_workload_is_set(&w, DLB_KEY_batch));
    cr_assert(dlb_workload_is_set(&w, DLB_KEY_lr_scaling));
    cr_assert_not(dlb_workload_is_set(&w, DLB_KEY_train_images));
    dlb_workload_release(&w);
    planned_release(&p);
}

Test(modes, a_mode_may_be_an_axis_and_its_values_do_not_leak)
{
    planned p = plan_of("[workload]\nbatch = 64\n[grid]\nmode = strong none\nworkers = 2 4\n");
    assert_points(p.plan, "batch=32 lr_scaling=none workers=2",
                  "batch=16 lr_scaling=none workers=4", "batch=64 lr_scaling=linear workers=2",
                  "batch=64 lr_scaling=linear workers=4");
    cr_assert_str_eq(dlb_plan_mode(p.plan, 0), "strong");
    cr_assert_str_eq(dlb_plan_mode(p.plan, 2), "");
    cr_assert_eq(dlb_plan_find(p.plan, "mode"), -1);
    planned_release(&p);
}

Test(modes, conditions_see_the_file_s_batch)
{
    planned p = plan_of("[workload]\nmode = strong\nbatch = 64\n[grid]\nworkers = 1..5\n"
                        "where = batch % workers == 0\n");
    assert_points(p.plan, "batch=64 workers=1", "batch=32 workers=2", "batch=16 workers=4");
    planned_release(&p);
}

Test(modes, that_do_not_fit_a_point_are_refused)
{
    assert_refused("[workload]\nmode = strong\nbatch = 64\n[grid]\nworkers = 1 2 3\n",
                   "batch = 64 cannot be divided evenly among 3 workers (point workers = 3)",
                   "\n    mode = strong\n           ^");
    assert_refused("[workload]\nmode = weak\n", "give train_images", "^");
    assert_refused("[workload]\nmode = batch-scaled\nlr_scaling = none\n",
                   "lr_scaling = none contradicts it", "^");
    assert_refused("[workload]\nmode = weak\ntrain_images = 30000\n[grid]\nworkers = 1 2 4\n",
                   "has only 60000 images (point workers = 4)", "\n    train_images = 30000\n");
    assert_refused("[workload]\ncommand = x {batch}\nmode = strong\n[grid]\nranks = 1 2\n", "batch",
                   "^");
}

Test(modes, foreign_programs_have_them_too)
{
    planned p =
        plan_of("[workload]\ncommand = x {batch}\nmode = strong\nbatch = 8\n[grid]\nranks = 1 2\n");
    assert_points(p.plan, "batch=8 ranks=1", "batch=4 ranks=2");
    planned_release(&p);
}
