#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/mem.h"
#include "store_kit.h"

TestSuite(store, .init = store_kit_init, .fini = store_kit_release);

Test(store, what_was_recorded_is_known_when_the_folder_is_opened_again)
{
    record(5);
    dlb_store *store = store_open();
    cr_assert_eq(dlb_store_count(store), 5);
    cr_assert_eq(dlb_store_mended(store), 0);
    const dlb_stored_run *run = dlb_store_run(store, 2);
    cr_assert_str_eq(run->run, "p0-r2");
    cr_assert_str_eq(run->point, "p0");
    cr_assert_str_eq(run->status, "failed");
    cr_assert_str_eq(run->host, "");
    cr_assert_eq(run->repeat, 3);
    cr_assert_eq(run->sequence, 3);
    cr_assert_eq(run->time_to_solution_s, 2.5);
    cr_assert(isnan(run->wall_s));
    assert_whole(store);
    store_close(store);
}

Test(store, a_folder_is_made_with_its_parents)
{
    dlb_store *store;
    char folder[128];
    snprintf(folder, sizeof folder, "%s/a/b//c/", dir.path);
    cr_assert_eq(dlb_store_open(&store, folder, &columns, &err), 0, "%s", err.message);
    add(store, 1, "ok");
    dlb_str path = DLB_STR_INIT;
    dlb_store_path(store, "runs.csv", &path);
    store_close(store);
    cr_assert(dlb_file_exists(path.text));
    const char *const left[] = {"a/b/c/runs.csv",
                                "a/b/c/epochs.csv",
                                "a/b/c/ranks.csv",
                                "a/b/c/.lock",
                                "a/b/c",
                                "a/b",
                                "a"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        cr_assert_eq(remove(tempdir_file(&dir, left[i])), 0, "%s", left[i]);
    dlb_str_release(&path);
}

Test(store, a_run_is_recorded_once)
{
    dlb_store *store = store_open();
    add(store, 1, "ok");
    cr_assert_eq(try_add(store, 1, "ok"), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "p0-r1 is recorded already"), "%s", err.message);
    assert_whole(store);
    store_close(store);
}

Test(store, a_run_without_a_name_is_not_recorded)
{
    dlb_store *store = store_open();
    dlb_result result;
    result_make(&result, 1, "ok");
    dlb_row_clear(&result.run, DLB_RUN_run);
    cr_assert_eq(dlb_store_add(store, &result, &err), DLB_BAD_INPUT);
    dlb_result_release(&result);
    assert_whole(store);
    store_close(store);
}

Test(store, numbers_that_are_none_or_too_large_are_missing)
{
    append_bytes("runs.csv", "run,point,repeat,sequence\na,p,4294967297,9000000000\nb,p,2,\n"
                             "c,p,-1,x\nd,p,2147483647,9223372036854775807\n");
    dlb_store *store = store_open();
    const int repeats[] = {0, 2, 0, 2147483647};
    const long long sequences[] = {9000000000, 0, 0, 0};
    for (size_t i = 0; i < sizeof repeats / sizeof *repeats; i++) {
        cr_assert_eq(dlb_store_run(store, i)->repeat, repeats[i]);
        cr_assert_eq(dlb_store_run(store, i)->sequence, sequences[i]);
    }
    store_close(store);
}

Test(store, a_repeat_that_no_one_could_read_back_is_not_recorded)
{
    dlb_store *store = store_open();
    dlb_result result;
    result_make(&result, 1, "ok");
    dlb_row_set_int(&result.run, DLB_RUN_repeat, 4294967297);
    cr_assert_eq(dlb_store_add(store, &result, &err), DLB_BAD_INPUT);
    dlb_result_release(&result);
    cr_assert_eq(dlb_store_count(store), 0);
    store_close(store);
}

/* --- one writer --- */

Test(store, a_second_writer_is_refused_with_the_number_of_the_first)
{
    char number[32];
    snprintf(number, sizeof number, "process %ld ", (long)getpid());
    dlb_store *store = store_open(), *second;
    cr_assert_eq(dlb_store_open(&second, dir.path, &columns, &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, number), "%s", err.message);
    add(store, 1, "ok");
    store_close(store);
    store = store_open();
    cr_assert_eq(dlb_store_count(store), 1);
    store_close(store);
}

Test(store, a_program_started_meanwhile_does_not_keep_the_folder)
{
    dlb_store *store = store_open();
    char *const argv[] = {(char[]){"sleep"}, (char[]){"60"}, NULL};
    pid_t child;
    cr_assert_eq(posix_spawnp(&child, "sleep", NULL, NULL, argv, NULL), 0);
    store_close(store);
    store_close(store_open());
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* --- columns --- */

static char *last_line(const char *name)
{
    dlb_str text = content(name);
    text.text[text.length - 1] = '\0';
    char *line = dlb_strdup(strrchr(text.text, '\n') + 1);
    dlb_str_release(&text);
    return line;
}

static void assert_ends_with(const char *text, const char *end)
{
    cr_assert(strlen(text) >= strlen(end), "%s", text);
    cr_assert_str_eq(text + strlen(text) - strlen(end), end);
}

static void assert_header_ends_with(const char *name, const char *end)
{
    dlb_str text = content(name);
    text.text[strcspn(text.text, "\n")] = '\0';
    assert_ends_with(text.text, end);
    dlb_str_release(&text);
}

Test(store, columns_that_are_to_come_are_added_to_rows_that_lack_them)
{
    record(2);
    dlb_row_set_extra(&columns, "env.X", "");
    dlb_row_set_counter(&columns, "PAPI_TOT_INS", 0);
    dlb_store *store = store_open();
    cr_assert_eq(dlb_store_count(store), 2);
    assert_header_ends_with("runs.csv", ",notes,env.X,papi_tot_ins");
    assert_header_ends_with("ranks.csv", ",cpus_allowed,papi_tot_ins");
    dlb_result result;
    result_make(&result, 7, "ok");
    dlb_row_set_extra(&result.run, "env.X", "a,b");
    dlb_row_set_counter(&result.run, "PAPI_TOT_INS", 42);
    dlb_row_set_counter(&result.ranks.rows[1], "PAPI_TOT_INS", 21);
    cr_assert_eq(dlb_store_add(store, &result, &err), 0, "%s", err.message);
    dlb_result_release(&result);
    assert_whole(store);
    store_close(store);
    char *run = last_line("runs.csv"), *rank = last_line("ranks.csv");
    assert_ends_with(run, ",\"a,b\",42");
    assert_ends_with(rank, ",21");
    free(rank);
    free(run);
}

Test(store, columns_that_a_file_has_besides_are_kept)
{
    append_bytes("runs.csv", "\xEF\xBB\xBFmine,point,status,run,repeat\r\nx,p1,ok,p1-r1,2\r\n");
    dlb_store *store = store_open();
    cr_assert_eq(dlb_store_count(store), 1);
    cr_assert_str_eq(dlb_store_run(store, 0)->run, "p1-r1");
    cr_assert_eq(dlb_store_run(store, 0)->repeat, 2);
    add(store, 23, "ok");
    store_close(store);
    dlb_str text = content("runs.csv");
    cr_assert(strstr(text.text, "mine,point,status,run,repeat,reason,model,"));
    cr_assert(strstr(text.text, "\nx,p1,ok,p1-r1,2,,,"));
    cr_assert(strstr(text.text, "\n,p2,ok,p2-r3,4,\"line \"\"1\"\","));
    dlb_str_release(&text);
}

Test(store, a_column_that_no_one_told_of_is_added_when_it_comes)
{
    record(2);
    dlb_store *store = store_open();
    dlb_result result;
    result_make(&result, 5, "ok");
    dlb_row_set_extra(&result.run, "late", "7");
    cr_assert_eq(dlb_store_add(store, &result, &err), 0, "%s", err.message);
    dlb_result_release(&result);
    add(store, 6, "ok");
    assert_whole(store);
    assert_header_ends_with("runs.csv", ",notes,late");
    store_close(store);
}

/* --- superseding --- */

static size_t supersede_failed(dlb_store *store)
{
    size_t count;
    cr_assert_eq(dlb_store_supersede(store, has_failed, NULL, &count, &err), 0, "%s", err.message);
    return count;
}

Test(store, superseded_runs_make_room_for_new_ones)
{
    record(9);
    dlb_store *store = store_open();
    cr_assert_eq(supersede_failed(store), 3);
    cr_assert_eq(dlb_store_count(store), 6);
    assert_whole(store);
    cr_assert_eq(rows_of("superseded.csv", NULL), 3);
    cr_assert_eq(rows_of("superseded.csv", "p0-r5"), 1);
    add(store, 2, "failed");
    add(store, 5, "ok");
    assert_whole(store);
    cr_assert_eq(supersede_failed(store), 1);
    cr_assert_eq(supersede_failed(store), 0);
    cr_assert_eq(rows_of("superseded.csv", "p0-r2"), 2);
    store_close(store);
    store = store_open();
    cr_assert_eq(dlb_store_count(store), 7);
    cr_assert_eq(dlb_store_mended(store), 0);
    assert_whole(store);
    store_close(store);
}

Test(store, superseded_runs_of_other_columns_have_a_file_of_their_own)
{
    record(3);
    dlb_store *store = store_open();
    cr_assert_eq(supersede_failed(store), 1);
    store_close(store);
    dlb_row_set_extra(&columns, "env.X", "");
    store = store_open();
    add(store, 2, "failed");
    cr_assert_eq(supersede_failed(store), 1);
    store_close(store);
    cr_assert_eq(rows_of("superseded.csv", NULL), 1);
    cr_assert_eq(rows_of("superseded.2.csv", NULL), 1);
}

static void copy_file(const char *from, const char *to)
{
    dlb_str text = content(from);
    cr_assert_eq(dlb_file_write_atomic(tempdir_file(&dir, to), text.text, text.length, NULL), 0);
    dlb_str_release(&text);
}

Test(store, a_supersession_cut_short_before_it_counts_leaves_no_trace)
{
    record(3);
    copy_file("runs.csv", "runs.csv.new");
    append_bytes("superseded.csv.new", "half of");
    dlb_store *store = store_open();
    cr_assert_eq(dlb_store_count(store), 3);
    assert_whole(store);
    store_close(store);
    cr_assert_eq(tempdir_count(&dir), 3);
}

Test(store, a_supersession_cut_short_after_it_counts_is_brought_to_its_end)
{
    record(3);
    copy_file("epochs.csv", "epochs.before");
    dlb_store *store = store_open();
    supersede_failed(store);
    store_close(store);
    dlb_str from = DLB_STR_INIT;
    dlb_str_add(&from, tempdir_file(&dir, "superseded.csv"));
    cr_assert_eq(rename(from.text, tempdir_file(&dir, "superseded.csv.new")), 0);
    dlb_str_release(&from);
    copy_file("epochs.before", "epochs.csv");
    append_bytes("ranks.csv.new", "half of");
    store = store_open();
    cr_assert_eq(dlb_store_count(store), 2);
    cr_assert_eq(dlb_store_mended(store), EPOCHS);
    assert_whole(store);
    store_close(store);
    cr_assert_eq(rows_of("superseded.csv", "p0-r2"), 1);
    cr_assert_not(dlb_file_exists(tempdir_file(&dir, "ranks.csv.new")));
}
