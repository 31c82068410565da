#include "store_kit.h"

#include "base/csv_reader.h"
#include "base/file.h"

tempdir dir;
dlb_row columns;
dlb_error err;

void store_kit_init(void)
{
    tempdir_make(&dir);
    dlb_row_init(&columns, &dlb_table_runs);
}

void store_kit_release(void)
{
    dlb_row_release(&columns);
    unlink(tempdir_file(&dir, ".lock"));
    tempdir_remove(&dir);
}

dlb_store *store_open(void)
{
    dlb_store *store = NULL;
    int status = dlb_store_open(&store, dir.path, &columns, &err);
    cr_assert_eq(status, 0, "%s", err.message);
    return store;
}

void store_close(dlb_store *store)
{
    cr_assert_eq(dlb_store_close(store, &err), 0, "%s", err.message);
}

void result_make(dlb_result *result, int number, const char *status)
{
    char text[64];
    dlb_result_init(result);
    snprintf(text, sizeof text, "p%d-r%d", number / 10, number % 10);
    dlb_row_set_text(&result->run, DLB_RUN_run, text);
    snprintf(text, sizeof text, "p%d", number / 10);
    dlb_row_set_text(&result->run, DLB_RUN_point, text);
    snprintf(text, sizeof text, "line \"1\",\nline 2 of run %d", number);
    dlb_row_set_text(&result->run, DLB_RUN_reason, text);
    dlb_row_set_int(&result->run, DLB_RUN_repeat, number % 10 + 1);
    dlb_row_set_int(&result->run, DLB_RUN_sequence, number + 1);
    dlb_row_set_text(&result->run, DLB_RUN_status, status);
    dlb_row_set_real(&result->run, DLB_RUN_time_to_solution_s, number + 0.5);
    for (int i = 1; i <= EPOCHS; i++)
        dlb_row_set_int(dlb_result_add_epoch(result), DLB_EPOCH_epoch, i);
    for (int i = 0; i < RANKS; i++)
        dlb_row_set_int(dlb_result_add_rank(result), DLB_RANK_rank, i);
}

int try_add(dlb_store *store, int number, const char *status)
{
    dlb_result result;
    result_make(&result, number, status);
    int code = dlb_store_add(store, &result, &err);
    dlb_result_release(&result);
    return code;
}

void add(dlb_store *store, int number, const char *status)
{
    cr_assert_eq(try_add(store, number, status), 0, "%s", err.message);
}

void record(int count)
{
    dlb_store *store = store_open();
    for (int i = 0; i < count; i++)
        add(store, i, i % 3 == 2 ? "failed" : "ok");
    store_close(store);
}

dlb_str content(const char *name)
{
    dlb_str text = DLB_STR_INIT;
    cr_assert_eq(dlb_file_read(tempdir_file(&dir, name), 1 << 26, &text, &err), 0, "%s",
                 err.message);
    return text;
}

void append_bytes(const char *name, const char *bytes)
{
    FILE *file = fopen(tempdir_file(&dir, name), "a");
    cr_assert_not_null(file);
    fputs(bytes, file);
    fclose(file);
}

int rows_of(const char *name, const char *run)
{
    dlb_csv_reader *reader;
    dlb_csv_record record;
    int rows = 0, got;
    size_t width = 0;
    if (dlb_csv_open(&reader, tempdir_file(&dir, name), &err) < 0)
        return 0;
    while ((got = dlb_csv_next(reader, &record, &err)) > 0) {
        cr_assert_not(record.cut, "%s: line %zu is cut", name, record.line);
        cr_assert(width == 0 || record.count == width, "%s: line %zu", name, record.line);
        rows += width && (!run || strcmp(record.fields[0].text, run) == 0);
        width = record.count;
    }
    cr_assert_eq(got, 0, "%s", err.message);
    dlb_csv_close(reader);
    return rows;
}

void assert_whole(const dlb_store *store)
{
    int count = (int)dlb_store_count(store);
    cr_assert_eq(rows_of("runs.csv", NULL), count);
    cr_assert_eq(rows_of("epochs.csv", NULL), EPOCHS * count);
    cr_assert_eq(rows_of("ranks.csv", NULL), RANKS * count);
    for (int i = 0; i < count; i += 1 + count / 8) {
        const char *run = dlb_store_run(store, (size_t)i)->run;
        cr_assert_eq(rows_of("runs.csv", run), 1, "%s", run);
        cr_assert_eq(rows_of("epochs.csv", run), EPOCHS, "%s", run);
        cr_assert_eq(rows_of("ranks.csv", run), RANKS, "%s", run);
    }
}

bool has_failed(const dlb_stored_run *run, void *arg)
{
    (void)arg;
    return strcmp(run->status, "failed") == 0;
}
