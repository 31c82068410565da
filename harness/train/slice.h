/*
 * What a rank does with its slice of a bucket: sum the gradients of all ranks and update the
 * parameters, piece by piece, so that a piece is still in cache when the optimizer reads it.
 *
 * Where a graph expects it (graph/graph.h), its gradients are made final before they are summed,
 * and parameters handed out once they are updated: on the same thread, from the same cache.
 */
#ifndef DLB_TRAIN_SLICE_H
#define DLB_TRAIN_SLICE_H

#include <stdatomic.h>

#include "comm/exchange.h"
#include "train/norms.h"
#include "train/optimizer.h"

typedef struct dlb_slice {
    int bucket;
    dlb_range range; /* of the flat arrays */
    size_t state;    /* where the slice's state begins */
} dlb_slice;

/* What all slices of a rank have in common; the pointers are the caller's. */
typedef struct dlb_slicer {
    dlb_exchange *exchange;
    dlb_optimizer *optimizer;
    dlb_norms *norms;          /* NULL for optimizers without */
    dlb_graph *graph;          /* which expects updates; NULL: gradients are final already */
    size_t piece;              /* floats that are summed and updated at a time, at most */
    _Atomic int64_t update_ns; /* that threads have spent in updates; added to, but where a graph
                                  expects them: pieces are so short there that clocks count */
} dlb_slicer;

typedef enum dlb_slice_work {
    DLB_SLICE_SUM = 1, /* and measure its norms */
    DLB_SLICE_UPDATE = 2,
} dlb_slice_work;

/* `work`: one of the above, or both. */
void dlb_slice_run(dlb_slicer *slicer, const dlb_slice *slice, int work, dlk_team *team);

/* Both, by the calling thread. */
void dlb_slice_run_here(dlb_slicer *slicer, const dlb_slice *slice);

#endif
