/*
 * Everything that can be timed, beside what the machine can do: for each model, family of kernels
 * and instruction set a process serves its cases (cli/bench_serve.h), and each case is timed in
 * turn with a reference of the same process, in the order A B B A: sgemm where arithmetic bounds
 * it, the triad where memory does, by its FLOPs a byte and the roofs measured in the same run.
 *
 * A round has new processes, because where their memory lies makes a difference of its own. So
 * the rounds are what intervals are made of; the slices are kept besides.
 *
 * Life: options → survey → run → results → release.
 */
#ifndef DLB_CLI_BENCH_SUITE_H
#define DLB_CLI_BENCH_SUITE_H

#include "base/str.h"
#include "cli/bench_progress.h"
#include "cli/bench_suite_comm.h"
#include "cli/gate_roofs.h"
#include "cli/gate_turns.h"
#include "stats/interval.h"

/* Processes of one kind: a model with a family of kernels and an instruction set. */
typedef struct dlb_suite_kind {
    const char *model, *kernels, *isa;
    dlb_roofs *roofs; /* of the machine with these, in each round */
} dlb_suite_kind;

typedef struct dlb_suite_case {
    size_t kind;
    char *name;
    dlb_gate_about about;
    dlb_reference reference; /* that it is timed beside */
    double *seconds;         /* of a call, in each round; NaN: missing */
    double *ratio;           /* its rate by the reference's, likewise */
    double error, bound;     /* of its results; NaN: not verified */
    size_t slices, disturbed;
} dlb_suite_case;

/* A slice, and where it belongs. */
typedef struct dlb_suite_slice {
    size_t round, subject; /* the case */
    double at_s;           /* since the beginning */
    dlb_turn_slice turn;   /* side 0: the case, 1: its reference */
} dlb_suite_slice;

typedef struct dlb_suite_options {
    const char *program;              /* that serves everything */
    const char *named_program;        /* the same as its user calls it; NULL: it is this one */
    const char *const *models;        /* ended by NULL */
    const char *layers;               /* instead of a model, named like this; NULL: none */
    const char *kernels, *isa;        /* only these; NULL: all that this machine has */
    const char *batch, *data, *steps; /* as for bench serve; NULL: the default */
    const char *only;                 /* names that contain one of these, separated by commas */
    int threads, rounds;
    double budget_s; /* for measuring, all rounds together */
    bool verify;
    bool comm; /* measure the exchange between ranks, too */
    dlb_bench_progress *progress;
} dlb_suite_options;

/* Valid when zeroed but for the options. */
typedef struct dlb_suite {
    dlb_suite_options options;
    size_t kind_count, kind_capacity;
    dlb_suite_kind *kinds;
    size_t count, capacity;
    dlb_suite_case *cases;
    size_t slice_count, slice_capacity;
    dlb_suite_slice *slices;
    dlb_suite_comm comm;
    dlb_str comm_missing; /* why there is none */
    double start_s;
    size_t measured; /* cases in rounds, so far */
} dlb_suite;

/* Find out what there is; with `verify`, also whether it is right. */
int dlb_suite_survey(dlb_suite *suite, dlb_error *err);

/* Measure all cases of the survey. */
int dlb_suite_run(dlb_suite *suite, dlb_error *err);

void dlb_suite_release(dlb_suite *suite);

/* ---- Results ---- */

/* Whether any case of that kind was asked for. */
bool dlb_suite_has_cases(const dlb_suite *suite, size_t kind);

/* Whether memory bounds the case: then its rate counts bytes, else FLOPs. */
bool dlb_suite_is_memory_bound(const dlb_suite_case *c);

/* FLOPs, or bytes, of a call. */
double dlb_suite_work(const dlb_suite_case *c);

/* The roof that bounds it, in GFLOP/s or GB/s: the median over the rounds. */
double dlb_suite_roof(const dlb_suite *suite, const dlb_suite_case *c);

/* GFLOP/s, or of the triad GB/s: the median over the rounds. */
double dlb_suite_rate(const dlb_suite *suite, const dlb_suite_kind *kind, dlb_reference which);

/* "sgemm 512³" or "triad": what a case is timed beside. */
const char *dlb_suite_beside(const dlb_suite *suite, const dlb_suite_case *c);

/* Whether its results are farther from those of `ref` than they may be. */
bool dlb_suite_is_wrong(const dlb_suite_case *c);

/* The command that verifies this case alone. */
void dlb_suite_add_reproduction(const dlb_suite *suite, const dlb_suite_case *c, dlb_str *text);

#endif
