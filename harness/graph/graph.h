/*
 * A model made ready to run: buffers planned once, operations in two programs (training and
 * evaluation), parameters and gradients each in one flat array.
 *
 * Life: create → add_update … → seal → train / evaluate … → free. Nothing is allocated after seal.
 */
#ifndef DLB_GRAPH_GRAPH_H
#define DLB_GRAPH_GRAPH_H

#include <stdint.h>

#include "dlk/dispatch.h"
#include "graph/model.h"
#include "graph/program.h"

typedef struct dlb_graph dlb_graph;

/* The parameters of one layer: weights, then biases, at `offset` of the flat arrays. */
typedef struct dlb_block {
    const dlb_layer *layer;
    size_t offset;
    int weights, biases;
    int fan_in, fan_out;
    int parameter_buffer, gradient_buffer; /* to be named as operands of an operation */
} dlb_block;

/* A batch and the place of its step, from which dropout masks follow. */
typedef struct dlb_step {
    int n;
    const float *x;        /* [n][h][w][c] */
    const uint8_t *labels; /* [n] */
    uint32_t seed, epoch, step, worker;
} dlb_step;

/*
 * The model must outlive the graph. Kernels are copied. `batch` is the largest n of a step. Buffers
 * of more than memory_limit bytes in all are refused before any is allocated; 0: no limit.
 */
int dlb_graph_create(dlb_graph **graph, const dlb_model *model, int batch,
                     const dlk_kernels *kernels, size_t memory_limit, dlb_error *err);
void dlb_graph_free(dlb_graph *graph);

/* Scratch that a thread of the pool needs. */
size_t dlb_graph_scratch_floats(const dlb_graph *graph);

size_t dlb_graph_size(const dlb_graph *graph); /* of the flat arrays, padding included */
float *dlb_graph_parameters(dlb_graph *graph);
float *dlb_graph_gradients(dlb_graph *graph); /* means over the batch */
int dlb_graph_block_count(const dlb_graph *graph);
const dlb_block *dlb_graph_block(const dlb_graph *graph, int index);

/* Append an operation to the training program, such as the update of a block. */
void dlb_graph_add_update(dlb_graph *graph, const dlb_op *op);
void dlb_graph_seal(dlb_graph *graph);

/* One step: forward, backward, and the operations added. */
dlk_softmax_result dlb_graph_train(dlb_graph *graph, dlb_pool *pool, const dlb_step *step,
                                   dlb_trace *trace);

/* Forward only, without dropout. */
dlk_softmax_result dlb_graph_evaluate(dlb_graph *graph, dlb_pool *pool, const dlb_step *step,
                                      dlb_trace *trace);

/* Seconds of the pool spent in a phase of training since the last call for it. */
double dlb_graph_take_busy_s(dlb_graph *graph, dlb_phase phase);

#endif
