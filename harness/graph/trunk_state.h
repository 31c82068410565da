/* A trunk from within: what trunk.c plans, trunk_weights.c prepares, and trunk_run.c and
 * trunk_lanes.c run. */
#ifndef DLB_GRAPH_TRUNK_STATE_H
#define DLB_GRAPH_TRUNK_STATE_H

#include <stdatomic.h>

#include "graph/trunk.h"

/* Who reads weights: forward image by image or of many images, and backward for dx. */
typedef enum dlb_weights_kind {
    DLB_WEIGHTS_FORWARD,
    DLB_WEIGHTS_LANES,
    DLB_WEIGHTS_BACK,
    DLB_WEIGHTS_KINDS,
} dlb_weights_kind;

typedef struct dlb_trunk_weights dlb_trunk_weights;

typedef struct trunk_stage {
    const dlb_stage *plan;
    const dlb_node *node;                 /* of the convolution: parameters */
    size_t outputs;                       /* floats of an image */
    bool kept;                            /* the values it computes are kept for backward */
    size_t value_bytes;                   /* of an image, with slack */
    size_t gradient_floats;               /* sums of a group */
    size_t place_bytes;                   /* of a place for those, in whole pages */
    char *values;                         /* of images (graph/blocks.h), if kept */
    uint8_t *winner;                      /* [outputs] of images, if pooled */
    char *partial;                        /* places for sums of gradients: [groups] */
    size_t scratch_values;                /* where in a thread's scratch its input is, as floats */
    size_t weights_at[DLB_WEIGHTS_KINDS]; /* where in a thread's weights its own are */
    int values_buffer, winner_buffer, partial_buffer;
} trunk_stage;

struct dlb_trunk {
    const dlb_model *model;
    int batch;
    int count;
    dlb_stage *plans;
    trunk_stage *stages;
    const dlk_lanes *lanes;       /* in which it evaluates; NULL: image by image */
    bool trains_in_lanes;         /* forward, too */
    const dlb_node *first, *last; /* nodes at its ends */
    int inside;                   /* an operand: all that only the trunk itself touches */
    size_t entry_floats;          /* of an image of the batch, with slack */
    uint8_t *pixels;              /* of images of the batch, while they are in use */
    int pixels_buffer;
    int images_behind;  /* an image from which kernels may read, without use of it */
    _Atomic int *begun; /* [group]: whether a thread is at it, or was */
    _Atomic int *taken; /* [place for sums of gradients]: whether a group has them there */
    int *places;        /* [group]: where */
    _Atomic int *ended; /* [right one of a pair of groups]: 1 while one sum of the pair is there */
    dlb_trunk_weights **weights; /* [threads]: each has its own; or one that all have in common */
    size_t weights_capacity, weights_floats;
    int64_t weights_version; /* it changes with them */
    /* Where things are in a thread's scratch, as floats. */
    size_t scratch_entries, scratch_gradients[2], scratch_keep, scratch_keep_planes;
    size_t scratch_lanes[2], scratch_lanes_winner, scratch_lanes_planes;
    size_t scratch_floats;
};

/* The groups that backward takes n images in. */
static inline int dlb_trunk_groups(const dlb_trunk *t, int n)
{
    return dlb_stages_groups(t->plans, t->count, n);
}

/* What stage k has kept of an image: the values that it computed, and the winners. */
static inline float *dlb_trunk_values(const trunk_stage *stage, int image)
{
    return (float *)(stage->values + dlb_blocks_at(image, stage->value_bytes));
}

static inline uint8_t *dlb_trunk_winner(const trunk_stage *stage, int image)
{
    return stage->winner + dlb_blocks_at(image, stage->outputs);
}

/* A pass of an operation over the batch. */
typedef struct dlb_trunk_pass {
    dlb_trunk *trunk;
    const dlb_node_context *context;
    const dlk_team *team;
    int groups; /* backward */
} dlb_trunk_pass;

/*
 * Some images that enter the trunk, which are *stride floats apart. Those of the batch itself come
 * as floats to a thread's scratch: they have no slack behind them, and as pixels, which forward
 * keeps for backward, they take a quarter of the room in its caches.
 */
const float *dlb_trunk_entries(const dlb_trunk_pass *pass, int first, int count, float *scratch,
                               size_t *stride);

/* Forward, before that: an image's pixels are wanted. */
void dlb_trunk_keep_pixels(const dlb_trunk_pass *pass, int image);

/* What a dropout layer keeps of an image, `count` decisions. */
void dlb_trunk_draw_keep(const dlb_trunk_pass *pass, int layer, int image, size_t count,
                         uint8_t *keep);

/* What the dropouts of a stage multiply by. */
float dlb_trunk_scale(const dlb_trunk_pass *pass, const dlb_stage *plan);

/*
 * Life of the weights: planned when all stages are; room for so many threads, which comes by itself
 * if it was not asked for (false: there is none); before a pass its leader says of what kind it
 * reads and whether they have changed.
 */
void dlb_trunk_plan_weights(dlb_trunk *t);
void dlb_trunk_begin_pass(const dlb_trunk_pass *pass, dlb_weights_kind kind, bool changed,
                          dlk_team *team);
void dlb_trunk_free_weights(dlb_trunk *t);

/* Those of stage k, which the thread prepares for itself where it has not yet and they are its own.
 */
const float *dlb_trunk_weights_for(const dlb_trunk_pass *pass, int thread, dlb_weights_kind kind,
                                   int k);

/* The whole trunk forward and backward, as operations of a program; forward by parts, too. */
dlb_op_fn dlb_trunk_run_forward, dlb_trunk_begin_forward, dlb_trunk_run_backward;
dlb_op_part_fn dlb_trunk_part_forward;

/* Forward of many images at once: of all, or of [first, end), with `first` a multiple of the lanes.
 */
void dlb_trunk_forward_lanes(dlb_trunk_pass *pass, dlk_team *team);
void dlb_trunk_part_forward_lanes(dlb_trunk_pass *pass, int first, int end);

#endif
