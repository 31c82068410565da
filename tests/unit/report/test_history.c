#include "report/history.h"

#include <math.h>

#include "figures_kit.h"
#include "record/whole_step.h"

TestSuite(history, .init = figures_kit_init, .fini = figures_kit_release);

#define BASE   "1111111111111111111111111111111111111111"
#define FIRST  "2222222222222222222222222222222222222222"
#define SECOND "3333333333333333333333333333333333333333"

#define AT(day, before, after) "2026-11-" day "T00:00:00Z,vm,cpu,avx2,auto," before "," after ","
#define STEP                   "m," DLB_WHOLE_STEP ",1,1,"

static dlb_history history;

static int parse(const char *rows)
{
    dlb_str bytes = DLB_STR_INIT;
    dlb_str_addf(&bytes, "%s\n%s", DLB_HISTORY_HEADER, rows);
    int status = dlb_history_parse(&history, "h.csv", bytes.text, bytes.length, &err);
    dlb_str_release(&bytes);
    return status;
}

/* The data of the figure of these rows; gnuplot need not be there. */
static const char *figure_of(const char *rows)
{
    dlb_str bytes = DLB_STR_INIT;
    dlb_str_addf(&bytes, "%s\n%s", DLB_HISTORY_HEADER, rows);
    put("h.csv", bytes.text);
    dlb_str_release(&bytes);
    setenv("PATH", "", 1);
    dlb_figure_options options = {.folder = dir.path, .among_others = true};
    char path[128];
    snprintf(path, sizeof path, "%s", tempdir_file(&dir, "h.csv"));
    if (dlb_history_figure(path, &options, &count, &err) < 0)
        cr_assert(strstr(err.message, "gnuplot-nox"), "%s", err.message);
    return count ? content("h.dat") : "";
}

Test(history, knows_a_commit_by_what_a_program_calls_itself)
{
    cr_assert(dlb_history_same_commit(FIRST, "222222222222"));
    cr_assert(dlb_history_same_commit(FIRST, "v0.1-3-g222222222222"));
    cr_assert(!dlb_history_same_commit(FIRST, "333333333333"));
    cr_assert(!dlb_history_same_commit(FIRST, "222222222222-dirty"));
    cr_assert(!dlb_history_same_commit(FIRST, "unknown"));
    cr_assert(!dlb_history_same_commit(FIRST, "2"));
    cr_assert(!dlb_history_same_commit("/tmp/dlbench", "222222222222"));
}

Test(history, has_checks_whose_rows_stand_together)
{
    cr_assert_eq(parse(AT("01", BASE, "222222222222") "m,a,1,1,1,0,2,1,same,20\n"     //
                       AT("01", BASE, "222222222222") "m,b,1,1,,,,,inconclusive,20\n" //
                       AT("01", BASE, "222222222222") "m,a,1,1,1,0,2,1,same,20\n"     //
                       AT("02", FIRST, "333333333333") "m,a,1,1,5,4,6,1,slower,20\n"),
                 0, "%s", err.message);
    cr_assert_eq(history.count, 3);
    cr_assert_eq(history.checks[0].count, 2);
    cr_assert(!history.checks[1].follows && history.checks[2].follows);
    cr_assert(isnan(history.kernels[1].change));
    cr_assert_float_eq(history.kernels[3].change, 0.05, 1e-12);
    cr_assert_eq(history.kernels[3].verdict, DLB_JUDGED_SLOWER);
    dlb_history_release(&history);
}

static void assert_refused(const char *row, const char *message)
{
    cr_assert_eq(parse(row), DLB_BAD_INPUT, "%s", row);
    cr_assert(strstr(err.message, "h.csv:2: ") && strstr(err.message, message), "'%s' in '%s'",
              message, err.message);
    dlb_history_release(&history);
}

Test(history, refuses_cells_that_make_no_sense_with_file_and_line)
{
    assert_refused(AT("01", BASE, "2") "m,a,1,1,much,0,2,1,same,20\n", "change_pct 'much'");
    assert_refused(AT("01", BASE, "2") "m,a,1,1,-100,0,2,1,same,20\n", "must be above -100");
    assert_refused(AT("01", BASE, "2") "m,a,-1,1,1,0,2,1,same,20\n", "before_s '-1' is negative");
    assert_refused(AT("01", BASE, "2") "m,a,1,1,1,0,2,1,slowest,20\n", "verdict 'slowest'");
    assert_refused(AT("xx", BASE, "2") "m,a,1,1,1,0,2,1,same,20\n", "date '2026-11-xx");
    assert_refused(AT("01", BASE, "") "m,a,1,1,1,0,2,1,same,20\n", "commit_after ''");
    assert_refused(AT("01", BASE, "2") "m,a,1,1,1,0,2,1,same\n", "has 16 cells instead of 17");
    assert_refused("\x01\x02,,\n", "cells instead of");
}

Test(history, refuses_another_file)
{
    static const char other[] = "a,b\n1,2\n";
    cr_assert_eq(dlb_history_parse(&history, "h.csv", other, sizeof other - 1, &err),
                 DLB_BAD_INPUT);
    cr_assert_eq(dlb_history_parse(&history, "h.csv", "", 0, &err), DLB_BAD_INPUT);
}

Test(history, accumulates_the_changes_of_checks_that_follow_each_other)
{
    const char *data = figure_of(AT("01", BASE, "222222222222") STEP "10,10,10,0,slower,20\n" AT(
        "02", FIRST, "333333333333") STEP "10,10,10,0,slower,20\n");
    cr_assert(strstr(data, "\n0.5\t0\t0\t0\t?\n1\t10\t10\t10\t2\n2\t21\t21\t21\t2\n"), "%s", data);
}

Test(history, begins_anew_behind_a_commit_that_nobody_has_checked)
{
    const char *data = figure_of(AT("01", BASE, "222222222222") STEP "10,10,10,0,slower,20\n" AT(
        "02", SECOND, "444444444444") STEP "10,10,10,0,slower,20\n");
    cr_assert(strstr(data, "\n1\t10\t10\t10\t2\n\n1.5\t0\t0\t0\t?\n2\t10\t10\t10\t2\n"), "%s",
              data);
    assert_has("h.gp", "Dotted:");
}

Test(history, draws_single_kernels_by_verdict_and_lists_what_became_slower)
{
    const char *data = figure_of(AT("01", BASE, "222222222222") "m,a,1,1,5,4,6,1,slower,20\n" //
                                 AT("01", BASE, "222222222222") "m,b,1,1,-900e-1,,,1,faster,20\n");
    cr_assert(strstr(data, "\n0.8\t5\t4\t6\t2\n1.2\t-30\t?\t?\t1\n"), "%s", data);
    assert_has("h.gp", "array list_row[2] = ['2222222  2026-11-01', '+5.0 %  m a']");
    assert_has("h.gp", "What is beyond 30 % is at the edge.");
    assert_has("h.gp", "lines = 0");
}

Test(history, has_no_figure_without_a_check)
{
    figure_of("");
    cr_assert_eq(count, 0);
    cr_assert(!made("h.dat"));
}
