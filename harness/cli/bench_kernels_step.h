/*
 * A training step taken apart: its operations with the buffers of a real training, each of which
 * can be run alone, on the calling thread or its team, as often as one likes.
 *
 * Life: init → seal → take … → run, operations … → release.
 */
#ifndef DLB_CLI_BENCH_KERNELS_STEP_H
#define DLB_CLI_BENCH_KERNELS_STEP_H

#include "data/loader.h"
#include "graph/node.h"

typedef struct dlb_bench_step {
    const dlk_kernels *kernels;
    bool pixels; /* it takes images as bytes */
    dlb_graph *graph;
    float *gradients;
    dlb_copies copies; /* none: all threads read the parameters */
    int op_count;
    dlb_op *ops; /* in the order of a step */
    dlk_team alone;
    dlk_team *team; /* that runs operations: `alone`, or one that was given */
    float *scratch, *shared;
    dlb_step batch;
    dlk_softmax_result result;
    bool spoilt; /* some of its operations have left buffers that are no step's */
} dlb_bench_step;

/* Model and kernels must outlive it. `batch`: images of a step. Release after an error, too. */
int dlb_bench_step_init(dlb_bench_step *step, const dlb_model *model, const dlk_kernels *kernels,
                        int batch, dlb_error *err);
void dlb_bench_step_release(dlb_bench_step *step);

/* The parameters: dlb_graph_size(step->graph) floats, which several steps may share. */
void dlb_bench_step_seal(dlb_bench_step *step, float *parameters);

/* The batch of what is run from now on, with the set and the loader that it comes from. */
void dlb_bench_step_take(dlb_bench_step *step, const dlb_batch *batch, const dlb_dataset *set,
                         const dlb_loader *loader);

/* The whole step: buffers are as in training afterwards. */
void dlb_bench_step_run(dlb_bench_step *step);

/* ---- Some of its operations ---- */

typedef struct dlb_bench_ops {
    dlb_bench_step *step;
    int count;
    size_t capacity;
    const dlb_op **list;
} dlb_bench_ops;

/* Whether the operation is one of a layer that is computed by itself. */
bool dlb_bench_op_is_of(const dlb_op *op, const dlb_layer *layer);

/* `op`: one of its step's. */
void dlb_bench_ops_add(dlb_bench_ops *ops, const dlb_op *op);

/* Always before they are run: make the step as in training again if others have spoilt it. */
void dlb_bench_ops_prepare(void *ops);

/* Run them all, in their order. */
void dlb_bench_ops_run(void *ops);

/* The node of a layer, in a step whose kernels fuse nothing. */
const dlb_node *dlb_bench_step_node(const dlb_bench_step *step, const dlb_layer *layer);

#endif
