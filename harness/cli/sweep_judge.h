/*
 * What a run came to: success needs evidence.
 *
 * A training is ok if its processes ended with 0, its result file is there, whole and about what
 * was asked for, every rank reported its end after the expected number of steps, and every loss
 * is finite. A foreign program is ok if it ended with 0 and left every metric. All others get a
 * status and a reason, and no times.
 */
#ifndef DLB_CLI_SWEEP_JUDGE_H
#define DLB_CLI_SWEEP_JUDGE_H

#include "cli/sweep_command.h"
#include "measure/noise.h"
#include "record/result.h"

typedef struct dlb_sweep_evidence {
    const dlb_sweep_run *run;
    const dlb_sweep_shape *shape;
    const dlb_launch_end *end;
    const dlb_noise_report *noise; /* while it ran */
    const char *log;               /* path of what it printed */
    const char *const *chatter;    /* what marks lines of its launcher; or NULL */
    double timeout_s;              /* that it was given */
} dlb_sweep_evidence;

/* Make *result, which holds nothing yet, with every parameter of the point. */
void dlb_sweep_judge(const dlb_sweep_scene *scene, const dlb_sweep_evidence *evidence,
                     dlb_result *result);

/* The same of a run that could not be started. */
void dlb_sweep_judge_unstarted(const dlb_sweep_scene *scene, const dlb_sweep_run *run,
                               const dlb_error *why, dlb_result *result);

/* Whether a run of that status counts against the sweep: it failed or timed out. */
bool dlb_sweep_is_bad(const char *status);

/* Refuse metrics whose names are columns that they could not fill. */
int dlb_sweep_check_metrics(const dlb_study *study, dlb_error *err);

/* Give *row, an empty row of runs, the extra columns that the study's runs will have. */
void dlb_sweep_columns(const dlb_sweep_scene *scene, dlb_row *row);

#endif
