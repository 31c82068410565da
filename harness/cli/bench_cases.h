/*
 * Everything about a model that can be timed, under one roof: kernels of a training step, the whole
 * step, the input pipeline, and the references beside which they are timed. On one thread, or on a
 * team of several.
 *
 * Life: init → ask (of `training`) → start → run … → release.
 */
#ifndef DLB_CLI_BENCH_CASES_H
#define DLB_CLI_BENCH_CASES_H

#include "cli/bench_input.h"
#include "cli/bench_kernels_training.h"
#include "graph/pool.h"

/* Whoever is named first is more of a kernel: what the plan uses, what it could use, what only
 * evaluates; then all of a step, and what surrounds it. */
typedef enum dlb_case_role {
    DLB_CASE_KERNEL,
    DLB_CASE_OTHER,
    DLB_CASE_EVALUATION,
    DLB_CASE_STEP,
    DLB_CASE_INPUT,
    DLB_CASE_REFERENCE,
    DLB_CASE_ROLES,
} dlb_case_role;

const char *dlb_case_role_name(dlb_case_role role);

typedef struct dlb_bench_case {
    char name[160];
    const char *kernel;
    dlb_case_role role;
    int images;    /* of a call */
    dlk_cost cost; /* of a call; NaN: not known */
    dlb_kernel_call call;
    const dlb_kernel_row *row; /* NULL: it is no row of the plan */
} dlb_bench_case;

typedef struct dlb_bench_cases {
    dlb_kernel_training training;
    dlb_bench_input *input;
    dlb_references *references;
    dlb_pool *pool; /* NULL: one thread */
    size_t count, capacity;
    dlb_bench_case *list; /* references last */
} dlb_bench_cases;

typedef struct dlb_bench_cases_options {
    int threads;
    long long steps; /* of training before */
    bool others;     /* kernels that the plan does not use, too */
} dlb_bench_cases_options;

void dlb_bench_cases_init(dlb_bench_cases *cases);
int dlb_bench_cases_start(dlb_bench_cases *cases, const dlb_bench_cases_options *options,
                          dlb_error *err);
void dlb_bench_cases_release(dlb_bench_cases *cases);

/* What is done with all threads of the team ready: `fn` calls what it likes of the list. */
typedef void dlb_bench_lead_fn(void *arg);
void dlb_bench_cases_lead(dlb_bench_cases *cases, dlb_bench_lead_fn *fn, void *arg);

#endif
