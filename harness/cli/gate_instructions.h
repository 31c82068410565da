/*
 * Instructions as a second witness: how many a call of each kernel executes before and after a
 * change. They tell nothing of caches and pipelines, but do not depend on who else uses the
 * machine.
 *
 * Hardware counters count what is timed. Where there are none, as in most virtual machines,
 * valgrind's callgrind counts: exactly, but with fewer images a call, because it computes fused
 * multiply-adds one by one, and no AVX-512, which it does not know.
 */
#ifndef DLB_CLI_GATE_INSTRUCTIONS_H
#define DLB_CLI_GATE_INSTRUCTIONS_H

#include <limits.h>

#include "cli/gate.h"

/* Who counts on this machine. */
typedef struct dlb_gate_counter {
    char valgrind[PATH_MAX]; /* its path; "": hardware counters */
} dlb_gate_counter;

/* DLB_BAD_INPUT, and what to install, if there is nobody. */
int dlb_gate_counter_find(dlb_gate_counter *counter, dlb_error *err);

/*
 * Count for all cases of the survey: `instructions` of each, and the gate's `witness`. What a
 * program does not serve is missing, with a reason in `witness`, and no error.
 */
int dlb_gate_count_instructions(dlb_gate *gate, const dlb_gate_counter *counter, dlb_error *err);

#endif
