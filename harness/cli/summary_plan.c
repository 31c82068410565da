#include "cli/summary_plan.h"

#include "base/str.h"
#include "graph/cost.h"
#include "graph/fusion.h"

enum { LAYERS_COLUMNS = 50, KERNEL_COLUMNS = 16 };

static void print_row(const char *layers, const char *forward, const char *backward)
{
    printf("%-*s %-*s %s\n", LAYERS_COLUMNS, layers, KERNEL_COLUMNS, forward, backward);
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
    print_row(layer->name, family_of(kernels, layer, DLB_FORWARD),
              trained ? family_of(kernels, layer, DLB_BACKWARD_DATA) : "-");
}

static void print_stage(const dlb_model *model, const dlb_stage *stage)
{
    dlb_str layers = DLB_STR_INIT;
    for (int i = stage->first; i < stage->end; i++)
        dlb_str_addf(&layers, "%s%s", i > stage->first ? " + " : "", model->layers[i].name);
    print_row(layers.text, stage->forward->name, stage->backward->name);
    dlb_str_release(&layers);
}

static bool is_computed(const dlb_layer *layer)
{
    return dlb_layer_operation(layer->kind, DLB_FORWARD) != DLK_OP_COUNT;
}

static void add_small(const dlb_layer *layer, const dlk_kernels *kernels, dlb_str *small)
{
    if (is_computed(layer) && dlb_layer_is_small(layer, kernels))
        dlb_str_addf(small, "%s%s", small->text ? ", " : "", layer->name);
}

static void print_operations(const dlb_model *model, const dlk_kernels *kernels, dlb_str *reasons,
                             dlb_str *small)
{
    for (int i = 0; i < model->layer_count; i++) {
        if (model->layers[i].kind == DLB_CONV2D) {
            dlb_stage stage = dlb_stage_at(model, i, kernels);
            if (dlb_stage_is_fused(&stage)) {
                print_stage(model, &stage);
                i = stage.end - 1;
                continue;
            }
            dlb_str_addf(reasons, "%s is not fused: %s\n", model->layers[i].name, stage.why);
        }
        print_layer(model, i, kernels);
        add_small(&model->layers[i], kernels, small);
    }
}

void dlb_print_plan(const dlb_model *model, const dlk_kernels *kernels)
{
    dlb_str reasons = DLB_STR_INIT, small = DLB_STR_INIT;
    printf("Model %s with kernels = %s, isa = %s\n\n", model->name,
           dlk_family_name(kernels->family), dlk_isa_name(kernels->isa));
    print_row("layers", "forward", "backward");
    print_operations(model, kernels, &reasons, &small);
    puts("\nLayers joined by + are one operation; such lines in a row run together, image by "
         "image.");
    if (small.text)
        printf("Small: %s. With several threads, each takes blocks of images through such layers "
               "in a row.\n",
               small.text);
    if (reasons.text)
        fputs(reasons.text, stdout);
    dlb_str_release(&small);
    dlb_str_release(&reasons);
}
