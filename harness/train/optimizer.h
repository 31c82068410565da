/*
 * The optimizer: its state, and one operation a layer that updates the layer's parameters as soon
 * as their gradient is final and nobody reads the old ones any more.
 */
#ifndef DLB_TRAIN_OPTIMIZER_H
#define DLB_TRAIN_OPTIMIZER_H

#include "config/workload.h"
#include "graph/graph.h"

typedef struct dlb_optimizer dlb_optimizer;

/* Adds its operations to the graph, which must outlive it and must not be sealed yet. */
dlb_optimizer *dlb_optimizer_create(dlb_graph *graph, const dlk_kernels *kernels,
                                    const dlb_workload *workload);
void dlb_optimizer_free(dlb_optimizer *optimizer);

/* Before every training step: the learning rate, and what follows from the number of the step. */
void dlb_optimizer_begin_step(dlb_optimizer *optimizer, double lr);

/* Bytes of state that an optimizer keeps for that many parameters. */
size_t dlb_optimizer_bytes(const dlb_workload *workload, size_t parameters);

/* FLOPs of one update of all parameters. */
double dlb_optimizer_flops(const dlb_optimizer *optimizer);

#endif
