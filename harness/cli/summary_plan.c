#include "cli/summary_plan.h"

#include <limits.h>

#include "base/str.h"
#include "graph/cost.h"
#include "graph/fusion.h"

enum { LAYERS_COLUMNS = 46, KERNEL_COLUMNS = 15 };

static void print_row(const char *layers, const char *forward, const char *backward,
                      const char *evaluation)
{
    printf("%-*s %-*s %-*s %s\n", LAYERS_COLUMNS, layers, KERNEL_COLUMNS, forward, KERNEL_COLUMNS,
           backward, evaluation);
}

static const char *family_of(const dlk_kernels *kernels, const dlb_layer *layer, dlb_pass pass)
{
    dlk_operation operation = dlb_layer_operation(layer->kind, pass);
    return operation == DLK_OP_COUNT ? "-" : dlk_family_name(kernels->origin[operation]);
}

/* A family that computes the weights' gradient computes the data's, too. */
static void print_layer(const dlb_model *model, int index, const dlk_kernels *kernels)
{
    const dlb_layer *layer = &model->layers[index];
    bool trained = index >= dlb_model_first_trained(model);
    const char *forward = family_of(kernels, layer, DLB_FORWARD);
    print_row(layer->name, forward, trained ? family_of(kernels, layer, DLB_BACKWARD_DATA) : "-",
              forward);
}

/* `lanes`: it trains in them, too */
static void print_stage(const dlb_model *model, const dlb_stage *stage, bool lanes)
{
    dlb_str layers = DLB_STR_INIT;
    for (int i = stage->first; i < stage->end; i++)
        dlb_str_addf(&layers, "%s%s", i > stage->first ? " + " : "", model->layers[i].name);
    print_row(layers.text, lanes ? stage->lanes->name : stage->forward->name, stage->backward->name,
              stage->lanes ? stage->lanes->name : stage->forward->name);
    dlb_str_release(&layers);
}

static bool is_computed(const dlb_layer *layer)
{
    return dlb_layer_operation(layer->kind, DLB_FORWARD) != DLK_OP_COUNT;
}

/* What is said below the table. */
typedef struct notes {
    dlb_str small, reasons;
    bool lanes; /* some stages take many images at once */
} notes;

static void add_small(const dlb_layer *layer, const dlk_kernels *kernels, dlb_str *small)
{
    if (is_computed(layer) && dlb_layer_is_small(layer, kernels))
        dlb_str_addf(small, "%s%s", small->text ? ", " : "", layer->name);
}

static void explain(const dlb_model *model, int layer, const dlk_kernels *kernels, dlb_str *reasons)
{
    if (model->layers[layer].kind != DLB_CONV2D)
        return;
    dlb_stage stage = dlb_stage_at(model, layer, kernels);
    dlb_str_addf(reasons, "%s is not fused: %s\n", model->layers[layer].name, stage.why);
}

/* The layers of a trunk from layer `first` on; returns the end of them. */
static int print_trunk(const dlb_model *model, int first, const dlk_kernels *kernels, notes *n)
{
    dlb_stage stages[DLB_TRUNK_STAGES];
    int count = dlb_trunk_stages(model, first, kernels, stages);
    bool lanes = count && dlb_stages_train_in_lanes(stages, count, INT_MAX, kernels);
    for (int k = 0; k < count; k++) {
        print_stage(model, &stages[k], lanes);
        n->lanes |= stages[k].lanes != NULL;
    }
    return count ? stages[count - 1].end : first;
}

static void print_operations(const dlb_model *model, const dlk_kernels *kernels, notes *n)
{
    for (int i = 0; i < model->layer_count;) {
        int end = print_trunk(model, i, kernels, n);
        if (end == i) {
            explain(model, i, kernels, &n->reasons);
            print_layer(model, i, kernels);
            add_small(&model->layers[end++], kernels, &n->small);
        }
        i = end;
    }
}

static void print_notes(const dlk_kernels *kernels, const notes *n)
{
    puts("\nLayers joined by + are one operation; such lines in a row run together, image by "
         "image.");
    if (n->lanes)
        printf("Lanes take %d images at once, where batches have at least %d.\n",
               kernels->lanes->images, dlb_lanes_least_batch(kernels->lanes));
    if (n->small.text)
        printf("Small: %s. With several threads, each takes blocks of images through such layers "
               "in a row.\n",
               n->small.text);
    if (n->reasons.text)
        fputs(n->reasons.text, stdout);
}

void dlb_print_plan(const dlb_model *model, const dlk_kernels *kernels)
{
    notes n = {DLB_STR_INIT, DLB_STR_INIT, false};
    printf("Model %s with kernels = %s, isa = %s\n\n", model->name,
           dlk_family_name(kernels->family), dlk_isa_name(kernels->isa));
    print_row("layers", "forward", "backward", "evaluation");
    print_operations(model, kernels, &n);
    print_notes(kernels, &n);
    dlb_str_release(&n.small);
    dlb_str_release(&n.reasons);
}
