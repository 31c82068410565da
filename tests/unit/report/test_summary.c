#include <math.h>

#include <criterion/criterion.h>

#include "report/report.h"
#include "study.h"

static study s;
static dlb_str text;

static void release(void)
{
    dlb_str_release(&text);
    study_remove(&s);
}

TestSuite(summary, .fini = release);

static const char *summarise_at(int width)
{
    dlb_report *report;
    dlb_error err;
    cr_assert_eq(dlb_report_read(&report, study_end(&s), &err), 0, "%s", err.message);
    dlb_report_summary(report, width, false, &text);
    dlb_report_free(report);
    return text.text;
}

static const char *summarise(void)
{
    return summarise_at(160);
}

#define TIMES "run,point,repeat,status,workers,ranks,threads,time_to_solution_s,images_per_s,wait_s"

/* A run of `ranks` workers that each have a rank. */
static void real_run(int ranks, int repeat, double seconds)
{
    study_row(&s, "p%d-%d,p%d,%d,ok,%d,%d,1,%.17g,%.17g,0", ranks, repeat, ranks, repeat, ranks,
              ranks, seconds, 1000 / seconds);
}

/* --- numbers --- */

/* The chance that a resample of 9 has its median at most at the k-th smallest value. */
static double chance_at_most(int k)
{
    double p = k / 9.0, sum = 0;
    for (int i = 5; i <= 9; i++) {
        double ways = 1;
        for (int j = 0; j < i; j++)
            ways = ways * (9 - j) / (j + 1);
        sum += ways * pow(p, i) * pow(1 - p, 9 - i);
    }
    return sum;
}

Test(summary, medians_and_intervals_agree_with_an_independent_computation)
{
    study_begin(&s, TIMES);
    unsigned random = 7;
    char expected[2][64];
    for (int point = 1; point <= 2; point++) {
        double times[9];
        for (int i = 0; i < 9; i++) {
            times[i] = 5 + 3 * next_random(&random);
            real_run(point, i + 1, times[i]);
        }
        qsort(times, 9, sizeof *times, compare_doubles);
        int low = 1, high = 1;
        while (chance_at_most(low) < 0.025)
            low++;
        while (chance_at_most(high) < 0.975)
            high++;
        double half = fmax(times[high - 1] - times[4], times[4] - times[low - 1]);
        snprintf(expected[point - 1], sizeof expected[0], "%d 9 %.2f ± %.2f", point, times[4],
                 half);
    }
    const char *summary = summarise();
    assert_line(summary, expected[0]);
    assert_line(summary, expected[1]);
}

Test(summary, speedups_are_of_pairs_within_blocks)
{
    study_begin(&s, TIMES);
    const double one[] = {10, 12, 30}, two[] = {5, 8, 10}; /* ratios 2, 1.5, 3; of medians 1.5 */
    for (int i = 0; i < 3; i++) {
        real_run(1, i + 1, one[i]);
        real_run(2, i + 1, two[i]);
    }
    const char *summary = summarise();
    assert_line(summary, "1 3 12.00 ± 18.00 83.3 1.00 100 %");
    assert_line(summary, "2 3 8.00 ± 3.00 125 2.00 ± 1.00 100 %");
}

Test(summary, times_of_virtual_workers_are_no_speedups)
{
    study_begin(&s, TIMES);
    for (int workers = 1; workers <= 4; workers *= 2)
        study_row(&s, "r%d,p%d,1,ok,%d,1,2,%d,100,0", workers, workers, workers, 10 + workers);
    const char *summary = summarise();
    assert_line(summary, "workers n time images/s");
    assert_no_line(summary, "efficiency");
    assert_no_line(summary, "Fastest");
}

Test(summary, a_grid_of_virtual_workers_shows_no_speedup_even_where_another_grid_has_its_base)
{
    study_begin(&s, "point,repeat,status,grid,workers,ranks,threads,time_to_solution_s");
    study_row(&s, "a,1,ok,accuracy,1,1,1,10");
    study_row(&s, "b,1,ok,accuracy,8,1,1,12");
    study_row(&s, "c,1,ok,scaling,1,1,2,5");
    study_row(&s, "d,1,ok,scaling,2,2,1,4");
    const char *summary = summarise(), *scaling = strstr(summary, "grid scaling");
    assert_line(scaling, "2 1 1 4.00 2.50 125 %");
    assert_no_line(summary, "1 1 10.00 1.00");
}

Test(summary, more_ranks_for_the_same_workers_are_a_speedup)
{
    study_begin(&s, TIMES);
    for (int ranks = 1; ranks <= 4; ranks *= 2)
        study_row(&s, "r%d,p%d,1,ok,4,%d,1,%g,100,0", ranks, ranks, ranks, 12.0 / ranks);
    assert_line(summarise(), "4 1 3.00 100 4.00 100 %");
}

Test(summary, weak_scaling_is_told_in_images)
{
    study_begin(&s,
                "point,repeat,status,mode,workers,ranks,threads,time_to_solution_s,images_per_s");
    study_row(&s, "a,1,ok,weak,1,1,1,10,100");
    study_row(&s, "b,1,ok,weak,2,2,1,11,180");
    assert_line(summarise(), "2 1 11.00 180 1.80 90 %");
}

/* --- rows --- */

Test(summary, runs_that_are_not_ok_are_counted_and_have_no_time)
{
    study_begin(&s, TIMES);
    real_run(1, 1, 10);
    study_row(&s, "x,p1,2,failed,1,1,1,99,99,0");
    study_row(&s, "y,p1,3,timeout,1,1,1,,,");
    study_row(&s, "z,p1,4,diverged,1,1,1,99,,");
    const char *summary = summarise();
    assert_line(summary, "4 runs of 1 point: 1 ok, 1 failed, 1 timed out, 1 diverged");
    assert_line(summary, "1/4 10.00 100 1 failed, 1 timeout, 1 diverged");
}

Test(summary, only_parameters_that_tell_points_apart_are_columns)
{
    study_begin(&s, "point,repeat,status,ranks,threads,intra_op,batch,lr,wall_s");
    study_row(&s, "a,1,ok,1,1,1,64,0.1,5");
    study_row(&s, "b,1,ok,1,2,2,64,0.1,4");
    study_row(&s, "c,1,ok,2,1,1,32,0.1,3");
    study_row(&s, "d,1,ok,2,1,1,32,0.2,2");
    const char *summary = summarise();
    assert_line(summary, "ranks threads lr n wall time (s)");
    assert_no_line(summary, "batch");
    assert_no_line(summary, "intra_op");
    assert_line(summary, "Fastest: ranks 2, threads 1, learning rate 0.2 (2 s).");
}

Test(summary, each_grid_has_its_table)
{
    study_begin(&s, "point,repeat,status,grid,workers,ranks,threads,time_to_solution_s");
    study_row(&s, "a,1,ok,accuracy,1,1,1,5");
    study_row(&s, "b,1,ok,accuracy,2,1,1,6");
    study_row(&s, "c,1,ok,scaling,1,1,2,7");
    study_row(&s, "d,1,ok,scaling,2,2,2,4");
    const char *summary = summarise();
    const char *accuracy = strstr(summary, "grid accuracy"),
               *scaling = strstr(summary, "grid scaling");
    cr_assert(accuracy && scaling && accuracy < scaling);
    assert_line(accuracy, "workers n time");
    assert_line(scaling, "ranks n time");
}

Test(summary, of_many_points_the_fastest_and_the_slowest_are_shown)
{
    study_begin(&s, "point,repeat,status,param.x,time_to_solution_s");
    for (int i = 0; i < 1000; i++)
        study_row(&s, "p%d,1,ok,x%d,%d", i, i, 1000 + i);
    const char *summary = summarise();
    assert_line(summary, "x0 1 1000.0");
    assert_line(summary, "x999 1 1999.0");
    assert_line(summary, "… 964 more");
    assert_no_line(summary, "x500 1");
    size_t lines = 0;
    for (const char *c = summary; *c; c++)
        lines += *c == '\n';
    cr_assert_lt(lines, 50);
}

static int widest_line(const char *lines)
{
    int widest = 0;
    for (int columns = 0; *lines; lines++) {
        columns = *lines == '\n' ? 0 : columns + (((unsigned char)*lines & 0xc0) != 0x80);
        widest = columns > widest ? columns : widest;
    }
    return widest;
}

Test(summary, a_narrow_terminal_loses_columns_and_not_alignment)
{
    study_begin(&s, TIMES ",test_accuracy");
    for (int ranks = 1; ranks <= 2; ranks++)
        for (int r = 1; r <= 3; r++)
            study_row(&s, "p%d-%d,p%d,%d,ok,%d,%d,1,%g,100,0,0.97", ranks, r, ranks, r, ranks,
                      ranks, 10.0 / ranks + r);
    const char *summary = summarise_at(60);
    cr_assert_leq(widest_line(summary), 60, "%s", summary);
    assert_line(summary, "ranks n time (s) speed-up");
}

Test(summary, metrics_of_another_program_are_columns)
{
    study_begin(&s, "point,repeat,status,param.size,wall_s,bandwidth");
    study_row(&s, "a,1,ok,1,2,100.5");
    study_row(&s, "b,1,ok,2,2,200.25");
    const char *summary = summarise();
    assert_line(summary, "param.size n wall time (s) bandwidth");
    assert_line(summary, "2 1 2.00 200.25");
}

/* --- the best --- */

#define LEARNT                                                                                     \
    "point,repeat,status,mode,model,epochs,workers,ranks,threads,time_to_solution_s,"              \
    "images_per_s,test_accuracy"

Test(summary, of_virtual_workers_the_most_accurate_is_told_and_not_the_fastest)
{
    study_begin(&s, LEARNT);
    study_row(&s, "a,1,ok,,m,4,1,1,2,14,9,0.97");
    study_row(&s, "b,1,ok,,m,4,16,1,2,15,9,0.98");
    study_row(&s, "c,1,ok,,m,4,128,1,2,13,9,0.11");
    const char *summary = summarise();
    assert_line(summary, "Best test accuracy: 98.00 % with workers 16. Times are of virtual");
    assert_line(summary, "Accuracy collapses from 128 workers on.");
    assert_no_line(summary, "Fastest");
}

Test(summary, times_of_different_work_are_not_ranked)
{
    study_begin(&s, LEARNT);
    study_row(&s, "a,1,ok,,m,4,1,1,2,14,9,");
    study_row(&s, "b,1,ok,,m,2,1,1,2,7,9,");
    const char *summary = summarise();
    assert_no_line(summary, "Fastest");
    assert_no_line(summary, "Best");
}

Test(summary, weak_scaling_is_ranked_by_images)
{
    study_begin(&s, LEARNT);
    study_row(&s, "a,1,ok,weak,m,4,1,1,1,10,100,");
    study_row(&s, "b,1,ok,weak,m,4,2,2,1,11,180,");
    const char *summary = summarise();
    assert_line(summary, "Most images a second: ranks 2 (180 images/s).");
    assert_no_line(summary, "Fastest");
}

static size_t count_marked(const char *lines)
{
    size_t marked = 0;
    for (; (lines = strstr(lines, "\033[32m")); lines++)
        marked++;
    return marked;
}

static size_t marked_rows(const char *header, const char *const *rows, size_t count)
{
    dlb_report *report;
    dlb_error err;
    study_begin(&s, header);
    for (size_t i = 0; i < count; i++)
        study_row(&s, "%s", rows[i]);
    cr_assert_eq(dlb_report_read(&report, study_end(&s), &err), 0, "%s", err.message);
    dlb_report_summary(report, 160, true, &text);
    dlb_report_free(report);
    return count_marked(text.text);
}

Test(summary, a_row_stands_out_only_where_rows_can_be_compared)
{
    static const char *const different[] = {"a,1,ok,,m,4,1,1,2,14,9,", "b,1,ok,,m,2,1,1,2,7,9,"};
    cr_assert_eq(marked_rows(LEARNT, different, 2), 0, "%s", text.text);
}

Test(summary, the_best_row_stands_out)
{
    static const char *const same[] = {"a,1,ok,,m,4,1,1,2,14,9,", "b,1,ok,,m,4,2,2,1,7,9,"};
    cr_assert_eq(marked_rows(LEARNT, same, 2), 1, "%s", text.text);
}

Test(summary, numbers_and_words_of_a_parameter_have_one_order)
{
    study_begin(&s, "point,repeat,status,param.x,time_to_solution_s");
    static const char *const values[] = {"1a", "9", "10", "b", "1"};
    for (int i = 0; i < 5; i++)
        study_row(&s, "p%d,1,ok,%s,5", i, values[i]);
    const char *at = summarise();
    static const char *const expected[] = {"1", "9", "10", "1a", "b"};
    for (int i = 0; i < 5; i++) {
        char row[16];
        snprintf(row, sizeof row, "\n%8s ", expected[i]);
        at = strstr(at, row);
        cr_assert(at, "%s after the others in:\n%s", expected[i], text.text);
    }
}

Test(summary, the_best_is_told_by_time_and_by_accuracy)
{
    study_begin(&s, "point,repeat,status,lr,time_to_solution_s,test_accuracy");
    study_row(&s, "a,1,ok,0.1,10,0.95");
    study_row(&s, "b,1,ok,0.2,12,0.979");
    study_row(&s, "c,1,ok,0.3,15,0.98");
    const char *summary = summarise();
    assert_line(summary, "Fastest: learning rate 0.1 (10 s).");
    assert_line(
        summary,
        "Fastest within 0.2 % of the best test accuracy, 98.00 %: learning rate 0.2 (12 s).");
}

Test(summary, a_fastest_that_is_none_is_told_as_such)
{
    study_begin(&s, "point,repeat,status,lr,time_to_solution_s");
    for (int r = 1; r <= 3; r++) {
        study_row(&s, "a,%d,ok,0.1,%d", r, 9 + r);
        study_row(&s, "b,%d,ok,0.2,%d", r, 9 + r);
        study_row(&s, "c,%d,ok,0.3,%d", r, 20 + r);
    }
    assert_line(summarise(), "1 other is within its interval");
}

/* --- causes --- */

Test(summary, oversubscription_is_told_from_the_cores_of_the_host)
{
    study_begin(&s, TIMES);
    real_run(1, 1, 10);
    real_run(8, 1, 9);
    study_file(&s, "host.json", "{\"machine\": {\"cores\": {\"allowed\": 2}}}");
    const char *summary = summarise();
    assert_line(summary, "8 ranks × 1 thread share 2 cores: 4× oversubscribed.");
    assert_no_line(summary, "1 rank ×");
}

Test(summary, oversubscription_is_told_by_runs_where_the_host_is_not_known)
{
    study_begin(&s, "point,repeat,status,ranks,threads,oversubscribed,time_to_solution_s");
    study_row(&s, "a,1,ok,1,2,no,5");
    study_row(&s, "b,1,ok,1,4,yes,5");
    study_file(&s, "host.json", "no JSON");
    const char *summary = summarise();
    assert_line(summary, "1 rank × 4 threads had more threads than cores");
    assert_no_line(summary, "1 rank × 2 threads");
}

Test(summary, a_noisy_machine_is_told)
{
    study_begin(&s, "point,repeat,status,ranks,threads,time_to_solution_s,steal_pct,load");
    study_row(&s, "a,1,ok,1,2,5,7.5,2.1");
    study_row(&s, "a,2,ok,1,2,5,0,9.5");
    const char *summary = summarise();
    assert_line(summary, "more than 2 % of the CPU time in 1 of 2 runs, up to 7.5 %");
    assert_line(summary, "load was up to 9.5 while no run had more than 2 threads");
}

Test(summary, waiting_and_communication_are_told)
{
    study_begin(&s, "point,repeat,status,ranks,threads,time_to_solution_s,wait_s,comm_exposed_s");
    study_row(&s, "a,1,ok,1,1,10,0,0");
    study_row(&s, "b,1,ok,2,1,10,3,1.5");
    const char *summary = summarise();
    assert_line(summary, "Ranks wait for each other 30 % of the time at 2 ranks × 1 thread.");
    assert_line(summary, "no computation hides takes 15 % of the time at 2 ranks × 1 thread.");
}

Test(summary, a_collapse_is_told_with_the_workers_where_it_begins)
{
    study_begin(&s, "point,repeat,status,workers,warmup_epochs,time_to_solution_s,test_accuracy");
    const double accuracies[2][4] = {{0.98, 0.97, 0.1, 0.1}, {0.98, 0.98, 0.97, 0.96}};
    for (int warmup = 0; warmup < 2; warmup++)
        for (int i = 0; i < 4; i++)
            study_row(&s, "p%d-%d,1,ok,%d,%d,5,%g", warmup, i, 1 << i, warmup,
                      accuracies[warmup][i]);
    const char *summary = summarise();
    assert_line(summary, "Accuracy collapses from 4 workers on at warm-up 0.");
    assert_no_line(summary, "warm-up 1.");
}

Test(summary, what_was_mixed_and_what_ran_once_is_told)
{
    study_begin(&s, "point,repeat,status,lr,time_to_solution_s,host,commit");
    study_row(&s, "a,1,ok,0.1,5,vm1,abc");
    study_row(&s, "b,1,ok,0.2,5,vm2,def");
    const char *summary = summarise();
    assert_line(summary, "Runs of 2 hosts are mixed (vm1, vm2)");
    assert_line(summary, "Runs of 2 builds are mixed (abc, def)");
    assert_line(summary, "Each point ran once");
}

Test(summary, why_runs_failed_is_quoted_each_reason_once)
{
    study_begin(&s, "point,repeat,status,reason,ranks,threads,time_to_solution_s");
    study_row(&s, "a,1,ok,,1,1,5");
    study_row(&s, "b,1,failed,\"exit status 1; it ended with: no\nmemory\",2,1,");
    study_row(&s, "b,2,failed,\"exit status 1; it ended with: no\nmemory\",2,1,");
    study_row(&s, "c,1,timeout,no end within 60 s,4,1,");
    study_row(&s, "c,2,diverged,the loss is not finite,4,1,");
    study_row(&s, "d,1,failed,third,8,1,");
    study_row(&s, "e,1,failed,fourth,16,1,");
    const char *summary = summarise();
    assert_line(summary,
                "2 runs failed, first at 2 ranks × 1 thread: exit status 1; it ended with: "
                "no memory");
    assert_line(summary, "1 run timed out, first at 4 ranks × 1 thread: no end within 60 s");
    assert_line(summary, "1 run failed, first at 8 ranks × 1 thread: third");
    assert_line(summary, "Runs failed for 1 other reason");
    assert_no_line(summary, "finite");
    assert_no_line(summary, "fourth");
}

Test(summary, lines_are_not_broken_between_a_number_and_its_unit)
{
    study_begin(&s, "point,repeat,status,lr,time_to_solution_s,test_accuracy");
    study_row(&s, "a,1,ok,0.1,10,0.95");
    study_row(&s, "b,1,ok,0.2,12,0.979");
    for (int width = 40; width < 120; width++) {
        dlb_report *report;
        dlb_error err;
        fflush(s.file);
        cr_assert_eq(dlb_report_read(&report, s.dir.path, &err), 0, "%s", err.message);
        dlb_str_clear(&text);
        dlb_report_summary(report, width, false, &text);
        dlb_report_free(report);
        cr_assert(!strstr(text.text, "\n %") && !strstr(text.text, "\n ±"), "%s", text.text);
        cr_assert(!strstr(text.text, "\n%"), "%s", text.text);
    }
    study_end(&s);
}

Test(summary, a_quiet_study_has_no_causes)
{
    study_begin(&s, TIMES);
    for (int r = 1; r <= 3; r++) {
        real_run(1, r, 10 + r);
        real_run(2, r, 5 + r);
    }
    assert_no_line(summarise(), "•");
}

Test(summary, who_wins_a_contest_is_told_by_how_much_and_how_sure_that_is)
{
    study_begin(&s, "point,repeat,status,model,param.peer,images_per_s");
    for (int r = 1; r <= 3; r++) {
        study_row(&s, "a,%d,ok,large,ours,%d", r, 300 * r);
        study_row(&s, "b,%d,ok,large,theirs,%d", r, 100 * r + 10 * (r - 2));
        study_row(&s, "c,%d,ok,small,ours,%d", r, 10);
        study_row(&s, "d,%d,ok,small,theirs,%d", r, 40);
    }
    summarise();
    assert_line(text.text, "• large: peer ours trains 600 images/s, 3.00 times (2.90 to 3.33) as "
                           "many as the next, theirs.");
    assert_line(text.text, "• small: peer theirs trains 40.0 images/s, 4.00 times (4.00 to 4.00)");
}
