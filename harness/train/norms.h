/*
 * The norms of every tensor, weights and gradient, for optimizers that scale by them.
 *
 * Squares are summed cell by cell (DLB_EXCHANGE_GRAIN floats), each by the rank whose slice it is
 * in, and the cells' sums in order: the result is the same for every number of ranks.
 */
#ifndef DLB_TRAIN_NORMS_H
#define DLB_TRAIN_NORMS_H

#include "comm/exchange.h"
#include "graph/graph.h"
#include "train/optimizer.h"

typedef struct dlb_norms dlb_norms;

dlb_norms *dlb_norms_create(const dlb_graph *graph); /* which must outlive it */
void dlb_norms_free(dlb_norms *norms);

/* A new step: nothing is measured yet. */
void dlb_norms_begin(dlb_norms *norms);

/* Measure whole cells, of the flat arrays. Any thread, for ranges that do not overlap. */
void dlb_norms_measure(dlb_norms *norms, dlb_range range, const float *parameters,
                       const float *gradients);

/*
 * Collective: from what all ranks have measured to each tensor's ratio. It fails only by breaking
 * the comm, which tells of it.
 */
void dlb_norms_agree(dlb_norms *norms, dlb_comm *comm, const dlb_optimizer *optimizer);

/* The leading part of a range, which is not empty, that has one ratio. */
dlb_range dlb_norms_same_ratio(const dlb_norms *norms, dlb_range range, float *ratio);

#endif
