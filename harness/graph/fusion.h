/*
 * Which layers are computed together, and by which kernels.
 *
 * A pass over the layer list looks for stages (dlk/stage.h) by pattern and shape: a convolution
 * and the ReLU, max-pool and dropouts that follow it in an order that commutes with the stage's. A
 * stage is fused where the family of kernels has one for its forward and one for its backward;
 * else its layers are computed one by one. `dlbench summary --plan` prints the outcome.
 */
#ifndef DLB_GRAPH_FUSION_H
#define DLB_GRAPH_FUSION_H

#include <stdbool.h>

#include "dlk/dispatch.h"
#include "graph/model.h"

/* What is computed of a layer. */
typedef enum dlb_pass { DLB_FORWARD, DLB_BACKWARD_DATA, DLB_BACKWARD_WEIGHTS, DLB_PASSES } dlb_pass;

/* The entry of the table that computes it of a layer by itself; DLK_OP_COUNT: there is none. */
dlk_operation dlb_layer_operation(dlb_layer_kind kind, dlb_pass pass);

typedef struct dlb_stage {
    int first, end; /* its layers: the convolution and those fused with it */
    dlk_stage shape;
    int dropout, dropout2d; /* layers; -1: none */
    bool data;              /* whether training wants the gradient of its input */

    /* Both set, or both NULL and `why` says which kernel does not fit, and why. */
    const dlk_stage_forward *forward;
    const dlk_stage_backward *backward;
    char why[160];

    /* Could take many images forward at once; NULL: none could. It does so in a trunk that has
     * them all (dlb_trunk_stages), of batches that are not too small. */
    const dlk_stage_forward *lanes;
} dlb_stage;

/*
 * The stage that begins with layer `first`, a convolution. Where it is not fused, its end is the
 * convolution's.
 */
dlb_stage dlb_stage_at(const dlb_model *model, int first, const dlk_kernels *kernels);

/* A longer run of stages becomes several trunks: an operation names only so many operands. */
enum { DLB_TRUNK_STAGES = 8 };

/*
 * The fused stages from layer `first` on that follow each other and become a trunk; returns how
 * many. They have kernels of many images all of them or none.
 */
int dlb_trunk_stages(const dlb_model *model, int first, const dlk_kernels *kernels,
                     dlb_stage stages[DLB_TRUNK_STAGES]);

/* Lanes that stay empty take as long as others, and of few tasks most threads have none: smaller
 * batches go image by image. */
static inline int dlb_lanes_least_batch(const dlk_lanes *lanes)
{
    return 2 * lanes->images;
}

/*
 * Whether a trunk of these stages evaluates many images at once, and whether its forward pass of
 * training does so, too: an image's values must then be kept for backward, and it may drop nothing
 * but whole planes.
 */
bool dlb_stages_in_lanes(const dlb_stage *stages, int batch, const dlk_kernels *kernels);
bool dlb_stages_train_in_lanes(const dlb_stage *stages, int count, int batch,
                               const dlk_kernels *kernels);

/*
 * Whether backward computes a stage's values again, where another stage follows it, instead of
 * having them kept: they then never leave the caches.
 */
bool dlb_stage_is_cheap(const dlb_stage *stage);

/*
 * A layer so small that a thread which takes a few images through it has its weights in the
 * first-level cache all the while; where the family of kernels fuses layers at all. Layers in a row
 * are then run together (graph/program.h), unless a stage has them.
 */
bool dlb_layer_is_small(const dlb_layer *layer, const dlk_kernels *kernels);

/*
 * Into how many groups backward cuts a batch of n images that goes through these stages together.
 * Each group sums up gradients of its own; depends on n and the stages alone, and grows with n.
 */
enum { DLB_MOST_GROUPS = 32 };

int dlb_stages_groups(const dlb_stage *stages, int count, int n);

/*
 * The first image of a group; that of group number `groups` is n. In each half of the batch groups
 * become larger. The largest are taken first, so that threads which help each other end at about
 * the same time: of eight groups a half of 32 images has 4, 4, 8 and 16.
 */
int dlb_group_start(int n, int groups, int group);

static inline bool dlb_stage_is_fused(const dlb_stage *stage)
{
    return stage->forward != NULL;
}

#endif
