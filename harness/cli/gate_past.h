/*
 * A gate against another time: kernels of one program, each beside a reference in a process of its
 * own, and what a baseline (record/baseline.h) says of the same. In such a gate the side `before`
 * is the reference; `control` is a second process of the program.
 */
#ifndef DLB_CLI_GATE_PAST_H
#define DLB_CLI_GATE_PAST_H

#include "cli/gate.h"

/*
 * Choose what each case of a model is timed beside: what it was in the baseline, if there is one,
 * else by the roofs. Cases that the baseline does not have are left out, and counted.
 */
int dlb_gate_choose_references(dlb_gate *gate, const char *model, dlb_gate_program *programs,
                               dlb_error *err);

/* After the survey: whether the baseline is no help for a model or for this many kernels; and what
 * it lacks, for people. */
bool dlb_gate_past_lacks(const dlb_gate *gate, dlb_str *what);

/* Before the cases of a model are measured: how the references stand to each other in this round.
 */
int dlb_gate_measure_roofs(dlb_gate *gate, const char *model, size_t round,
                           dlb_gate_program *program, dlb_error *err);

dlb_judgement dlb_gate_judge_past(const dlb_gate *gate, const dlb_gate_case *c);

/* The ratio to the reference then, and now; NaN: missing. */
double dlb_gate_past_ratio(const dlb_gate *gate, const dlb_gate_case *c);
double dlb_gate_present_ratio(const dlb_gate *gate, const dlb_gate_case *c);

/* Add what was measured in as many rounds as its interval needs to a baseline: so many cases. */
size_t dlb_gate_add_to_baseline(const dlb_gate *gate, dlb_baseline *baseline);

/* For every model of the options; and free it. */
void dlb_gate_make_machines(dlb_gate *gate);
void dlb_gate_free_machines(dlb_gate *gate);

#endif
