#include <sys/stat.h>

#include "figures_kit.h"
#include "report/figure.h"

TestSuite(figures, .init = figures_kit_init, .fini = figures_kit_release);

#define SCALING "point,repeat,status,workers,ranks,threads,oversubscribed,time_to_solution_s\n"

Test(figures, speed_ups_are_ratios_within_blocks_so_that_drift_cancels)
{
    reduce(SCALING "a,1,ok,1,1,1,no,8\na,2,ok,1,1,1,no,16\na,3,ok,1,1,1,no,24\n"
                   "b,1,ok,2,2,1,no,4\nb,2,ok,2,2,1,no,8\nb,3,ok,2,2,1,no,12\n");
    assert_has("speedup.dat", "\n1\t1\t1\t1\t3\t0\t0\n2\t2\t2\t2\t3\t0\t0\n");
    assert_has("efficiency.dat", "\n2\t100\t100\t100\t3");
    assert_has("speedup.gp", "speed-up over 1 rank × 1 thread");
}

Test(figures, weak_scaling_compares_images_a_second_since_the_work_grows)
{
    reduce("point,repeat,status,mode,workers,ranks,threads,train_images,images_per_s,"
           "time_to_solution_s\n"
           "a,1,ok,weak,1,1,1,1000,100,10\nb,1,ok,weak,2,2,1,2000,190,10.5\n");
    assert_has("speedup.dat", "\n2\t1.9\t?\t?\t1\t0\t0\n");
    assert_has("efficiency.dat", "\n2\t95\t");
    assert_has("speedup.gp", "Weak scaling");
}

Test(figures, a_time_of_virtual_workers_is_no_scaling_result)
{
    reduce(SCALING "a,1,ok,1,1,1,no,8\nb,1,ok,2,1,1,no,8\nc,1,ok,4,1,1,no,8\n");
    cr_assert(!made("speedup.dat"));
    cr_assert(!made("time.dat"));
}

Test(figures, a_line_has_as_many_workers_as_ranks_or_one_number_of_them)
{
    reduce(SCALING "a,1,ok,1,1,1,no,8\nb,1,ok,2,2,1,no,4\n"   /* workers = ranks */
                   "c,1,ok,4,1,1,no,9\nd,1,ok,4,2,1,no,6\n"); /* 4 workers on 1 and 2 ranks */
    assert_has("speedup.dat", "\n1\t1\t?\t?\t1\t0\t0\n2\t2\t");
    assert_has("speedup_2.dat", "\n1\t1\t?\t?\t1\t0\t0\n2\t1.5\t");
    assert_has("speedup_2.gp", "title = 'Strong scaling, 4 workers, played by fewer ranks'");
    assert_has_not("speedup.gp", "played");
}

Test(figures, a_speed_up_is_over_its_base_and_the_ideal_grows_with_the_cores)
{
    reduce(SCALING "a,1,ok,2,2,2,no,8\nb,1,ok,4,4,2,no,5\nc,1,ok,8,8,2,no,2\n");
    assert_has("speedup.gp", "speed-up over 2 ranks × 2 threads");
    assert_has("speedup.dat", "\n4\t1\t?\t?\t1\t0\t0\n8\t1.6\t");
    assert_has("speedup.gp", "\nideal = 0.25\n");
    assert_has("efficiency.dat", "\n8\t80\t");
}

Test(figures, lines_with_bases_of_other_sizes_have_no_common_ideal)
{
    reduce("point,status,workers,ranks,threads,param.size,time_to_solution_s\n"
           "a,ok,1,1,1,7,8\nb,ok,2,2,1,7,4\nc,ok,2,2,1,9,8\nd,ok,4,4,1,9,4\n");
    assert_has("speedup.gp", "speed-up over the fewest cores of each setting");
    assert_has("speedup.gp", "\nideal = 0\n");
    assert_has("efficiency.gp", "\nideal = 100\n");
}

Test(figures, numbers_of_ranks_that_are_none_merge_nothing_and_harm_nothing)
{
    put("ranks.csv", "run,rank,compute_s\nr1,0,1\nr2,0,1\nr3,0,1\n");
    reduce("run,point,status,workers,ranks,threads,wall_s\n"
           "r1,a,ok,1,1,1,8\nr2,b,ok,2,2,1,6\nr3,c,ok,2,2,1.5,5\nr4,d,ok,1e300,1e300,1,5\n");
    assert_has("speedup.dat", "\n1\t1\t?\t?\t1\t0\t0\n2\t1.33333\t");
    assert_has_not("speedup.dat", "\n3\t");
}

Test(figures, a_failed_run_has_no_time_in_any_figure)
{
    reduce(SCALING "a,1,ok,1,1,1,no,8\na,2,failed,1,1,1,no,800\n"
                   "b,1,ok,2,2,1,no,4\nb,2,timeout,2,2,1,no,400\n");
    assert_has("time.dat", "\n1\t8\t?\t?\t1\t0\t0\n2\t4\t?\t?\t1");
    assert_has("time.gp", "1 run failed. 1 run timed out.");
}

Test(figures, runs_of_points_that_came_to_nothing_are_counted_and_are_not_in_n)
{
    reduce(SCALING "a,1,ok,1,1,1,no,8\na,2,ok,1,1,1,no,8\nb,1,ok,2,2,1,no,4\nb,2,failed,2,2,1,no,\n"
                   "c,1,failed,4,4,1,no,\nc,2,diverged,4,4,1,no,\nd,1,timeout,8,8,1,yes,\n");
    assert_has("time.gp", "n = 1 to 2.");
    assert_has("time.gp", "2 runs failed. 1 run timed out. 1 run diverged.");
    assert_has_not("time.gp", "Hollow");
    assert_has("speedup.gp", "n = 1 to 2. 2 runs failed.");
}

Test(figures, threads_and_ranks_have_lines_of_their_own_on_a_machine_of_two_cores)
{
    reduce(SCALING "a,1,ok,1,1,1,no,8\nb,1,ok,1,1,2,no,5\nc,1,ok,2,2,1,no,4\n");
    assert_has("speedup.gp", "array legend[2] = ['1 thread a rank', '1 rank, more threads']");
    assert_has("speedup.dat", "# panel 1, line 2\n1\t1\t?\t?\t1\t0\t0\n2\t1.6\t");
}

Test(figures, a_smaller_pool_elsewhere_does_not_take_the_place_of_the_default_one)
{
    reduce("point,repeat,status,grid,ranks,threads,intra_op,time_to_solution_s\n"
           "a,1,ok,threads,1,1,1,8\nb,1,ok,threads,1,2,2,4\n"
           "c,1,ok,pools,1,2,1,7\nd,1,ok,pools,1,2,2,4\n");
    assert_has("speedup_threads.dat", "\n2\t2\t");
    assert_has_not("speedup_threads.dat", "1.14");
}

Test(figures, oversubscribed_points_are_marked)
{
    reduce(SCALING "a,1,ok,1,1,1,no,8\nb,1,ok,2,2,1,no,4\nc,1,ok,4,4,1,yes,5\n");
    assert_has("speedup.dat", "\n4\t1.6\t?\t?\t1\t1\t0\n");
    assert_has("speedup.gp", "Hollow: more threads than cores.");
}

Test(figures, a_point_that_another_grid_recorded_is_not_lost)
{
    reduce("point,status,workers,ranks,threads,intra_op,warmup_epochs,grid,time_to_solution_s\n"
           "a,ok,1,1,2,2,0,accuracy,5\nb,ok,1,1,2,2,1,accuracy,5\nc,ok,8,1,2,2,0,accuracy,5\n"
           "d,ok,1,1,1,1,0,scaling,8\ne,ok,2,2,1,1,0,scaling,4\n");
    assert_has("speedup_scaling.dat", "\n2\t1.6\t");
    assert_has("speedup_scaling.dat", "\n2\t2\t");
}

#define ACCURACY "point,repeat,status,workers,ranks,warmup_epochs,train_accuracy,test_accuracy\n"

Test(figures, diverged_runs_are_counted_and_never_a_number)
{
    reduce(ACCURACY "a,1,ok,1,1,0,0.5,0.9\nb,1,diverged,128,1,0,0.1,0.1\n"
                    "b,2,diverged,128,1,0,0.1,0.1\n");
    assert_has("accuracy.dat", "\n1\t90\t?\t?\t1\t0\t0\n128\t?\t?\t?\t0\t0\t2\n");
    assert_has("accuracy.repeats.dat", "\n2\t1\t1\t90\n");
    assert_has_not("accuracy.repeats.dat", "\t128\t");
}

Test(figures, accuracy_has_a_line_for_each_warm_up_and_none_for_ranks)
{
    reduce(ACCURACY "a,1,ok,1,1,0,0.5,0.9\nb,1,ok,2,1,0,0.5,0.8\nc,1,ok,2,2,0,0.5,0.8\n"
                    "d,1,ok,1,1,2,0.5,0.9\ne,1,ok,2,1,2,0.5,0.9\n");
    assert_has("accuracy.gp", "array legend[2] = ['warm-up 0', 'warm-up 2']");
}

Test(figures, more_than_eight_lines_are_cut_to_the_best_and_that_is_said)
{
    dlb_str runs = DLB_STR_INIT;
    dlb_str_add(&runs, "point,status,workers,ranks,threads,param.size,time_to_solution_s\n");
    for (int size = 1; size <= 12; size++)
        for (int ranks = 1; ranks <= 2; ranks++)
            dlb_str_addf(&runs, "p%d.%d,ok,%d,%d,1,%d,%d\n", size, ranks, ranks, ranks, size,
                         ranks == 1 ? 100 : 100 - size);
    reduce(runs.text);
    dlb_str_release(&runs);
    assert_has("speedup.gp", "\nlines = 8\n");
    assert_has("speedup.gp", "The best 8 of 12 lines are shown.");
    assert_has("speedup.gp", "'size 12'");
    assert_has_not("speedup.gp", "'size 4'");
}

Test(figures, what_follows_the_axis_does_not_split_a_line_and_is_named)
{
    reduce(
        "point,status,workers,ranks,mode,batch,comm,test_accuracy\n"
        "a,ok,1,1,strong,64,single,0.9\nb,ok,2,2,strong,32,shm,0.9\nc,ok,4,4,strong,16,shm,0.9\n");
    assert_has("accuracy.gp", "Along the axis vary, too: batch.");
    assert_has("accuracy.gp", "\nlines = 1\n");
}

Test(figures, what_varies_in_another_grid_only_is_not_named)
{
    reduce("point,status,grid,workers,epochs,batch,test_accuracy\n"
           "a,ok,accuracy,1,4,64,0.9\nb,ok,accuracy,2,4,64,0.9\nc,ok,accuracy,4,4,64,0.9\n"
           "d,ok,scaling,1,2,128,0.8\ne,ok,scaling,2,2,64,0.8\n");
    assert_has_not("accuracy_accuracy.gp", "Along the axis");
    assert_has("accuracy_scaling.gp", "Along the axis vary, too: batch.");
}

Test(figures, a_run_that_never_reached_the_target_counts_as_longer)
{
    reduce("point,repeat,status,workers,ranks,threads,time_to_solution_s,time_to_target_s\n"
           "a,1,ok,1,1,1,10,4\na,2,ok,1,1,1,10,\na,3,ok,1,1,1,10,6\n"
           "b,1,ok,2,2,1,5,2\nb,2,ok,2,2,1,5,2\nb,3,ok,2,2,1,5,3\n");
    assert_has("time_to_target.dat", "\n1\t6\t");
    assert_has("time_to_target.dat", "\t3\t0\t1\n2\t2\t");
}

#define TARGET                                                                                     \
    "point,repeat,status,workers,ranks,threads,time_to_solution_s,time_to_target_s,wall_s\n"       \
    "a,1,ok,1,1,1,10,4,11\nb,1,ok,2,2,1,5,2,6\n"

Test(figures, a_point_whose_runs_all_diverged_never_reached_the_target)
{
    reduce(TARGET "c,1,diverged,4,4,1,,,\nc,2,diverged,4,4,1,,,\n");
    assert_has("time_to_target.dat", "\n4\t?\t?\t?\t2\t0\t2\n");
    assert_has_not("time.dat", "\n4\t");
}

Test(figures, a_run_that_timed_out_had_not_reached_the_target_by_then)
{
    reduce(TARGET "b,2,timeout,2,2,1,,,3\nb,3,timeout,2,2,1,,,1\nd,1,failed,8,8,1,,,9\n");
    /* One of three ended before any had reached it: of the two others half have after 2 s, and the
     * last until 3 s at least. */
    assert_has("time_to_target.dat", "\t3\t0\t2\n");
    assert_has_not("time_to_target.dat", "\n8\t");
    assert_has_not("time.dat", "\n2\t3\t");
}

Test(figures, epochs_are_joined_by_run_and_only_of_runs_that_ended_ok)
{
    put("epochs.csv", "run,epoch,test_accuracy,train_loss\n"
                      "r1,1,0.5,2\nr1,2,0.7,1\nr2,1,0.6,2\nr2,2,0.9,1\nr3,1,0.1,9\nzz,1,0.2,8\n");
    reduce("run,point,repeat,status,workers,wall_s\n"
           "r1,a,1,ok,1,1\nr2,a,2,ok,1,1\nr3,a,3,diverged,1,1\n");
    assert_has("epochs.dat", "# panel 1, line 1\n1\t55\t?\t?\t2\t0\t0\n2\t80\t?\t?\t2");
}

Test(figures, phases_are_shares_of_each_rank)
{
    put("ranks.csv", "run,rank,compute_s,comm_exposed_s,wait_s,input_s\n"
                     "r1,0,8,1,1,0\nr1,1,6,2,2,0\n");
    reduce("run,point,status,workers,ranks,threads,wall_s\nr1,a,ok,2,2,1,1\n");
    assert_has("phases.dat", "\n1\t0\t80\t10\t10\t0\n2\t1\t60\t20\t20\t0\n");
}

Test(figures, a_phase_that_is_not_known_is_no_zero_and_still_drawn_around)
{
    put("ranks.csv", "run,rank,compute_s,comm_exposed_s,wait_s\nr1,0,8,,2\nr1,1,6,2,2\n");
    put("runs.csv", "run,point,status,workers,ranks,threads,wall_s\nr1,a,ok,2,2,1,1\n");
    cr_assert_eq(draw(false, NULL), 0, "%s", err.message);
    assert_has("phases.dat", "\n1\t0\t80\t?\t20\t?\n2\t1\t60\t20\t20\t?\n");
    assert_has("phases.gp", "'waiting for other ranks', ''");
    assert_has("phases.svg", "</svg>");
}

Test(figures, a_rectangle_of_two_parameters_becomes_a_heatmap)
{
    reduce(
        "point,status,ranks,workers,threads,intra_op,inter_op,oversubscribed,images_per_s,wall_s\n"
        "a,ok,1,1,2,1,1,no,100,1\nb,ok,1,1,2,2,1,no,200,1\nc,ok,1,1,2,2,2,yes,12345,1\n");
    assert_has("intra_inter.dat",
               "\n1\t1\t100\t100\n2\t1\t200\t200\n1\t2\t?\t?\n2\t2\t12345\t12.3k*\n");
}

Test(figures, a_foreign_study_shows_its_metric_over_its_parameter)
{
    reduce("point,status,wall_s,param.size,gbs\na,ok,1,1024,5\nb,ok,1,4096,7\nc,ok,1,65536,9\n");
    assert_has("effect_param_size.dat", "\n1024\t5\t?\t?\t1\t0\t0\n4096\t7");
    assert_has("effect_param_size.gp", "array ylabel[1] = ['gbs']");
}

Test(figures, each_metric_has_its_figure)
{
    reduce("point,status,wall_s,param.size,gbs,latency\na,ok,1,1,5,9\nb,ok,1,2,7,8\n");
    assert_has("effect_param_size_gbs.dat", "\n2\t7\t");
    assert_has("effect_param_size_latency.dat", "\n2\t8\t");
    assert_has("effect_param_size_latency.gp", "Effect of size on latency");
}

Test(figures, metrics_and_values_that_are_left_out_are_told)
{
    dlb_str runs = DLB_STR_INIT;
    dlb_str_add(&runs, "point,status,wall_s,env.A,m1,m2,m3,m4,m5,m6,m7,m8,m9\n");
    for (int i = 1; i <= 20; i++)
        dlb_str_addf(&runs, "p%d,ok,1,x%02d,1,2,3,4,5,6,7,8,9\n", i, i);
    reduce(runs.text);
    dlb_str_release(&runs);
    cr_assert_eq(count, 8);
    assert_has("effect_env_A_m8.gp", "The first 16 values are shown, and others are not.");
    assert_has("effect_env_A_m8.gp", "The first 8 metrics have figures, and others do not.");
}

Test(figures, series_over_epochs_are_named_within_their_grid)
{
    put("epochs.csv", "run,epoch,test_accuracy\nr1,1,0.5\nr1,2,0.7\nr2,1,0.5\nr2,2,0.7\n");
    reduce("run,point,status,grid,mode,workers,epochs,warmup_epochs,wall_s\n"
           "r1,a,ok,accuracy,,1,2,0,1\nr2,b,ok,accuracy,,2,2,0,1\nr3,c,ok,accuracy,,1,2,1,1\n"
           "r4,d,ok,accuracy,,2,2,1,1\nr5,e,ok,scaling,strong,1,3,0,1\nr6,f,ok,scaling,strong,2,3,"
           "0,1\n");
    assert_has("epochs_accuracy_warm-up_0.gp", "title = 'Accuracy and loss by epoch, warm-up 0'");
}

Test(figures, a_parameter_that_ranks_follow_has_no_figure_of_its_own)
{
    reduce("point,status,workers,ranks,threads,comm,time_to_solution_s\n"
           "a,ok,1,1,1,single,8\nb,ok,2,2,1,shm,4\n");
    cr_assert(!made("effect_comm.dat"));
}

Test(figures, parameters_that_vary_together_share_a_figure)
{
    reduce("point,status,model,epochs,lr,wall_s,test_accuracy\n"
           "a,ok,keras_cnn,5,0.001,9,0.99\nb,ok,horovod_cnn,10,0.01,4,0.98\n");
    assert_has("effect_model.gp", "Along the axis vary, too: epochs, learning rate.");
    cr_assert(!made("effect_lr.dat") && !made("effect_epochs.dat"));
}

Test(figures, cores_divided_between_ranks_and_threads_are_compared)
{
    reduce(SCALING "a,1,ok,1,1,4,no,8\nb,1,ok,2,2,2,no,7\nc,1,ok,4,4,1,no,9\n");
    assert_has("effect_split.gp", "set xtics ('1 × 4' 1, '2 × 2' 2, '4 × 1' 3)");
    cr_assert(!made("speedup.dat"), "the cores are the same everywhere");
}

Test(figures, nothing_is_drawn_where_nothing_varies)
{
    put("runs.csv", SCALING "a,1,ok,1,1,1,no,8\n");
    cr_assert_eq(draw(false, NULL), 0, "%s", err.message);
    cr_assert_eq(count, 0);
    cr_assert_eq(tempdir_count(&dir), 1);
}

Test(figures, data_stay_small_however_large_the_study_is)
{
    dlb_str runs = DLB_STR_INIT;
    dlb_str_add(&runs, "point,status,wall_s,param.size\n");
    for (int i = 1; i <= 20000; i++)
        dlb_str_addf(&runs, "p%d,ok,%d,%d\n", i, i % 7 + 1, i);
    reduce(runs.text);
    dlb_str_release(&runs);
    cr_assert_lt(strlen(content("effect_param_size.dat")), 20000);
    cr_assert_lt(strlen(content("effect_param_size.repeats.dat")), 60000);
}

/* ---- texts from outside -------------------------------------------------------------------- */

static void assert_quoted(const char *given, const char *expected)
{
    dlb_str_clear(&text);
    dlb_gnuplot_quote(&text, given);
    cr_assert_str_eq(text.text, expected);
}

Test(figures, texts_are_quoted_so_that_gnuplot_takes_them_literally)
{
    assert_quoted("it's `id` \"x\" @y {a}_b^c \\", "'it''s `id` \"x\" @y {a}_b^c \\'");
    assert_quoted("a\nset output\tb", "'a set output b'");
    assert_quoted("\xff\xfe caf\xc3\xa9 \xe2\x82", "'   café   '");
}

Test(figures, names_of_files_hold_only_letters_digits_and_dashes)
{
    dlb_figures all = {.caption_columns = 80};
    cr_assert_str_eq(dlb_figure_add(&all, "lines", "time", "../a b'`")->name, "time____a_b__");
    cr_assert_str_eq(dlb_figure_add(&all, "lines", "time", "../a b\"`")->name, "time____a_b___2");
    dlb_figures_release(&all);
}

/* ---- gnuplot ------------------------------------------------------------------------------- */

static const char two_ranks[] = SCALING "a,1,ok,1,1,1,no,8\nb,1,ok,2,2,1,no,4\n";

Test(figures, every_figure_is_drawn_as_svg_png_and_pdf)
{
    put("runs.csv", two_ranks);
    cr_assert_eq(draw(false, NULL), 0, "%s", err.message);
    cr_assert_eq(count, 3);
    cr_assert(made("speedup.svg") && made("speedup.png") && made("speedup.pdf"));
    cr_assert(made("efficiency.svg") && made("time.pdf"));
    cr_assert(!made("speedup.new.svg"));
}

Test(figures, a_hostile_study_is_drawn_and_runs_nothing)
{
    put("runs.csv",
        "point,status,wall_s,host,model,param.size,env.A\n"
        "a,ok,1,`touch pwned`,\"m'; system('touch pwned'); x='\",1,\"it's `touch pwned`\"\n"
        "b,ok,2,@x,m,2,\"it's `touch pwned`\"\n"
        "c,ok,1,h,m,1,{/=99 x}_y^z\nd,ok,1,h,m,2,{/=99 x}_y^z\n");
    cr_assert_eq(draw(false, NULL), 0, "%s", err.message);
    cr_assert_gt(count, 0);
    cr_assert(!made("pwned"));
}

Test(figures, without_gnuplot_the_package_is_named_and_data_and_scripts_are_there)
{
    put("runs.csv", two_ranks);
    setenv("PATH", "", 1);
    cr_assert_eq(draw(false, NULL), DLB_FAIL);
    cr_assert(strstr(err.message, "gnuplot-nox"));
    cr_assert(made("speedup.dat") && made("speedup.gp"));
    cr_assert(!made("speedup.svg"));
}

/* A gnuplot that knows that format only. */
static void put_gnuplot(const char *format)
{
    dlb_str script = DLB_STR_INIT;
    dlb_str_addf(&script, "#!/bin/sh\nshift 3\nfor s; do echo x >${s%%.gp}.new.%s; echo $s; done\n",
                 format);
    put("gnuplot", script.text);
    dlb_str_release(&script);
    cr_assert_eq(chmod(tempdir_file(&dir, "gnuplot"), 0755), 0);
    setenv("PATH", dir.path, 1);
}

Test(figures, a_format_that_was_not_drawn_leaves_no_old_picture_and_is_not_told)
{
    dlb_str formats = DLB_STR_INIT;
    put("runs.csv", two_ranks);
    put("speedup.png", "old");
    put("speedup.svg", "old");
    put_gnuplot("svg");
    cr_assert_eq(draw(false, &formats), 0, "%s", err.message);
    cr_assert_str_eq(formats.text, "SVG");
    cr_assert_str_eq(content("speedup.svg"), "x\n");
    cr_assert(!made("speedup.png") && !made("speedup.pdf"));
    dlb_str_release(&formats);
}

Test(figures, a_gnuplot_that_draws_nothing_is_told)
{
    put("runs.csv", two_ranks);
    put_gnuplot("gif");
    cr_assert_eq(draw(false, NULL), DLB_FAIL);
    cr_assert(strstr(err.message, "none of SVG"), "%s", err.message);
}

Test(figures, what_no_longer_applies_is_removed_if_it_is_ours)
{
    put("runs.csv", two_ranks);
    put("mine.gp", "# Made by hand\n");
    put("mine.svg", "<svg/>");
    put("old.gp", "# Made by dlbench; gnuplot old.gp draws it.\n");
    put("old.svg", "<svg/>");
    put("notes.pdf", "%PDF");
    cr_assert_eq(draw(false, NULL), 0, "%s", err.message);
    cr_assert(made("mine.gp") && made("mine.svg") && made("notes.pdf"));
    cr_assert(!made("old.gp") && !made("old.svg"));
}

Test(figures, a_terminal_gets_the_drawing_and_no_file)
{
    dlb_str drawn = DLB_STR_INIT;
    put("runs.csv", two_ranks);
    cr_assert_eq(draw(true, &drawn), 0, "%s", err.message);
    cr_assert(strstr(drawn.text, "speed-up over 1 rank × 1 thread"), "%s", drawn.text);
    cr_assert_eq(tempdir_count(&dir), 1);
    dlb_str_release(&drawn);
}
