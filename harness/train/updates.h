/*
 * From the final gradients of this rank's workers to new parameters on all ranks, as operations of
 * the graph's programs.
 *
 * A group of buckets (train/buckets.h) is started as soon as the gradients of its layers are
 * final, while the backward pass goes on; when the sums are here, each rank updates its slices
 * (train/slice.h) and shares them.
 * Messages are moved along, and buckets that have arrived are updated, between the tasks of the
 * operations that follow (dlb_updates_between); what is left is done at the end of the step, the
 * layers that the next step begins with first.
 *
 * The slices of other ranks are waited for where the next step uses them, layer by layer: a rank
 * that is a little ahead goes on, and what comes as messages comes while it computes. So between
 * two steps parameters may not be whole yet; dlb_updates_settle makes them so.
 *
 * Optimizers with norms need all sums first: their buckets are updated together.
 */
#ifndef DLB_TRAIN_UPDATES_H
#define DLB_TRAIN_UPDATES_H

#include "comm/exchange.h"
#include "train/accumulate.h"
#include "train/buckets.h"
#include "train/optimizer.h"

typedef struct dlb_updates dlb_updates;

/* All must outlive it. */
typedef struct dlb_updates_options {
    dlb_graph *graph;
    dlb_comm *comm;
    dlb_exchange *exchange;
    const dlb_buckets *buckets;
    dlb_accumulator *accumulator;
    int workers;              /* of this rank */
    dlb_optimizer *optimizer; /* with a state of dlb_updates_slices floats */
    bool norms;               /* which it needs */
    size_t piece;             /* floats that are summed and updated at a time, at most */
    int threads;              /* of the pool */
} dlb_updates_options;

/* Seconds of the pool, since the last take. */
typedef struct dlb_updates_times {
    double comm_s;    /* from a step's first start to its end, and waiting for its parameters */
    double exposed_s; /* summing, moving messages, or waiting for them when all ranks had come */
    double wait_s;    /* waiting for ranks that had not come */
    double within_s;  /* of the last two: within the operations that were added */
    /* All that was done between the tasks of other operations, and of it updates. */
    double forward_between_s, backward_between_s, between_update_s;
} dlb_updates_times;

/* Floats of the slices that this rank updates. */
size_t dlb_updates_slices(dlb_exchange *exchange, const dlb_buckets *buckets);

dlb_updates *dlb_updates_create(const dlb_updates_options *options);
void dlb_updates_free(dlb_updates *updates);

/* Adds its operations while the graph's programs are written; `updates` is a dlb_updates. */
void dlb_updates_add(void *updates, dlb_program *program, dlb_graph_place place,
                     const dlb_block *block, bool ends_step);

/* For the pool: a dlk_between_fn. */
void dlb_updates_between(void *updates);

/* What this rank tells the others in a step. */
typedef struct dlb_own_step {
    const dlk_softmax_result *results; /* one a worker of this rank; read when all are final */
    bool stop;                         /* this rank was asked to stop */
} dlb_own_step;

/*
 * A step: begin → (the programs of all workers of this rank) → end, which returns what every rank
 * told, one arrival a rank.
 */
void dlb_updates_begin_step(dlb_updates *updates, double lr, const dlb_own_step *mine);
int dlb_updates_end_step(dlb_updates *updates, const dlb_arrival **everyones, dlb_error *err);

/* Between steps: wait until the parameters are whole, if they are not. */
int dlb_updates_settle(dlb_updates *updates, dlb_error *err);

dlb_updates_times dlb_updates_take_times(dlb_updates *updates);

/*
 * The optimizer's state number `index` as a flat array like the parameters: collected from all
 * ranks (collective), or spread from a whole one, each rank keeping its slices.
 */
int dlb_updates_collect_state(dlb_updates *updates, int index, float *whole, dlb_error *err);
void dlb_updates_spread_state(dlb_updates *updates, int index, const float *whole);

#endif
