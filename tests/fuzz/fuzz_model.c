/*
 * Any text is a model or a message, and a model that parses has shapes that fit together, a layer
 * to train and a cost.
 */
#include "fuzz.h"

#include "base/mem.h"
#include "graph/cost.h"
#include "graph/model.h"

static void check_chain(const dlb_model *model)
{
    for (int i = 0; i < model->layer_count; i++) {
        const dlb_layer *layer = &model->layers[i];
        dlb_shape before = i ? model->layers[i - 1].out : model->input;
        if (memcmp(&layer->in, &before, sizeof before) != 0 || dlb_shape_size(layer->out) <= 0)
            abort();
    }
}

static void check_cost(const dlb_model *model)
{
    int first = dlb_model_first_trained(model);
    if (first >= model->layer_count || model->layers[first].weights <= 0 ||
        dlb_shape_size(model->input) <= 0 || !(dlb_model_train_cost(model, 1).flops > 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = dlb_alloc(size + 1, 1);
    memcpy(text, data, size);
    dlb_model model;
    dlb_error err;
    if (dlb_model_parse(&model, "input", text, &err) == 0) {
        check_chain(&model);
        check_cost(&model);
        dlb_model_release(&model);
    }
    free(text);
    return 0;
}
