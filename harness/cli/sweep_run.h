/* One run of a sweep, from its command to its result. */
#ifndef DLB_CLI_SWEEP_RUN_H
#define DLB_CLI_SWEEP_RUN_H

#include "cli/sweep_command.h"
#include "cli/sweep_display.h"
#include "record/result.h"
#include "record/store.h"

typedef struct dlb_sweep_runner {
    const dlb_sweep_scene *scene;
    const dlb_store *store; /* whose folder gets logs and the run's own files */
    dlb_sweep_display *display;
} dlb_sweep_runner;

/*
 * Make the folders that runs need, wait until nothing is left of a sweep that was killed here, and
 * remove results that it has not taken in: one that comes late is not taken for ours, since every
 * attempt has a file of its own.
 */
int dlb_sweep_runner_prepare(const dlb_sweep_runner *runner, dlb_error *err);

/*
 * Run a repeat of a point and make *result, which holds nothing yet: whatever became of the run is
 * a result. One that was suspended for a while begins again. DLB_STOPPED if a signal asked us to
 * stop: what it did until then does not count.
 * Another error means that runs cannot be recorded here; nothing is then to be released.
 */
int dlb_sweep_perform(const dlb_sweep_runner *runner, size_t point, int repeat, dlb_result *result,
                      dlb_error *err);

#endif
