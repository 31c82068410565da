/*
 * Ctrl-C and its like ask the work to end soon, with what was reached.
 *
 * SIGUSR1 is one of them: launchers hand it on to their ranks where they answer a SIGTERM by
 * killing them, and batch systems send it before a job's time is over (sbatch --signal=USR1@60).
 *
 * A second signal within a second changes nothing: `timeout` and batch systems send theirs to the
 * process and to its group. A later one ends the process at once.
 */
#ifndef DLB_CLI_STOP_H
#define DLB_CLI_STOP_H

#include <stdbool.h>

/* From now on catch SIGINT, SIGTERM, SIGUSR1 and, unless it is ignored as under nohup, SIGHUP. */
void dlb_stop_catch(void);

/* Whether a signal came. */
bool dlb_stop_asked(void);

#endif
