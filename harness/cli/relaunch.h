/*
 * This program, started again by itself: as the ranks of a run, under a launcher.
 *
 * The ranks find in their environment:
 *     DLBENCH_LAUNCHED=1           they are not to do so again
 *     DLBENCH_TERMINAL=COLUMNS     what our standard output is capable of (cli/terminal.h)
 * and what of ours this program and the libraries that it computes with heed.
 */
#ifndef DLB_CLI_RELAUNCH_H
#define DLB_CLI_RELAUNCH_H

#include <limits.h>

#include "launch/launch.h"

/* The path of this program. */
int dlb_relaunch_path(char path[PATH_MAX], dlb_error *err);

/* Whether this process was started by a launcher, ours or the user's. */
bool dlb_relaunch_is_done(void);

/* Give each variable ("NAME=value") of ours that is heeded so; on other nodes it must be named. */
void dlb_relaunch_inherited(void (*give)(void *arg, const char *variable), void *arg);

/*
 * Start ranks of this program and wait for their end, as dlb_launch_run. launch->program is what
 * follows the program's own path; launch->environment is left to us.
 */
int dlb_relaunch_run(const dlb_launch *launch, const dlb_launch_machine *machine,
                     dlb_launch_end *end, dlb_error *err);

/*
 * The same for a command that has nothing else to do: what people need to know of it is told in the
 * name of `command`. Returns the exit status of the program.
 */
int dlb_relaunch(const char *command, const dlb_launch *launch, const dlb_launch_machine *machine);

#endif
