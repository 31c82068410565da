#include <math.h>

#include <criterion/criterion.h>

#include "base/file.h"
#include "record/row.h"
#include "support/tempdir.h"

static dlb_row row;
static tempdir dir;

/* The first columns of ranks.csv: enough of every type, and few enough to read in a line. */
static dlb_table table;

static void init(void)
{
    table = dlb_table_ranks;
    table.count = DLB_RANK_peak_rss_mb + 1;
    dlb_row_init(&row, &table);
}

static void release(void)
{
    dlb_row_release(&row);
}

static void init_with_dir(void)
{
    init();
    tempdir_make(&dir);
}

static void release_with_dir(void)
{
    tempdir_remove(&dir);
    release();
}

TestSuite(row, .init = init, .fini = release);
TestSuite(row_append, .init = init_with_dir, .fini = release_with_dir);

static void assert_line(const char *expected)
{
    dlb_str line = DLB_STR_INIT;
    dlb_row_line(&row, &line);
    cr_assert_str_eq(line.text, expected);
    dlb_str_release(&line);
}

static void assert_last_columns(const char *expected)
{
    dlb_str header = DLB_STR_INIT;
    dlb_row_header(&row, &header);
    cr_assert_str_eq(strstr(header.text, "peak_rss_mb"), expected);
    dlb_str_release(&header);
}

Test(row, a_value_is_read_as_it_was_set)
{
    dlb_row_set_int(&row, DLB_RANK_rank, 3);
    dlb_row_set_text(&row, DLB_RANK_host, "node 1");
    dlb_row_set_real(&row, DLB_RANK_compute_s, 0.5);
    cr_assert_eq(dlb_row_int(&row, DLB_RANK_rank, -1), 3);
    cr_assert_eq(dlb_row_real(&row, DLB_RANK_rank), 3);
    cr_assert_str_eq(dlb_row_text(&row, DLB_RANK_host), "node 1");
    cr_assert_eq(dlb_row_real(&row, DLB_RANK_compute_s), 0.5);
}

Test(row, a_missing_value_is_read_as_missing)
{
    cr_assert_eq(dlb_row_int(&row, DLB_RANK_rank, -1), -1);
    cr_assert(isnan(dlb_row_real(&row, DLB_RANK_rank)));
    cr_assert(isnan(dlb_row_real(&row, DLB_RANK_compute_s)));
    cr_assert_str_eq(dlb_row_text(&row, DLB_RANK_host), "");
}

Test(row, what_is_missing_is_an_empty_cell)
{
    assert_line(",,,,,,,,");
    dlb_row_set_int(&row, DLB_RANK_rank, 0);
    assert_line(",0,,,,,,,");
}

Test(row, values_are_written_in_their_columns)
{
    dlb_row_set_text(&row, DLB_RANK_run, "r1");
    dlb_row_set_int(&row, DLB_RANK_rank, 3);
    dlb_row_set_text(&row, DLB_RANK_cpus, "0-3,8");
    dlb_row_set_real(&row, DLB_RANK_compute_s, 0.1);
    dlb_row_set_int(&row, DLB_RANK_comm_s, 2);
    dlb_row_set_real(&row, DLB_RANK_wait_s, 1.0 / 3);
    assert_line("r1,3,,\"0-3,8\",0.1,2,,0.3333333333333333,");
}

Test(row, what_is_not_finite_or_empty_is_missing)
{
    dlb_row_set_real(&row, DLB_RANK_compute_s, 1);
    dlb_row_set_real(&row, DLB_RANK_compute_s, NAN);
    dlb_row_set_real(&row, DLB_RANK_comm_s, INFINITY);
    dlb_row_set_real(&row, DLB_RANK_wait_s, -INFINITY);
    dlb_row_set_text(&row, DLB_RANK_host, "");
    assert_line(",,,,,,,,");
    cr_assert_eq(row.cells[DLB_RANK_host].kind, DLB_CELL_MISSING);
}

Test(row, setting_again_replaces_and_clearing_empties)
{
    dlb_row_set_text(&row, DLB_RANK_host, "first");
    dlb_row_set_text(&row, DLB_RANK_host, row.cells[DLB_RANK_host].text + 2);
    assert_line(",,rst,,,,,,");
    dlb_row_clear(&row, DLB_RANK_host);
    assert_line(",,,,,,,,");
}

Test(row, counters_follow_under_names_of_their_events)
{
    dlb_row_set_counter(&row, "PAPI_TOT_INS", 9000000000);
    dlb_row_miss_counter(&row, "PAPI_L2_DCM", "no hardware counters");
    dlb_row_set_counter(&row, "perf::TASK-CLOCK", 0);
    assert_last_columns("peak_rss_mb,papi_tot_ins,papi_l2_dcm,papi_perf_task_clock");
    assert_line(",,,,,,,,,9000000000,,0");
}

Test(row, extra_columns_stand_between_those_of_the_table_and_the_counters)
{
    dlb_row_set_counter(&row, "PAPI_TOT_INS", 5);
    dlb_row_set_extra(&row, "env.PLACES", "a,b");
    dlb_row_set_extra(&row, "param.size", "");
    assert_last_columns("peak_rss_mb,env.PLACES,param.size,papi_tot_ins");
    assert_line(",,,,,,,,,\"a,b\",,5");
    dlb_row_set_extra(&row, "env.PLACES", row.extras[0].text + 2);
    assert_line(",,,,,,,,,b,,5");
}

Test(row, a_line_follows_the_columns_of_another_table)
{
    char names[][16] = {"run", "wait_s", "unknown", "papi_tot_ins", "rank", "env.X"};
    char *columns[6];
    for (int i = 0; i < 6; i++)
        columns[i] = names[i];
    dlb_row_set_text(&row, DLB_RANK_run, "r1");
    dlb_row_set_int(&row, DLB_RANK_rank, 3);
    dlb_row_set_real(&row, DLB_RANK_wait_s, 0.5);
    dlb_row_set_counter(&row, "PAPI_TOT_INS", 5);
    dlb_row_set_extra(&row, "env.X", "a b");
    dlb_str line = DLB_STR_INIT;
    dlb_row_line_as(&row, columns, 6, &line);
    cr_assert_str_eq(line.text, "r1,0.5,,5,3,a b");
    dlb_str_release(&line);
}

Test(row, a_counter_set_again_keeps_its_place)
{
    dlb_row_miss_counter(&row, "PAPI_TOT_INS", "not yet");
    dlb_row_set_counter(&row, "PAPI_TOT_CYC", 1);
    dlb_row_set_counter(&row, "PAPI_TOT_INS", 2);
    assert_last_columns("peak_rss_mb,papi_tot_ins,papi_tot_cyc");
    assert_line(",,,,,,,,,2,1");
    cr_assert_null(row.counters[0].why);
}

Test(row, cells_are_read_by_the_type_of_their_column)
{
    cr_assert_eq(dlb_row_parse(&row, DLB_RANK_rank, "7", NULL), 0);
    cr_assert_eq(dlb_row_parse(&row, DLB_RANK_wait_s, "1e-3", NULL), 0);
    cr_assert_eq(dlb_row_parse(&row, DLB_RANK_host, "n1", NULL), 0);
    assert_line(",7,n1,,,,,0.001,");
    cr_assert_eq(dlb_row_parse(&row, DLB_RANK_rank, "", NULL), 0);
    assert_line(",,n1,,,,,0.001,");
}

Test(row, a_cell_of_another_type_is_refused_by_name)
{
    dlb_error err;
    cr_assert_eq(dlb_row_parse(&row, DLB_RANK_rank, "1.5", &err), DLB_BAD_INPUT);
    cr_assert_str_eq(err.message, "rank: 1.5 is not an integer");
    cr_assert_eq(dlb_row_parse(&row, DLB_RANK_wait_s, "nan", &err), DLB_BAD_INPUT);
    cr_assert_str_eq(err.message, "wait_s: nan is not a finite number");
    dlb_row run;
    dlb_row_init(&run, &dlb_table_runs);
    cr_assert_eq(dlb_row_parse(&run, DLB_RUN_status, "fine", &err), DLB_BAD_INPUT);
    cr_assert_str_eq(err.message, "status: fine is not ok|failed|timeout|diverged");
    dlb_row_release(&run);
}

static const char *rows_file(void)
{
    return tempdir_file(&dir, "ranks.csv");
}

static void assert_content(const char *expected)
{
    dlb_str text = DLB_STR_INIT;
    cr_assert_eq(dlb_file_read(rows_file(), 1 << 20, &text, NULL), 0);
    cr_assert_str_eq(text.text, expected);
    dlb_str_release(&text);
}

#define HEADER "run,rank,host,cpus,compute_s,comm_s,comm_exposed_s,wait_s,peak_rss_mb"

Test(row_append, rows_follow_one_header)
{
    for (int rank = 0; rank < 2; rank++) {
        dlb_row_set_int(&row, DLB_RANK_rank, rank);
        cr_assert_eq(dlb_row_append(&row, rows_file(), NULL), 0);
    }
    assert_content(HEADER "\n,0,,,,,,,\n,1,,,,,,,\n");
}

Test(row_append, other_counters_than_the_files_are_told_as_such)
{
    dlb_error err;
    dlb_row_set_counter(&row, "PAPI_TOT_INS", 5);
    cr_assert_eq(dlb_row_append(&row, rows_file(), NULL), 0);
    dlb_row_set_counter(&row, "PAPI_TOT_CYC", 6);
    cr_assert_eq(dlb_row_append(&row, rows_file(), &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "ranks.csv: its counter columns (papi_...)"));
    assert_content(HEADER ",papi_tot_ins\n,,,,,,,,,5\n");
}

Test(row_append, a_file_without_counters_is_told_from_one_with)
{
    dlb_error err;
    cr_assert_eq(dlb_row_append(&row, rows_file(), NULL), 0);
    dlb_row_set_counter(&row, "PAPI_TOT_INS", 5);
    cr_assert_eq(dlb_row_append(&row, rows_file(), &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "papi_..."));
}

Test(row_append, other_extra_columns_than_the_files_are_not_blamed_on_counters)
{
    dlb_error err;
    dlb_row_set_counter(&row, "PAPI_TOT_INS", 5);
    cr_assert_eq(dlb_row_append(&row, rows_file(), NULL), 0);
    dlb_row_set_extra(&row, "env.X", "1");
    cr_assert_eq(dlb_row_append(&row, rows_file(), &err), DLB_BAD_INPUT);
    cr_assert_null(strstr(err.message, "papi"));
}

Test(row_append, a_foreign_file_is_not_blamed_on_counters)
{
    dlb_error err;
    cr_assert_eq(dlb_file_write_atomic(rows_file(), "a,b\n1,2\n", 8, NULL), 0);
    cr_assert_eq(dlb_row_append(&row, rows_file(), &err), DLB_BAD_INPUT);
    cr_assert_null(strstr(err.message, "papi"));
    assert_content("a,b\n1,2\n");
}
