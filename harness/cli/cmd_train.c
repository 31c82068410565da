#include "base/clock.h"
#include "base/file.h"
#include "cli/cmd.h"
#include "cli/progress.h"
#include "cli/stop.h"
#include "cli/text.h"
#include "cli/train_files.h"
#include "cli/train_launch.h"
#include "cli/train_report.h"
#include "cli/watchdog.h"

static const char name[] = "dlbench train";

typedef struct train_options {
    dlb_workload workload;
    dlb_train_files files;
    bool quiet;
} train_options;

/* A training under way, on one of its ranks. */
typedef struct run {
    const train_options *options;
    double start; /* dlb_clock_s */
    dlb_session *session;
    bool speaks; /* the rank that prints and writes */
    bool saves;  /* a checkpoint is asked for, on all ranks or none */
    dlb_display display;
    dlb_progress reached; /* by training */
} run;

static int on_step(void *arg, const dlb_progress *progress)
{
    run *r = arg;
    r->reached = *progress;
    dlb_watchdog_pat();
    dlb_display_step(&r->display, progress);
    return dlb_stop_asked();
}

static int on_evaluate(void *arg, const dlb_progress *progress)
{
    run *r = arg;
    dlb_watchdog_pat();
    dlb_display_evaluation(&r->display, progress);
    return dlb_stop_asked();
}

/* The columns are for whole epochs; what one that was cut short had come to is said in words. */
static void tell_reached(const dlb_progress *reached, dlb_error *err)
{
    dlb_error stopped = *err;
    if (reached->epoch == 0) /* nothing trained yet, as when going on from a checkpoint */
        return;
    dlb_fail(err, stopped.code, "%s; %s images of epoch %d: loss %.4f, accuracy %.4f",
             stopped.message, dlb_text_count((double)reached->images).text, reached->epoch,
             reached->train.loss, reached->train.accuracy);
}

/* ---- Before training ---- */

/* Only the rank that writes can tell whether it could; all hear of it. */
static int check_files(const run *r, dlb_error *err)
{
    int status = r->speaks ? dlb_train_files_check(&r->options->files, r->session, err) : 0;
    return dlb_comm_agree(dlb_session_comm(r->session), status, err);
}

/* Only the rank that writes needs to know of a checkpoint, and decides for all. */
static int resume(run *r, dlb_error *err)
{
    const char *path = r->options->files.checkpoint;
    bool known[] = {path, path && r->speaks && dlb_file_exists(path)};
    int status = dlb_comm_broadcast(dlb_session_comm(r->session), known, sizeof known, err);
    r->saves = known[0];
    return status == 0 && known[1] ? dlb_session_resume(r->session, path, err) : status;
}

/* ---- Training ---- */

static int save(const run *r, dlb_error *err)
{
    return r->saves ? dlb_session_checkpoint(r->session, r->options->files.checkpoint, err) : 0;
}

/* A stop is when a checkpoint is most wanted; its own failure is then told, too. */
static void save_stopped(const run *r, dlb_error *stopped)
{
    dlb_error err, before = *stopped;
    if (save(r, &err) < 0)
        dlb_fail(stopped, DLB_FAIL, "%.400s; and no checkpoint could be written: %.400s",
                 before.message, err.message);
}

static int train_epochs(run *r, dlb_error *err)
{
    int status = 0;
    while (status == 0 && !dlb_session_finished(r->session)) {
        dlb_epoch epoch;
        status = dlb_session_epoch(r->session, &epoch, err);
        if (status == 0) {
            dlb_display_epoch(&r->display, &epoch);
            status = save(r, err);
        }
    }
    if (status < 0)
        dlb_display_break(&r->display);
    if (status == DLB_STOPPED) {
        tell_reached(&r->reached, err);
        save_stopped(r, err);
    }
    return status;
}

/* ---- After it ---- */

/* How the run ended, for the record. */
static dlb_ending ending_of(int status, const dlb_error *err, double wall_s)
{
    if (status == 0)
        return (dlb_ending){"ok", "", wall_s};
    return (dlb_ending){status == DLB_DIVERGED ? "diverged" : "failed", err->message, wall_s};
}

static int write_result(const run *r, const dlb_rank_reports *reports, const dlb_ending *ending)
{
    dlb_result result;
    dlb_train_record(&result, r->session, reports, ending);
    int status = dlb_train_files_write(&r->options->files, name, &result, reports);
    if (!r->options->quiet)
        dlb_report_end(stdout, r->session, reports, ending, &result);
    dlb_result_release(&result);
    return status;
}

/*
 * Every rank has come to the end: one of them writes the result of all. *written: all files were;
 * of those that were not it is told.
 */
static int conclude(const run *r, int trained, bool *written, dlb_error *err)
{
    dlb_rank_reports reports;
    dlb_error ended = *err;
    dlb_ending ending = ending_of(trained, &ended, dlb_clock_s() - r->start);
    int status = dlb_session_reports(r->session, &reports, err);
    if (status < 0)
        return status;
    *written = dlb_train_files_trace(&r->options->files, name, r->session) == 0;
    if (r->speaks && write_result(r, &reports, &ending) < 0)
        *written = false;
    dlb_rank_reports_release(&reports);
    return 0;
}

static int fail(const run *r, const dlb_error *err)
{
    return dlb_cli_fail_rank(name, r->session ? dlb_session_comm(r->session) : NULL, err);
}

static int train(run *r)
{
    dlb_error err = {0};
    if (check_files(r, &err) < 0 || resume(r, &err) < 0)
        return fail(r, &err);
    if (r->speaks && !r->options->quiet)
        dlb_report_start(stdout, r->session);
    int trained = train_epochs(r, &err);
    if (trained < 0 && dlb_comm_is_broken(dlb_session_comm(r->session)))
        return fail(r, &err);
    bool written = true;
    int concluded = conclude(r, trained, &written, &err);
    if (trained < 0 || concluded < 0)
        return fail(r, &err);
    return written ? DLB_EXIT_OK : DLB_EXIT_SHORT;
}

static int start(const train_options *o)
{
    run r = {.options = o, .start = dlb_clock_s()};
    dlb_error err;
    dlb_session_hooks hooks = {.on_step = on_step,
                               .on_evaluate = on_evaluate,
                               .arg = &r,
                               .trace = o->files.trace != NULL,
                               .steps = o->files.steps != NULL};
    dlb_stop_catch();
    dlb_watchdog_start(name, (int)o->workload.hang_timeout);
    if (dlb_session_create(&r.session, &o->workload, &hooks, &err) < 0)
        return fail(&r, &err);
    r.speaks = dlb_comm_rank(dlb_session_comm(r.session)) == 0;
    dlb_display_init(&r.display, stdout, o->quiet || !r.speaks, (int)o->workload.epochs);
    int status = train(&r);
    dlb_session_free(r.session);
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
        {"steps", "write one row a rank and step to this file", "FILE", &o.files.steps, NULL},
        {"trace", "write what ran when to this file, as a Chrome trace; rank N to FILE.N", "FILE",
         &o.files.trace, NULL},
        {"checkpoint",
         "go on from this file if it is there; write it after each epoch and when "
         "stopped",
         "FILE", &o.files.checkpoint, NULL},
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
        status =
            dlb_train_launches(&o.workload) ? dlb_train_launch(&o.workload, argc, argv) : start(&o);
    dlb_workload_release(&o.workload);
    return status;
}
