/* `dlbench train --ranks 4` starts itself under a launcher (cli/relaunch.h). */
#ifndef DLB_CLI_TRAIN_LAUNCH_H
#define DLB_CLI_TRAIN_LAUNCH_H

#include <stdbool.h>

#include "config/workload.h"

/* Whether to: more than one rank is asked for, and no launcher has started this process. */
bool dlb_train_launches(const dlb_workload *workload);

/*
 * Start argv, which is "train" and its flags, as ranks, and wait for their end. Where the workload
 * leaves the number of threads open, it is settled here for all. Returns the ranks' exit status,
 * or that of an error, which was told.
 */
int dlb_train_launch(const dlb_workload *workload, int argc, char **argv);

#endif
