/* The references of a process (cli/bench_references.h), and the roofs that they tell of. */
#ifndef DLB_CLI_GATE_ROOFS_H
#define DLB_CLI_GATE_ROOFS_H

#include <stdbool.h>

#include "cli/bench_references.h"
#include "cli/gate_program.h"

typedef struct dlb_roofs {
    char names[DLB_REFERENCES][32];
    dlb_gate_about about[DLB_REFERENCES];
    double seconds[DLB_REFERENCES]; /* of a call; NaN: missing */
} dlb_roofs;

/* Ask the process for them and time all three in turn, ~20 ms; more often while others disturb it.
 */
int dlb_roofs_measure(dlb_roofs *roofs, dlb_gate_program *program, dlb_error *err);
bool dlb_roofs_are_known(const dlb_roofs *roofs);

/* The same for who needs all of them: an error if one is missing. */
int dlb_roofs_survey(dlb_roofs *roofs, dlb_gate_program *program, dlb_error *err);

/* The number of a reference in a process that has it. */
int dlb_roofs_number(const dlb_gate_program *program, dlb_reference which);

/* GFLOP/s, or of the triad GB/s. */
double dlb_roofs_rate(const dlb_roofs *roofs, dlb_reference which);

/*
 * What a case is to be timed beside: sgemm where arithmetic bounds it, else the triad. Its FLOPs a
 * byte decide, and where the roofs meet.
 */
dlb_reference dlb_roofs_beside(const dlb_roofs *roofs, const dlb_gate_about *about);

#endif
