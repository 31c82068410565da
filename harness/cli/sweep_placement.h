/* Placement asked for and placement found. */
#ifndef DLB_CLI_SWEEP_PLACEMENT_H
#define DLB_CLI_SWEEP_PLACEMENT_H

#include "cli/sweep_command.h"
#include "record/result.h"

/* Note in the result where ranks did not get the CPUs of their own that they were to get. */
void dlb_sweep_check_placement(dlb_result *result, const dlb_sweep_shape *shape);

#endif
