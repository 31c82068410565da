#include <criterion/criterion.h>

#include "cli/train_record.h"

static const char *const tiny[][2] = {
    {"model", "horovod_cnn"}, {"data", "synthetic"}, {"train_images", "128"},
    {"test_images", "64"},    {"epochs", "1"},       {"threads", "1"},
};

static dlb_session *session;
static dlb_result result;

static void create(const char *key, const char *value, bool trace)
{
    dlb_error err;
    dlb_workload workload;
    dlb_workload_init(&workload);
    for (size_t i = 0; i < sizeof tiny / sizeof *tiny; i++)
        dlb_workload_set(&workload, (enum dlb_key)dlb_key_find(tiny[i][0]), tiny[i][1], NULL);
    if (key)
        dlb_workload_set(&workload, (enum dlb_key)dlb_key_find(key), value, NULL);
    int status =
        dlb_session_create(&session, &workload, &(dlb_session_hooks){.trace = trace}, &err);
    cr_assert_eq(status, 0, "%s", err.message);
    dlb_workload_release(&workload);
}

static void record(const char *status, const char *reason)
{
    dlb_error err;
    dlb_rank_reports reports;
    cr_assert_eq(dlb_session_reports(session, &reports, &err), 0, "%s", err.message);
    dlb_train_record(&result, session, &reports, &(dlb_ending){status, reason, 1.5});
    dlb_rank_reports_release(&reports);
}

static void train_and_record(void)
{
    dlb_error err;
    cr_assert_eq(dlb_session_epoch(session, NULL, &err), 0, "%s", err.message);
    record("ok", "");
}

static void release(void)
{
    dlb_result_release(&result);
    dlb_session_free(session);
}

static bool has_note(const char *part)
{
    for (size_t i = 0; i < result.notes.count; i++)
        if (strstr(result.notes.texts[i], part))
            return true;
    return false;
}

TestSuite(train_record, .fini = release);

/* Events are in columns of their own. */
Test(train_record, every_key_has_a_column_so_that_rows_of_different_settings_differ)
{
    for (enum dlb_key key = 0; key < DLB_KEY_COUNT; key++)
        if (key != DLB_KEY_counters)
            cr_assert_geq(dlb_table_find(&dlb_table_runs, dlb_key_info(key)->name), 0, "%s",
                          dlb_key_info(key)->name);
}

Test(train_record, the_result_has_every_key_as_it_was_resolved)
{
    create("momentum", "0.75", false);
    train_and_record();
    cr_assert_eq(result.workload.count, DLB_KEY_COUNT);
    for (enum dlb_key key = 0; key < DLB_KEY_COUNT; key++) {
        dlb_str value = DLB_STR_INIT;
        dlb_str_add(&value, "");
        dlb_workload_get(dlb_session_workload(session), key, &value);
        cr_assert_str_eq(result.workload.settings[key].key, dlb_key_info(key)->name);
        cr_assert_str_eq(result.workload.settings[key].value, value.text);
        dlb_str_release(&value);
    }
    cr_assert_str_eq(result.workload.settings[DLB_KEY_optimizer].value, "sgd", "the model's");
    cr_assert_eq(result.run.cells[DLB_RUN_momentum].real, 0.75);
}

Test(train_record, the_row_has_what_a_choice_of_the_program_became)
{
    create("train_images", "0", false);
    train_and_record();
    cr_assert_eq(result.run.cells[DLB_RUN_train_images].integer,
                 dlb_session_data(session)->train.count);
    cr_assert_str_neq(result.run.cells[DLB_RUN_kernels].text, "auto");
    cr_assert_gt(result.run.cells[DLB_RUN_inter_op].integer, 0);
}

static void assert_there_or_noted(int column)
{
    const char *name = dlb_table_runs.columns[column].name;
    bool there = result.run.cells[column].kind != DLB_CELL_MISSING;
    cr_assert_neq(there, has_note(name), "%s", name);
}

Test(train_record, what_is_missing_is_noted_with_a_reason)
{
    create("counters", "PAPI_TOT_INS PAPI_TOT_CYC", false);
    train_and_record();
    assert_there_or_noted(DLB_RUN_joules);
    assert_there_or_noted(DLB_RUN_ipc);
    assert_there_or_noted(DLB_RUN_load);
    for (size_t i = 0; i < result.run.counter_count; i++)
        if (result.run.counters[i].missing)
            cr_assert(has_note(result.run.counters[i].why));
}

Test(train_record, a_reason_is_noted_once)
{
    create("counters", "PAPI_TOT_INS PAPI_TOT_CYC", false);
    train_and_record();
    for (size_t i = 0; i < result.notes.count; i++)
        for (size_t k = 0; k < i; k++)
            cr_assert_str_neq(result.notes.texts[i], result.notes.texts[k]);
}

Test(train_record, ipc_that_nobody_asked_for_is_not_missed)
{
    create(NULL, NULL, false);
    train_and_record();
    cr_assert_not(has_note("ipc"));
    cr_assert_not(has_note("trace"));
}

Test(train_record, a_trace_that_was_cut_is_noted)
{
    create(NULL, NULL, true);
    for (int i = 0; i < DLB_TRACE_EVENTS_MAX; i++)
        dlb_trace_add(dlb_session_trace(session), 0, "name", "category", i, i + 1);
    train_and_record();
    cr_assert(has_note("trace: the last "));
}

Test(train_record, a_run_that_was_stopped_has_no_times_rates_or_counters)
{
    create("counters", "perf::TASK-CLOCK", false);
    dlb_error err;
    cr_assert_eq(dlb_session_epoch(session, NULL, &err), 0, "%s", err.message);
    record("failed", "stopped");
    static const int missing[] = {DLB_RUN_time_to_solution_s, DLB_RUN_images_per_s, DLB_RUN_joules,
                                  DLB_RUN_gflops, DLB_RUN_eval_s};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        cr_assert_eq(result.run.cells[missing[i]].kind, DLB_CELL_MISSING, "%s",
                     dlb_table_runs.columns[missing[i]].name);
    cr_assert(result.run.counters[0].missing);
    cr_assert_eq(result.run.cells[DLB_RUN_wall_s].real, 1.5);
    cr_assert_eq(result.run.cells[DLB_RUN_setup_s].kind, DLB_CELL_REAL);
    cr_assert_str_eq(result.run.cells[DLB_RUN_reason].text, "stopped");
}

static void assert_header_fits(const dlb_row *empty)
{
    dlb_str expected = DLB_STR_INIT, header = DLB_STR_INIT;
    dlb_row_header(&result.run, &expected);
    dlb_row_header(empty, &header);
    cr_assert_str_eq(header.text, expected.text);
    dlb_str_release(&header);
    dlb_str_release(&expected);
}

Test(train_record, the_columns_are_known_before)
{
    create("counters", "PAPI_TOT_INS perf::TASK-CLOCK", false);
    dlb_row row;
    dlb_row_init(&row, &dlb_table_runs);
    dlb_train_columns(&row, session);
    train_and_record();
    assert_header_fits(&row);
    dlb_row_release(&row);
}
