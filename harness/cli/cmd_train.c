#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/progress.h"
#include "cli/stop.h"
#include "cli/text.h"
#include "cli/train_files.h"
#include "cli/train_report.h"

static const char name[] = "dlbench train";

typedef struct train_options {
    dlb_workload workload;
    dlb_train_files files;
    bool quiet;
} train_options;

/* What follows the training from step to step. */
typedef struct watch {
    dlb_display display;
    dlb_progress reached; /* by training */
} watch;

static int on_step(void *arg, const dlb_progress *progress)
{
    watch *w = arg;
    w->reached = *progress;
    dlb_display_step(&w->display, progress);
    return dlb_stop_asked();
}

static int on_evaluate(void *arg, const dlb_progress *progress)
{
    watch *w = arg;
    dlb_display_evaluation(&w->display, progress);
    return dlb_stop_asked();
}

/* The columns are for whole epochs; what one that was cut short had come to is said in words. */
static void tell_reached(const dlb_progress *reached, dlb_error *err)
{
    dlb_error stopped = *err;
    dlb_fail(err, stopped.code, "%s; %s images of epoch %d: loss %.4f, accuracy %.4f",
             stopped.message, dlb_text_count((double)reached->images).text, reached->epoch,
             reached->train.loss, reached->train.accuracy);
}

static int train_epochs(dlb_session *session, watch *w, dlb_error *err)
{
    for (int i = 0; i < dlb_session_workload(session)->epochs; i++) {
        dlb_epoch epoch;
        int status = dlb_session_epoch(session, &epoch, err);
        if (status < 0) {
            dlb_display_break(&w->display);
            if (status == DLB_STOPPED)
                tell_reached(&w->reached, err);
            return status;
        }
        dlb_display_epoch(&w->display, &epoch);
    }
    return 0;
}

/* How the run ended, for the record. */
static dlb_ending ending_of(int status, const dlb_error *err, double wall_s)
{
    if (status == 0)
        return (dlb_ending){"ok", "", wall_s};
    return (dlb_ending){status == DLB_DIVERGED ? "diverged" : "failed", err->message, wall_s};
}

static int train(const train_options *o, dlb_session *session, watch *w, double start)
{
    dlb_error err;
    if (dlb_train_files_check(&o->files, session, &err) < 0)
        return dlb_cli_fail(name, &err);
    if (!o->quiet)
        dlb_report_start(stdout, session);
    int trained = train_epochs(session, w, &err);
    dlb_ending ending = ending_of(trained, &err, dlb_clock_s() - start);
    dlb_result result;
    dlb_train_record(&result, session, &ending);
    int written = dlb_train_files_write(&o->files, name, session, &result);
    if (!o->quiet)
        dlb_report_end(stdout, session, &ending, &result.notes);
    dlb_result_release(&result);
    if (trained < 0)
        dlb_cli_fail(name, &err);
    return trained < 0 || written < 0 ? DLB_EXIT_SHORT : DLB_EXIT_OK;
}

static int run(train_options *o)
{
    double start = dlb_clock_s();
    dlb_error err;
    watch w = {0};
    dlb_display_init(&w.display, stdout, o->quiet, (int)o->workload.epochs);
    dlb_session_hooks hooks = {
        .on_step = on_step, .on_evaluate = on_evaluate, .arg = &w, .trace = o->files.trace != NULL};
    dlb_session *session;
    dlb_stop_catch();
    if (dlb_session_create(&session, &o->workload, &hooks, &err) < 0)
        return dlb_cli_fail(name, &err);
    int status = train(o, session, &w, start);
    dlb_session_free(session);
    return status;
}

int cmd_train(int argc, char **argv)
{
    train_options o = {0};
    dlb_workload_init(&o.workload);
    const dlb_flag flags[] = {
        {"csv", "append one row to this file, in the columns of runs.csv", "FILE", &o.files.csv,
         NULL},
        {"result", "write the whole result to this file, as JSON", "FILE", &o.files.result, NULL},
        {"trace", "write what ran when to this file, as a Chrome trace", "FILE", &o.files.trace,
         NULL},
        {"quiet", "print nothing but errors", NULL, NULL, &o.quiet},
    };
    const dlb_command command = {
        .name = name,
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
