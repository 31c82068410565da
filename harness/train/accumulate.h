/*
 * The gradients of the workers that one process plays in turn, summed in the shape of dlk/tree.h.
 *
 * A worker's gradient is written straight into a slot of a stack, and whenever a subtree is
 * complete its two halves become one. So there is one slot for each level of the tree that waits
 * for its right half, and one for the worker at hand. The sum ends in slot 0.
 */
#ifndef DLB_TRAIN_ACCUMULATE_H
#define DLB_TRAIN_ACCUMULATE_H

#include "graph/graph.h"

typedef struct dlb_accumulator dlb_accumulator;

/* For `workers` in turn, of gradients of the graph's size. `first` is slot 0, not owned. */
int dlb_accumulator_create(dlb_accumulator **accumulator, const dlb_graph *graph, int workers,
                           float *first, dlb_error *err);
void dlb_accumulator_free(dlb_accumulator *accumulator);

/* Slots for that many workers, the first included. */
int dlb_accumulator_slots(int workers);

/* The next gradients are those of worker `index` of this process; returns where to write them. */
float *dlb_accumulator_begin(dlb_accumulator *accumulator, int index);

/* Add the operation that merges a block's gradients once they are written; none for one worker. */
void dlb_accumulator_add_op(dlb_accumulator *accumulator, dlb_program *program,
                            const dlb_block *block);

#endif
