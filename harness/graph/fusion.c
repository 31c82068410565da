#include "graph/fusion.h"

#include <math.h>
#include <stdio.h>

#include "dlk/cost.h"
#include "graph/cost.h"
#include "graph/shape.h"

enum { NO_LAYER = -1 };

dlk_operation dlb_layer_operation(dlb_layer_kind kind, dlb_pass pass)
{
    static const dlk_operation operations[DLB_LAYER_KINDS][DLB_PASSES] = {
        [DLB_CONV2D] = {DLK_OP_conv2d_forward, DLK_OP_conv2d_backward_data,
                        DLK_OP_conv2d_backward_weights},
        [DLB_DENSE] = {DLK_OP_dense_forward, DLK_OP_dense_backward_data,
                       DLK_OP_dense_backward_weights},
        [DLB_MAXPOOL] = {DLK_OP_maxpool_forward, DLK_OP_maxpool_backward, DLK_OP_COUNT},
        [DLB_RELU] = {DLK_OP_relu_forward, DLK_OP_relu_backward, DLK_OP_COUNT},
        [DLB_DROPOUT] = {DLK_OP_dropout_forward, DLK_OP_dropout_backward, DLK_OP_COUNT},
        [DLB_DROPOUT2D] = {DLK_OP_dropout_forward, DLK_OP_dropout_backward, DLK_OP_COUNT},
        [DLB_SOFTMAX] = {DLK_OP_softmax_xent, DLK_OP_COUNT, DLK_OP_COUNT},
        [DLB_FLATTEN] = {DLK_OP_COUNT, DLK_OP_COUNT, DLK_OP_COUNT},
    };
    return operations[kind][pass];
}

/* ---- The pattern ---- */

static bool is_pool_of_stage(const dlb_layer *layer)
{
    return layer->kind == DLB_MAXPOOL && layer->kernel[0] == 2 && layer->kernel[1] == 2 &&
           layer->stride[0] == 2;
}

/*
 * Whether the layer continues the stage, and if so, take it in. An element that is dropped before
 * the pool can no longer win there, so no pool follows a plain dropout; whole planes may be dropped
 * on either side.
 */
static bool take(dlb_stage *stage, const dlb_layer *layer, int index)
{
    if (layer->kind == DLB_RELU && !stage->shape.relu)
        return stage->shape.relu = true;
    if (is_pool_of_stage(layer) && !stage->shape.pool && stage->dropout == NO_LAYER)
        return stage->shape.pool = true;
    int *dropout = layer->kind == DLB_DROPOUT     ? &stage->dropout
                   : layer->kind == DLB_DROPOUT2D ? &stage->dropout2d
                                                  : NULL;
    if (!dropout || *dropout != NO_LAYER)
        return false;
    *dropout = index;
    return true;
}

/* What ReLU or pool keep for backward also tells what was dropped; without them nothing does. */
static bool can_drop(const dlb_stage *stage)
{
    return stage->shape.relu || stage->shape.pool;
}

static void match(dlb_stage *stage, const dlb_model *model)
{
    while (stage->end < model->layer_count && take(stage, &model->layers[stage->end], stage->end))
        stage->end++;
    if (can_drop(stage))
        return;
    stage->end = stage->first + 1;
    stage->dropout = stage->dropout2d = NO_LAYER;
}

/* ---- The kernels ---- */

static void explain(dlb_stage *stage, const char *direction, const char *kernel, const char *why)
{
    if (!*stage->why)
        snprintf(stage->why, sizeof stage->why, "%s %s: %s", kernel, direction, why);
}

static const dlk_stage_forward *choose_forward(dlb_stage *stage, const dlk_kernels *kernels)
{
    for (int i = 0; kernels->stage_forward[i]; i++) {
        const char *misfit = kernels->stage_forward[i]->misfit(&stage->shape);
        if (!misfit)
            return kernels->stage_forward[i];
        explain(stage, "forward", kernels->stage_forward[i]->name, misfit);
    }
    return NULL;
}

static const dlk_stage_backward *choose_backward(dlb_stage *stage, const dlk_kernels *kernels)
{
    for (int i = 0; kernels->stage_backward[i]; i++) {
        const char *misfit = kernels->stage_backward[i]->misfit(&stage->shape, stage->data);
        if (!misfit)
            return kernels->stage_backward[i];
        explain(stage, "backward", kernels->stage_backward[i]->name, misfit);
    }
    return NULL;
}

static const dlk_stage_forward *choose_lanes(const dlb_stage *stage, const dlk_kernels *kernels)
{
    for (int i = 0; kernels->lanes && kernels->lanes->forward[i]; i++)
        if (!kernels->lanes->forward[i]->misfit(&stage->shape))
            return kernels->lanes->forward[i];
    return NULL;
}

static void choose(dlb_stage *stage, const dlk_kernels *kernels)
{
    if (!kernels->stage_forward) {
        snprintf(stage->why, sizeof stage->why, "kernels = %s fuse nothing",
                 dlk_family_name(kernels->family));
        return;
    }
    const dlk_stage_forward *forward = choose_forward(stage, kernels);
    if (forward)
        *stage->why = '\0'; /* what else did not fit is of no interest */
    const dlk_stage_backward *backward = forward ? choose_backward(stage, kernels) : NULL;
    if (!backward)
        return;
    *stage->why = '\0';
    stage->forward = forward;
    stage->backward = backward;
    stage->lanes = choose_lanes(stage, kernels);
}

dlb_stage dlb_stage_at(const dlb_model *model, int first, const dlk_kernels *kernels)
{
    dlb_stage stage = {.first = first,
                       .end = first + 1,
                       .shape = {.conv = dlb_layer_conv2d(&model->layers[first], 1)},
                       .dropout = NO_LAYER,
                       .dropout2d = NO_LAYER,
                       .data = first > dlb_model_first_trained(model)};
    match(&stage, model);
    choose(&stage, kernels);
    if (!dlb_stage_is_fused(&stage))
        stage.end = first + 1;
    return stage;
}

int dlb_trunk_stages(const dlb_model *model, int first, const dlk_kernels *kernels,
                     dlb_stage stages[DLB_TRUNK_STAGES])
{
    int count = 0;
    bool lanes = true;
    while (count < DLB_TRUNK_STAGES && first < model->layer_count &&
           model->layers[first].kind == DLB_CONV2D) {
        stages[count] = dlb_stage_at(model, first, kernels);
        if (!dlb_stage_is_fused(&stages[count]))
            break;
        lanes &= stages[count].lanes != NULL;
        first = stages[count++].end;
    }
    for (int k = 0; k < count && !lanes; k++)
        stages[k].lanes = NULL;
    return count;
}

/* ---- Small layers ---- */

/*
 * Longer inputs of a dense layer may be cut into slices, as many as the batch has room for, and
 * what an image comes to would depend on how many others there are (dlk/dense.h).
 */
static bool is_small_dense(const dlb_layer *layer)
{
    enum { WEIGHTS = 16384, INPUTS = 512, FEW_WEIGHTS = 4096, THEIR_INPUTS = 1024 }; /* floats */
    if (layer->weights <= FEW_WEIGHTS)
        return layer->in.c <= THEIR_INPUTS;
    return layer->weights <= WEIGHTS && layer->in.c <= INPUTS;
}

bool dlb_layer_is_small(const dlb_layer *layer, const dlk_kernels *kernels)
{
    enum { SMALL = 4096 }; /* floats of an image */
    if (!kernels->stage_forward || dlb_shape_size(layer->in) > SMALL)
        return false;
    if (layer->kind == DLB_DENSE)
        return is_small_dense(layer);
    return layer->kind == DLB_RELU || layer->kind == DLB_DROPOUT || layer->kind == DLB_FLATTEN ||
           layer->kind == DLB_SOFTMAX;
}

/* ---- What is computed again ---- */

/* A core does tens of floating-point operations in the time a byte comes from memory and back. */
enum { FLOPS_WORTH_A_BYTE = 8 };

bool dlb_stage_is_cheap(const dlb_stage *stage)
{
    double flops = dlk_conv2d_forward_cost(&stage->shape.conv).flops;
    double bytes = (double)dlk_stage_outputs(&stage->shape) * sizeof(float);
    bool drops = stage->dropout >= 0 || stage->dropout2d >= 0;
    return !drops && flops < FLOPS_WORTH_A_BYTE * bytes;
}

/* ---- Many images at once ---- */

bool dlb_stages_in_lanes(const dlb_stage *stages, int batch, const dlk_kernels *kernels)
{
    return stages[0].lanes && batch >= dlb_lanes_least_batch(kernels->lanes);
}

bool dlb_stages_train_in_lanes(const dlb_stage *stages, int count, int batch,
                               const dlk_kernels *kernels)
{
    bool can = dlb_stages_in_lanes(stages, batch, kernels);
    for (int k = 0; k < count && can; k++) {
        bool last = k == count - 1;
        can = stages[k].dropout < 0 && (last || !dlb_stage_is_cheap(&stages[k]));
    }
    return can;
}

/* ---- Groups ---- */

/*
 * A group has so many images that they take this many operations, as if dense, for each float of
 * its gradients: else zeroing these and adding them up would take longer than the images.
 */
static const double FLOPS_WORTH_A_GRADIENT = 1500;

static double least_images(const dlb_stage *stages, int count)
{
    double flops = 0, floats = 0;
    for (int k = 0; k < count; k++) {
        const dlk_stage *shape = &stages[k].shape;
        flops += dlk_conv2d_backward_weights_cost(&shape->conv).flops;
        if (stages[k].data)
            flops += dlk_conv2d_backward_data_cost(&shape->conv).flops;
        floats += (double)stages[k].backward->gradient_floats(shape);
    }
    return fmax(1, FLOPS_WORTH_A_GRADIENT * floats / flops);
}

/* A power of two, so that teams of a power of two have equal shares. */
int dlb_stages_groups(const dlb_stage *stages, int count, int n)
{
    double images = least_images(stages, count);
    int groups = 1;
    while (groups < DLB_MOST_GROUPS && 2 * groups * images <= n)
        groups *= 2;
    return n < groups ? n : groups;
}

/* The images before a group of one half, if the smallest groups have one. */
static int images_before(int half, int group)
{
    if (group <= half / 2)
        return group;
    if (group <= half * 3 / 4)
        return half / 2 + 2 * (group - half / 2);
    return half + 4 * (group - half * 3 / 4);
}

int dlb_group_start(int n, int groups, int group)
{
    int half = groups / 2, all = 2 * half; /* of a half: images_before(half, half) */
    if (groups % 8 != 0 || n < 2 * groups)
        return (int)((long long)n * group / groups);
    int before = group / half * all + images_before(half, group % half);
    return (int)((long long)n * before / (2 * all));
}
