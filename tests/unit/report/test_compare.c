#include <math.h>

#include <criterion/criterion.h>

#include "report/report.h"
#include "study.h"

static study a, b;
static dlb_str text;

static void release(void)
{
    dlb_str_release(&text);
    study_remove(&b);
    study_remove(&a);
}

TestSuite(compare, .fini = release);

static const char *compare(void)
{
    dlb_error err;
    const char *of_a = study_end(&a), *of_b = study_end(&b);
    cr_assert_eq(dlb_report_compare(of_a, of_b, 160, false, &text, &err), 0, "%s", err.message);
    return text.text;
}

#define COLUMNS "point,repeat,status,ranks,time_to_solution_s,test_accuracy"

static void begin_both(const char *header)
{
    study_begin(&a, header);
    study_begin(&b, header);
}

/* Three runs of a point, with times around one. */
static void add_runs(study *s, const char *point, int ranks, double seconds, double accuracy)
{
    for (int r = 1; r <= 3; r++)
        study_row(s, "%s,%d,ok,%d,%g,%g", point, r, ranks, seconds * (1 + 0.01 * (r - 2)),
                  accuracy);
}

/* --- numbers --- */

static double median_of_3(const double *values, int resample)
{
    double taken[3];
    for (int i = 0; i < 3; i++, resample /= 3)
        taken[i] = values[resample % 3];
    qsort(taken, 3, sizeof *taken, compare_doubles);
    return taken[1];
}

/* The numbers after B/A in the row that begins with that word. */
static void read_ratio(const char *lines, const char *row, double *value, double *low, double *high)
{
    const char *line = strstr(lines, row);
    cr_assert_not_null(line, "%s", lines);
    double times[2];
    int got = sscanf(line + strlen(row), " 3, 3 %lf %lf %lf %lf–%lf", &times[0], &times[1], value,
                     low, high);
    cr_assert_eq(got, 5, "%s", line);
}

/* The fraction of all resamples of both whose ratio of medians is at most `limit`. */
static double fraction_at_most(const double *above, const double *below, double limit)
{
    int count = 0;
    for (int i = 0; i < 27; i++)
        for (int j = 0; j < 27; j++)
            count += median_of_3(above, i) / median_of_3(below, j) <= limit;
    return count / 729.0;
}

Test(compare, ratios_and_intervals_agree_with_an_independent_computation)
{
    begin_both("point,repeat,status,ranks,time_to_solution_s");
    unsigned random = 3;
    double times[2][3];
    for (int i = 0; i < 3; i++) {
        times[0][i] = 10 + next_random(&random);
        times[1][i] = 8 + next_random(&random);
        study_row(&a, "p,%d,ok,1,%.17g", i + 1, times[0][i]);
        study_row(&a, "q,%d,ok,2,1", i + 1);
        study_row(&b, "p,%d,ok,1,%.17g", i + 1, times[1][i]);
        study_row(&b, "q,%d,ok,2,1", i + 1);
    }
    double value, low, high, half = 0.0005; /* a ratio is printed with three decimals */
    read_ratio(compare(), "\n     1", &value, &low, &high);
    qsort(times[0], 3, sizeof(double), compare_doubles);
    qsort(times[1], 3, sizeof(double), compare_doubles);
    cr_assert_float_eq(value, times[1][1] / times[0][1], half);
    cr_assert_leq(fraction_at_most(times[1], times[0], low - half), 0.025);
    cr_assert_geq(fraction_at_most(times[1], times[0], low + half), 0.025);
    cr_assert_leq(fraction_at_most(times[1], times[0], high - half), 0.975);
    cr_assert_geq(fraction_at_most(times[1], times[0], high + half), 0.975);
}

Test(compare, the_whole_is_the_geometric_mean)
{
    begin_both(COLUMNS);
    add_runs(&a, "p", 1, 10, 0.98);
    add_runs(&b, "p", 1, 5, 0.98); /* twice as fast, and 8 times */
    add_runs(&a, "q", 2, 8, 0.98);
    add_runs(&b, "q", 2, 1, 0.97);
    const char *lines = compare();
    assert_line(lines, "Overall B is 4.000 times as fast as A");
    assert_line(lines, "mean over 2 points");
    assert_line(lines, "clearly faster at 2, A at 0.");
    assert_line(lines,
                "Test accuracy, B less A: median -0.50 %, from -1.00 to +0.00 % over 2 points.");
    assert_line(lines, "2 3, 3 8 1 0.125 0.100 -1.00");
}

Test(compare, no_difference_is_told_as_none)
{
    begin_both(COLUMNS);
    for (int ranks = 1; ranks <= 4; ranks++) {
        char point[8];
        snprintf(point, sizeof point, "p%d", ranks);
        add_runs(&a, point, ranks, 10, 0.98);
        add_runs(&b, point, ranks, ranks % 2 ? 10.05 : 9.95, 0.98);
    }
    assert_line(compare(), "Overall no difference is seen: time B/A 1.000");
}

Test(compare, runs_that_are_not_ok_have_no_part_in_it)
{
    begin_both(COLUMNS);
    add_runs(&a, "p", 1, 10, 0.98);
    study_row(&b, "p,1,failed,1,1,0.98");
    const char *lines = compare();
    assert_line(lines, "No point has a time in both.");
}

/* --- matching --- */

Test(compare, points_are_matched_by_id_whatever_the_order)
{
    begin_both(COLUMNS);
    add_runs(&a, "p", 1, 10, 0.98);
    add_runs(&a, "q", 2, 6, 0.98);
    add_runs(&b, "q", 2, 3, 0.98);
    add_runs(&b, "p", 1, 20, 0.98);
    const char *lines = compare();
    assert_line(lines, "1 3, 3 10 20 2.000");
    assert_line(lines, "2 3, 3 6 3 0.500");
}

Test(compare, points_without_common_ids_are_matched_by_parameters)
{
    study_begin(&a, "point,repeat,status,ranks,kernels,time_to_solution_s");
    study_begin(&b, "time_to_solution_s,kernels,ranks,status,repeat");
    study_row(&a, "p,1,ok,1,simd,10");
    study_row(&a, "q,1,ok,2,simd,6");
    study_row(&b, "20,ref,1,ok,1");
    study_row(&b, "12,ref,2,ok,1");
    const char *lines = compare();
    assert_line(lines, "1 1, 1 10 20 2.000");
    assert_line(lines, "2 1, 1 6 12 2.000");
    assert_line(lines, "Overall A is 2.000 times as fast as B");
    assert_line(lines, "kernels simd ref");
}

Test(compare, what_only_one_has_is_told)
{
    begin_both(COLUMNS);
    add_runs(&a, "p", 1, 10, 0.98);
    add_runs(&a, "q", 2, 10, 0.98);
    add_runs(&b, "p", 1, 10, 0.98);
    add_runs(&b, "r", 4, 10, 0.98);
    const char *lines = compare();
    assert_line(lines, "1 point is only in A: ranks 2.");
    assert_line(lines, "1 point is only in B: ranks 4.");
}

Test(compare, studies_of_nothing_in_common_are_told_apart)
{
    begin_both(COLUMNS);
    add_runs(&a, "p", 1, 10, 0.98);
    add_runs(&a, "q", 2, 10, 0.98);
    add_runs(&b, "r", 3, 10, 0.98);
    assert_line(compare(), "No point of A is in B.");
}

Test(compare, of_many_points_the_extremes_are_shown)
{
    begin_both("point,repeat,status,ranks,time_to_solution_s");
    for (int i = 0; i < 100; i++) {
        study_row(&a, "p%d,1,ok,%d,100", i, 1000 + i);
        study_row(&b, "p%d,1,ok,%d,%d", i, 1000 + i, 100 + i);
    }
    const char *lines = compare();
    assert_line(lines, "1000 1, 1 100 100 1.000");
    assert_line(lines, "1099 1, 1 100 199 1.990");
    assert_line(lines, "… 64 more");
    assert_no_line(lines, "1050 1, 1");
}

/* --- what made the numbers --- */

Test(compare, what_differs_in_provenance_is_told_and_nothing_else)
{
    begin_both(COLUMNS);
    add_runs(&a, "p", 1, 10, 0.98);
    add_runs(&b, "p", 1, 10, 0.98);
    study_file(&a, "host.json",
               "{\"since\": \"monday\", \"dlbench\": {\"commit\": \"abc\", \"flags\": \"-O3\"},"
               " \"machine\": {\"cpu\": \"Xeon\", \"cores\": {\"allowed\": 2}, \"governor\": null},"
               " \"environment\": {\"OMP_PROC_BIND\": \"true\"}, \"earlier\": [{\"x\": 1}]}");
    study_file(&b, "host.json",
               "{\"since\": \"friday\", \"dlbench\": {\"commit\": \"def\", \"flags\": \"-O3\"},"
               " \"machine\": {\"cpu\": \"Xeon\", \"cores\": {\"allowed\": 64},"
               " \"governor\": \"performance\"}, \"environment\": {}}");
    const char *lines = compare();
    assert_line(lines, "dlbench.commit abc def");
    assert_line(lines, "machine.cores.allowed 2 64");
    assert_line(lines, "machine.governor – performance");
    assert_line(lines, "environment.OMP_PROC_BIND true –");
    assert_no_line(lines, "dlbench.flags");
    assert_no_line(lines, "machine.cpu");
    assert_no_line(lines, "monday");
    assert_no_line(lines, "earlier");
}

Test(compare, rows_tell_where_they_are_from_if_nothing_else_does)
{
    begin_both("point,repeat,status,ranks,time_to_solution_s,host,commit");
    study_row(&a, "p,1,ok,1,10,vm1,abc");
    study_row(&b, "p,1,ok,1,10,vm2,abc");
    const char *lines = compare();
    assert_line(lines, "host vm1 vm2");
    assert_no_line(lines, "commit");
    assert_line(lines, "Neither has a host.json");
}

Test(compare, a_study_that_is_none_is_refused)
{
    begin_both(COLUMNS);
    dlb_error err;
    study_end(&a);
    study_end(&b);
    cr_assert_eq(dlb_report_compare(a.dir.path, "/tmp/none.csv", 80, false, &text, &err),
                 DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "/tmp/none.csv"), "%s", err.message);
}
