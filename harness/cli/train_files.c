#include "cli/train_files.h"

#include "base/file.h"
#include "cli/cmd.h"
#include "cli/outputs.h"
#include "cli/train_record.h"

enum { CSV, RESULT, STEPS, TRACE, CHECKPOINT, OUTPUTS };

/* Rank N writes its trace to FILE.N. */
static int check_traces(const dlb_output *trace, const dlb_output *other, int ranks, dlb_error *err)
{
    size_t length = trace->path ? strlen(trace->path) : 0;
    long long rank;
    if (length == 0 || !other->path || strncmp(other->path, trace->path, length) != 0 ||
        other->path[length] != '.' || !dlb_parse_int(other->path + length + 1, &rank) || rank < 1 ||
        rank >= ranks)
        return 0;
    return dlb_fail(err, DLB_BAD_INPUT, "%s is where rank %lld writes its %s; take another name",
                    other->path, rank, trace->flag);
}

static int check_names(const dlb_output outputs[OUTPUTS], int ranks, dlb_error *err)
{
    int status = dlb_outputs_check(outputs, OUTPUTS, err);
    for (int i = 0; status == 0 && i < OUTPUTS; i++)
        status = check_traces(&outputs[TRACE], &outputs[i], ranks, err);
    return status;
}

static int check_csv(const char *path, dlb_session *session, dlb_error *err)
{
    dlb_row row;
    dlb_row_init(&row, &dlb_table_runs);
    dlb_train_columns(&row, session);
    int status = dlb_row_check(&row, path, err);
    dlb_row_release(&row);
    return status;
}

int dlb_train_files_check(const dlb_train_files *files, dlb_session *session, dlb_error *err)
{
    const dlb_output outputs[OUTPUTS] = {
        [CSV] = {"--csv", files->csv},
        [RESULT] = {"--result", files->result},
        [STEPS] = {"--steps", files->steps},
        [TRACE] = {"--trace", files->trace},
        [CHECKPOINT] = {"--checkpoint", files->checkpoint},
    };
    int status = check_names(outputs, dlb_comm_size(dlb_session_comm(session)), err);
    if (status == 0 && files->csv)
        status = check_csv(files->csv, session, err);
    for (int i = RESULT; status == 0 && i < OUTPUTS; i++)
        if (outputs[i].path)
            status = dlb_file_writable(outputs[i].path, err);
    return status;
}

static int tell(const char *command, int status, const dlb_error *err)
{
    if (status < 0)
        dlb_cli_fail(command, err);
    return status < 0;
}

/* ---- steps.csv ---- */

static void fill_step(dlb_row *row, const dlb_row *run, int rank, const dlb_step_record *record)
{
    const dlb_cell *name = &run->cells[DLB_RUN_run];
    if (name->kind == DLB_CELL_TEXT)
        dlb_row_set_text(row, DLB_STEP_run, name->text);
    dlb_row_set_int(row, DLB_STEP_rank, rank);
    dlb_row_set_int(row, DLB_STEP_epoch, record->epoch);
    dlb_row_set_int(row, DLB_STEP_step, record->step);
    dlb_row_set_int(row, DLB_STEP_images, record->images);
    dlb_row_set_real(row, DLB_STEP_train_s, record->train_s);
    dlb_row_set_real(row, DLB_STEP_compute_s, record->compute_s);
    dlb_row_set_real(row, DLB_STEP_comm_exposed_s, record->comm_exposed_s);
    dlb_row_set_real(row, DLB_STEP_wait_s, record->wait_s);
    dlb_row_set_int(row, DLB_STEP_bytes, record->comm_bytes);
}

static int write_steps(const char *path, const dlb_result *result, const dlb_rank_reports *all,
                       dlb_error *err)
{
    dlb_str text = DLB_STR_INIT;
    dlb_row row;
    dlb_row_init(&row, &dlb_table_steps);
    dlb_row_header(&row, &text);
    dlb_str_add(&text, "\n");
    for (int r = 0; r < all->ranks; r++)
        for (size_t i = all->record_starts[r]; i < all->record_starts[r + 1]; i++) {
            fill_step(&row, &result->run, r, &all->records[i]);
            dlb_row_line(&row, &text);
            dlb_str_add(&text, "\n");
        }
    int status = dlb_file_write_atomic(path, text.text, text.length, err);
    dlb_row_release(&row);
    dlb_str_release(&text);
    return status;
}

/* ---- All ---- */

int dlb_train_files_write(const dlb_train_files *files, const char *command,
                          const dlb_result *result, const dlb_rank_reports *reports)
{
    dlb_error err;
    int failed = 0;
    if (files->csv)
        failed += tell(command, dlb_row_append(&result->run, files->csv, &err), &err);
    if (files->steps)
        failed += tell(command, write_steps(files->steps, result, reports, &err), &err);
    if (files->result)
        failed += tell(command, dlb_result_write(result, files->result, &err), &err);
    return failed ? DLB_FAIL : 0;
}

int dlb_train_files_trace(const dlb_train_files *files, const char *command, dlb_session *session)
{
    if (!files->trace)
        return 0;
    dlb_error err;
    dlb_str path = DLB_STR_INIT;
    int rank = dlb_comm_rank(dlb_session_comm(session));
    dlb_str_add(&path, files->trace);
    if (rank)
        dlb_str_addf(&path, ".%d", rank);
    int failed = tell(command, dlb_trace_write(dlb_session_trace(session), path.text, &err), &err);
    dlb_str_release(&path);
    return failed ? DLB_FAIL : 0;
}
