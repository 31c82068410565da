#include <signal.h>

#include "base/clock.h"
#include "base/file.h"
#include "cli/cmd.h"
#include "cli/progress.h"
#include "cli/text.h"
#include "cli/train_record.h"
#include "cli/train_report.h"

typedef struct train_options {
    dlb_workload workload;
    const char *csv, *result, *trace;
    bool quiet;
} train_options;

/* ---- Stopping: Ctrl-C ends after the step ---- */

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
    stop_signal = number;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static int show_step(void *display, const dlb_progress *progress)
{
    dlb_display_step(display, progress);
    return stop_signal;
}

static int show_evaluation(void *display, const dlb_progress *progress)
{
    dlb_display_evaluation(display, progress);
    return stop_signal;
}

/* ---- The training ---- */

static int train_epochs(dlb_session *session, dlb_display *display, dlb_error *err)
{
    for (int i = 0; i < dlb_session_workload(session)->epochs; i++) {
        dlb_epoch epoch;
        int status = dlb_session_epoch(session, &epoch, err);
        if (status < 0) {
            dlb_display_break(display);
            return status;
        }
        dlb_display_epoch(display, &epoch);
    }
    return 0;
}

/* Refuse outputs that could not be written, before hours of training. */
static int check_files(const train_options *o, dlb_session *session, dlb_error *err)
{
    dlb_result result;
    dlb_result_init(&result);
    dlb_ending unknown = {"failed", "", 0};
    dlb_train_record(&result, session, &unknown); /* for its columns */
    int status = o->csv ? dlb_row_check(&result.run, o->csv, err) : 0;
    if (status == 0 && o->result)
        status = dlb_file_writable(o->result, err);
    if (status == 0 && o->trace)
        status = dlb_file_writable(o->trace, err);
    dlb_result_release(&result);
    return status;
}

static int write_files(const train_options *o, dlb_session *session, const dlb_ending *ending,
                       dlb_error *err)
{
    dlb_result result;
    dlb_result_init(&result);
    dlb_train_record(&result, session, ending);
    int status = 0;
    if (o->trace)
        status = dlb_trace_write(dlb_session_trace(session), o->trace, err);
    if (o->csv && status == 0)
        status = dlb_row_append(&result.run, o->csv, err);
    if (o->result && status == 0)
        status = dlb_result_write(&result, o->result, err);
    dlb_result_release(&result);
    return status;
}

/* How the run ended, for the record; a failure to train is told there and on stderr. */
static dlb_ending ending_of(int status, const dlb_error *err, double wall_s)
{
    if (status == 0)
        return (dlb_ending){"ok", "", wall_s};
    return (dlb_ending){status == DLB_DIVERGED ? "diverged" : "failed", err->message, wall_s};
}

static int train(const train_options *o, dlb_session *session, dlb_display *display, double start)
{
    dlb_error train_err, write_err;
    if (check_files(o, session, &write_err) < 0)
        return dlb_cli_fail("dlbench train", &write_err);
    if (!o->quiet)
        dlb_report_start(stdout, session);
    int trained = train_epochs(session, display, &train_err);
    dlb_ending ending = ending_of(trained, &train_err, dlb_clock_s() - start);
    if (!o->quiet)
        dlb_report_end(stdout, session, &ending);
    int written = write_files(o, session, &ending, &write_err);
    if (trained < 0)
        dlb_cli_fail("dlbench train", &train_err);
    if (written < 0)
        return dlb_cli_fail("dlbench train", &write_err);
    return trained < 0 ? DLB_EXIT_SHORT : DLB_EXIT_OK;
}

static int run(train_options *o)
{
    double start = dlb_clock_s();
    dlb_error err;
    dlb_display display;
    dlb_display_init(&display, stdout, o->quiet, (int)o->workload.epochs);
    dlb_session_hooks hooks = {.on_step = show_step,
                               .on_evaluate = show_evaluation,
                               .arg = &display,
                               .trace = o->trace != NULL};
    dlb_session *session;
    catch_signals();
    if (dlb_session_create(&session, &o->workload, &hooks, &err) < 0)
        return dlb_cli_fail("dlbench train", &err);
    int status = train(o, session, &display, start);
    dlb_session_free(session);
    return status;
}

int cmd_train(int argc, char **argv)
{
    train_options o = {0};
    dlb_workload_init(&o.workload);
    const dlb_flag flags[] = {
        {"csv", "append one row to this file, in the columns of runs.csv", "FILE", &o.csv, NULL},
        {"result", "write the whole result to this file, as JSON", "FILE", &o.result, NULL},
        {"trace", "write what ran when to this file, as a Chrome trace", "FILE", &o.trace, NULL},
        {"quiet", "print nothing but errors", NULL, NULL, &o.quiet},
    };
    const dlb_command command = {
        .name = "dlbench train",
        .about = "Train a model once, with live progress. Ctrl-C ends after the step.",
        .operands = "",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags,
        .workload = &o.workload};
    dlb_arguments arguments;
    int status;
    if (dlb_cli_begin(&command, argc, argv, &arguments, &status))
        status = run(&o);
    dlb_workload_release(&o.workload);
    return status;
}
