/*
 * What `bench comm` compares: ways to sum the floats of all ranks, or to go on to the update of
 * parameters with the sum, as at the end of a training step. Each checks its results.
 *
 * Before a measurement every float of rank r is set to r + 1, as a backward pass writes gradients
 * before they are exchanged.
 */
#ifndef DLB_CLI_BENCH_WAYS_H
#define DLB_CLI_BENCH_WAYS_H

#include "cli/bench_rounds.h"
#include "comm/exchange.h"
#include "train/optimizer.h"

/* What the ways of a comparison have in common. */
typedef struct dlb_bench_task {
    dlb_comm *comm;
    size_t count;                 /* floats */
    const dlk_kernels *kernels;   /* NULL: sum only */
    const dlb_workload *workload; /* its optimizer updates; its comm_radix counts */
} dlb_bench_task;

/* ---- Our own exchange, in buckets ---- */

typedef struct dlb_bench_exchange dlb_bench_exchange;

/* Collective. `bucket`: floats of a bucket. */
int dlb_bench_exchange_create(dlb_bench_exchange **exchange, const dlb_bench_task *task,
                              dlb_exchange_kind kind, size_t bucket, dlb_error *err);
void dlb_bench_exchange_free(dlb_bench_exchange *exchange); /* collective, as dlb_exchange_free */

/* The floats that are summed, and updated, at a time: several ways may share an exchange. */
typedef struct dlb_bench_pieces {
    dlb_bench_exchange *exchange; /* NULL: it cannot be had */
    size_t piece;
} dlb_bench_pieces;

/* `pieces` must outlive the way. The sum, or what is updated, ends as everyone's parameters. */
dlb_bench_way dlb_bench_exchange_way(const char *name, dlb_bench_pieces *pieces);

/* ---- MPI_Allreduce, then the update of everything on every rank ---- */

typedef struct dlb_bench_allreduce dlb_bench_allreduce;

int dlb_bench_allreduce_create(dlb_bench_allreduce **allreduce, const dlb_bench_task *task,
                               dlb_error *err);
void dlb_bench_allreduce_free(dlb_bench_allreduce *allreduce);

dlb_bench_way dlb_bench_allreduce_way(const char *name, dlb_bench_allreduce *allreduce);

/* ---- A copy of as many floats by every rank: what memory alone takes ---- */

typedef struct dlb_bench_copy dlb_bench_copy;

int dlb_bench_copy_create(dlb_bench_copy **copy, const dlb_bench_task *task, dlb_error *err);
void dlb_bench_copy_free(dlb_bench_copy *copy);

dlb_bench_way dlb_bench_copy_way(const char *name, dlb_bench_copy *copy);

#endif
