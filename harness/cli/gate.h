/*
 * Kernels of two programs side by side on one core: which of them have become slower.
 *
 * In every round three processes are started anew, one of the program before and one of that
 * after a change, and a second one of the program before as a control, and each kernel is timed in
 * turn (cli/gate_turns.h); who is first, second and third changes from round to round. So every
 * round has its own placement of memory, too.
 *
 * A kernel that seems to have changed is measured again, in as many new rounds (stats/judgement.h).
 */
#ifndef DLB_CLI_GATE_H
#define DLB_CLI_GATE_H

#include <stdbool.h>

#include "base/str.h"
#include "cli/bench_progress.h"
#include "cli/gate_roofs.h"
#include "cli/gate_turns.h"
#include "record/baseline.h"
#include "stats/judgement.h"

typedef enum dlb_gate_side {
    DLB_GATE_BEFORE,
    DLB_GATE_AFTER,
    DLB_GATE_CONTROL,
    DLB_GATE_SIDES,
} dlb_gate_side;

typedef struct dlb_gate_options {
    const char *before, *after;       /* paths of programs; no `before` in a gate by references */
    bool by_reference;                /* measure `after` beside references (cli/gate_past.h) */
    const dlb_baseline *baseline;     /* judge it by this; NULL: only measure */
    const char *const *models;        /* whose kernels; ended by NULL */
    const char *kernels, *isa, *data; /* as for bench serve; NULL: the default */
    const char *only;                 /* names that contain one of these, separated by commas */
    double slowdown;                  /* what `after` is slowed down by, to test the gate */
    double noise;                     /* what all are slowed down by at most, by chance */
    size_t rounds;                    /* at least, and what the rule needs; 0: the usual */
    dlb_judgement_rule rule;          /* but for `kernels`, which are counted */
    dlb_bench_progress *progress;
} dlb_gate_options;

typedef struct dlb_gate_case {
    const char *model;
    char *name;
    dlb_reference reference; /* in a gate by references: what it is timed beside */
    /* Of each round of the last series; NaN: missing. */
    double *seconds[DLB_GATE_SIDES];       /* of a call */
    double *change, *control;              /* logarithms of ratios to `before` */
    size_t slices, disturbed;              /* of all series */
    double instructions[DLB_GATE_CONTROL]; /* of a call, before and after; NaN: not counted */
    bool chosen;                           /* for the series under way */
    bool repeated;
    dlb_judgement verdict;
} dlb_gate_case;

/* A slice, and where it belongs. */
typedef struct dlb_gate_slice {
    int series; /* 1; 2: the repetition */
    size_t round, kernel;
    dlb_turn_slice turn;
} dlb_gate_slice;

/* How references stand to each other where a model is measured, in each round. */
typedef struct dlb_gate_machine {
    const char *model;
    double *arithmetic; /* log(sgemm / peak), in seconds of a call */
    double *memory;     /* log(triad / sgemm) */
} dlb_gate_machine;

/* Valid when zeroed but for the options. */
typedef struct dlb_gate {
    dlb_gate_options options;
    size_t rounds;
    size_t count, capacity;
    dlb_gate_case *cases;
    size_t left_out;        /* cases that only one of the programs has */
    const char *unheard_of; /* a model whose cases are wanted, and of which the baseline has none */
    size_t slice_count, slice_capacity;
    dlb_gate_slice *slices;
    size_t measured; /* cases in rounds of the series under way */
    size_t machine_count;
    dlb_gate_machine *machines; /* in a gate by references, as is `roofs` */
    dlb_roofs roofs;            /* as the survey found them */
    dlb_str witness; /* who counted instructions, and why some are missing; empty: nobody did */
} dlb_gate;

/* 2 %, ten nanoseconds, and no more than one check in twenty with an interval that misses. */
dlb_judgement_rule dlb_gate_usual_rule(void);

/*
 * Make this process one that measures: Ctrl-C is a wish to stop, and a program that has ended is
 * found out by reading.
 */
void dlb_gate_settle(void);

/* Find out what both programs serve: `cases` and `rounds` are known afterwards. */
int dlb_gate_survey(dlb_gate *gate, dlb_error *err);

/* Measure and judge all cases of the survey. */
int dlb_gate_run(dlb_gate *gate, dlb_error *err);

/* Measure them once, and judge nothing. */
int dlb_gate_measure(dlb_gate *gate, dlb_error *err);

void dlb_gate_release(dlb_gate *gate);

/* Whether it has cases of a model. */
bool dlb_gate_has_model(const dlb_gate *gate, const char *model);

/* How many cases have that verdict. */
size_t dlb_gate_count(const dlb_gate *gate, dlb_judgement_kind kind);

/* Whether more than so many cases are slower, or one of them is a whole training step. */
bool dlb_gate_alarms(const dlb_gate *gate, size_t allowed);

const char *dlb_gate_side_name(dlb_gate_side side);

/* The words that start the program of a side, but for the instruction set. */
void dlb_gate_add_request(const dlb_gate_options *options, dlb_gate_side side, const char *model,
                          dlb_gate_words *words);

#endif
