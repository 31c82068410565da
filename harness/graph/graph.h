/*
 * A model made ready to run: buffers planned once, operations in programs. Parameters and
 * gradients are flat arrays of the caller's, laid out in blocks, one a layer that has any.
 *
 * Training knows two programs: a step of several workers runs `gradients` for each but the last,
 * and `step` for the last. What the caller adds to them (sums over workers, exchange, updates)
 * makes the difference.
 *
 * Life: create → seal → train / evaluate … → free. Nothing is allocated after seal.
 */
#ifndef DLB_GRAPH_GRAPH_H
#define DLB_GRAPH_GRAPH_H

#include <stdint.h>

#include "dlk/dispatch.h"
#include "graph/model.h"
#include "graph/program.h"

typedef struct dlb_graph dlb_graph;

/* Blocks begin at multiples of this many floats: a page, so that processes can share by blocks. */
enum { DLB_BLOCK_GRAIN = 1024 };

/* The parameters of one layer: weights, then biases, at `offset` of the flat arrays. */
typedef struct dlb_block {
    const dlb_layer *layer;
    int index; /* of the block */
    size_t offset;
    int weights, biases;
    int fan_in, fan_out;
    int parameter_buffer, gradient_buffer; /* to be named as operands of an operation */
} dlb_block;

/* Images of a set as bytes, and the floats that they stand for. */
typedef struct dlb_pixels {
    const uint8_t *set;      /* [..][h][w][c] */
    const uint32_t *indices; /* which of the set, [n] */
    const dlk_pixels *scale;
} dlb_pixels;

/* A batch of one worker, and the place of its step, from which dropout masks follow. */
typedef struct dlb_step {
    int n;                 /* 0 … batch; without images the gradients are zero */
    int step_images;       /* of all workers: what the mean is over */
    const float *x;        /* [n][h][w][c]; NULL: given as pixels */
    dlb_pixels pixels;     /* where the graph takes them */
    const uint8_t *labels; /* [n] */
    uint32_t seed, epoch, step, worker;
    float *gradients;  /* training: where to write them, flat: the batch's share of the mean */
    bool ends_step;    /* training: the last worker of this process */
    bool same_weights; /* those of the call before */
    dlk_softmax_result *result; /* loss and correct answers: final before any gradient is */
} dlb_step;

/* Where the caller may add operations to a training program. */
typedef enum dlb_graph_place {
    DLB_BEFORE_USE,      /* of a block's parameters, first layer first */
    DLB_AFTER_GRADIENTS, /* of a block, last layer first */
    DLB_AT_END,          /* of the program; without a block */
} dlb_graph_place;

/* Called at each of these places while a training program is written. */
typedef void dlb_graph_add_fn(void *arg, dlb_program *program, dlb_graph_place place,
                              const dlb_block *block, bool ends_step);

/*
 * Whether the graph of a model takes batches as pixels: its first operation then turns them into
 * floats image by image, where they are used.
 */
bool dlb_graph_takes_pixels(const dlb_model *model, const dlk_kernels *kernels);

/*
 * The model must outlive the graph. Kernels are copied. `batch` is the largest n of a step. Buffers
 * of more than memory_limit bytes in all are refused before any is allocated; 0: no limit.
 */
int dlb_graph_create(dlb_graph **graph, const dlb_model *model, int batch,
                     const dlk_kernels *kernels, size_t memory_limit, dlb_error *err);
void dlb_graph_free(dlb_graph *graph);

/* Scratch that a thread of the pool needs, and that a team needs in common. */
size_t dlb_graph_scratch_floats(const dlb_graph *graph);
size_t dlb_graph_shared_floats(const dlb_graph *graph);

/*
 * After seal: room for the weights that each of so many threads, in so many teams, has for itself,
 * which otherwise comes with the first step, and for copies of the parameters where updates are
 * expected. Several teams have none: one may update what another still reads of other layers.
 */
int dlb_graph_make_room(dlb_graph *graph, int threads, int teams, dlb_error *err);

size_t dlb_graph_size(const dlb_graph *graph); /* of the flat arrays, padding included */
int dlb_graph_block_count(const dlb_graph *graph);
const dlb_block *dlb_graph_block(const dlb_graph *graph, int index);

/* The block that has this float of the flat arrays. */
const dlb_block *dlb_graph_block_at(const dlb_graph *graph, size_t offset);

/* A new operand, for operations that the caller adds. Before seal. */
int dlb_graph_new_operand(dlb_graph *graph);

/*
 * The operations that the caller adds to `step` will update all parameters, a range at a time, each
 * on one thread: dlb_graph_finish, then the update, then dlb_graph_hand_out. Before seal.
 *
 * Gradients may then be several sums until they are needed: who makes some of them final updates
 * the same, and no thread meets another or fetches lines from its cache in between. Sums that no
 * update finishes would be added to the next step's. Threads of one team have copies of the
 * parameters (graph/copies.h), which a step leaves as the next one wants them.
 */
void dlb_graph_expect_updates(dlb_graph *graph);

/* Whether a block can be updated a part at a time; else all of it is. */
bool dlb_graph_has_parts(const dlb_graph *graph, const dlb_block *block);

/* Within such an operation: [first, end) of the flat arrays, all of one block. */
void dlb_graph_finish(dlb_graph *graph, size_t first, size_t end);
void dlb_graph_hand_out(const dlb_graph *graph, size_t first, size_t end);

/* Write the programs, which read `parameters` from now on. `add` may be NULL. */
void dlb_graph_seal(dlb_graph *graph, float *parameters, dlb_graph_add_fn *add, void *arg);

/* They may be written before the next step, or, once they are lent, between any two. */
float *dlb_graph_parameters(dlb_graph *graph);
float *dlb_graph_lend_parameters(dlb_graph *graph);

/* Forward, backward, and the operations added. */
void dlb_graph_train(dlb_graph *graph, dlb_pool *pool, const dlb_step *step, dlb_trace *trace);

/* Forward only, without dropout. */
void dlb_graph_evaluate(dlb_graph *graph, dlb_pool *pool, const dlb_step *step, dlb_trace *trace);

/* Seconds of the pool spent in a phase of training since the last call for it. */
double dlb_graph_take_busy_s(dlb_graph *graph, dlb_phase phase);

#endif
