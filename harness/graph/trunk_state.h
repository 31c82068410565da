/* A trunk from within: what trunk.c plans, and trunk_run.c and trunk_lanes.c run. */
#ifndef DLB_GRAPH_TRUNK_STATE_H
#define DLB_GRAPH_TRUNK_STATE_H

#include <stdatomic.h>

#include "graph/trunk.h"

typedef struct trunk_stage {
    const dlb_stage *plan;
    const dlb_node *node;   /* of the convolution: parameters */
    size_t outputs;         /* floats of an image */
    bool kept;              /* the values it computes are kept for backward */
    size_t gradient_floats; /* of a group, in whole cache lines */
    float *prepared, *back; /* weights for forward and for dx */
    float *lanes;           /* and for many images at once */
    size_t back_floats;
    float *values;         /* [batch][outputs + slack], if kept */
    uint8_t *winner;       /* [batch][outputs], if pooled */
    float *partial;        /* gradients: [groups] */
    size_t scratch_values; /* where in a thread's scratch its input is, as floats */
    int prepared_buffer, lanes_buffer, back_buffer, values_buffer, winner_buffer, partial_buffer;
} trunk_stage;

struct dlb_trunk {
    const dlb_model *model;
    int batch;
    int count;
    dlb_stage *plans;
    trunk_stage *stages;
    const dlk_lanes *lanes;       /* in which it evaluates; NULL: image by image */
    const dlb_node *first, *last; /* nodes at its ends */
    const dlb_node *next;         /* the next one that has parameters; NULL: none */
    int inside;                   /* an operand: all that only the trunk itself touches */
    size_t entry_floats;          /* of an image that enters as pixels, with slack */
    float *entries;               /* [batch][entry_floats]: as floats */
    int entries_buffer;
    _Atomic int *ended; /* [right one of a pair of groups]: 1 while one sum of the pair is there */
    /* Where things are in a thread's scratch, as floats. */
    size_t scratch_gradients[2], scratch_keep, scratch_keep_planes, scratch_lanes[2];
    size_t scratch_floats;
};

/* The groups that backward takes n images in. */
static inline int dlb_trunk_groups(const dlb_trunk *t, int n)
{
    return dlb_stages_groups(t->plans, t->count, n);
}

/* What enters the trunk: floats from an image to the next, and an image itself. */
static inline size_t dlb_trunk_entry_stride(const dlb_trunk *t)
{
    return t->first->x ? dlk_stage_inputs(&t->plans[0].shape) : t->entry_floats;
}

static inline const float *dlb_trunk_entry(const dlb_trunk *t, int image)
{
    const float *first = t->first->x ? t->first->x : t->entries;
    return first + (size_t)image * dlb_trunk_entry_stride(t);
}

/* The batch itself has no slack behind its end, so its images are copied: do so with this one. */
void dlb_trunk_fetch_entry(const dlb_trunk *t, const dlb_node_context *context, int image);

/* The whole trunk forward and backward, as operations of a program. */
dlb_op_fn dlb_trunk_run_forward, dlb_trunk_run_backward;

/* Forward of a trunk that evaluates in lanes, when weights are prepared. */
void dlb_trunk_evaluate(const dlb_trunk *t, const dlb_node_context *context, dlk_team *team);

#endif
