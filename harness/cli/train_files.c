#include "cli/train_files.h"

#include "base/file.h"
#include "cli/cmd.h"
#include "cli/train_record.h"

typedef struct output {
    const char *flag, *path;
} output;

enum { OUTPUTS = 3 };

static int check_pair(const output *a, const output *b, dlb_error *err)
{
    if (!a->path || !b->path || !dlb_file_same(a->path, b->path))
        return 0;
    return dlb_fail(err, DLB_BAD_INPUT, "%s and %s name the same file, %s", a->flag, b->flag,
                    b->path);
}

static int check_names(const output outputs[OUTPUTS], dlb_error *err)
{
    int status = 0;
    for (int i = 0; status == 0 && i < OUTPUTS; i++) {
        if (outputs[i].path && !*outputs[i].path)
            status = dlb_fail(err, DLB_BAD_INPUT, "%s needs the name of a file", outputs[i].flag);
        for (int k = 0; status == 0 && k < i; k++)
            status = check_pair(&outputs[k], &outputs[i], err);
    }
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
    const output outputs[OUTPUTS] = {
        {"--csv", files->csv}, {"--result", files->result}, {"--trace", files->trace}};
    int status = check_names(outputs, err);
    if (status == 0 && files->csv)
        status = check_csv(files->csv, session, err);
    if (status == 0 && files->result)
        status = dlb_file_writable(files->result, err);
    if (status == 0 && files->trace)
        status = dlb_file_writable(files->trace, err);
    return status;
}

static int tell(const char *command, int status, const dlb_error *err)
{
    if (status < 0)
        dlb_cli_fail(command, err);
    return status < 0;
}

int dlb_train_files_write(const dlb_train_files *files, const char *command, dlb_session *session,
                          const dlb_result *result)
{
    dlb_error err;
    int failed = 0;
    if (files->csv)
        failed += tell(command, dlb_row_append(&result->run, files->csv, &err), &err);
    if (files->result)
        failed += tell(command, dlb_result_write(result, files->result, &err), &err);
    if (files->trace)
        failed +=
            tell(command, dlb_trace_write(dlb_session_trace(session), files->trace, &err), &err);
    return failed ? DLB_FAIL : 0;
}
