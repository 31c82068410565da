#include "graph/cost.h"

#include "graph/shape.h"

static dlk_cost add(dlk_cost a, dlk_cost b)
{
    return (dlk_cost){a.flops + b.flops, a.bytes + b.bytes};
}

static size_t count_out(const dlb_layer *layer, int n)
{
    return (size_t)n * (size_t)dlb_shape_size(layer->out);
}

dlk_cost dlb_layer_forward_cost(const dlb_layer *layer, int n)
{
    dlk_conv2d conv = dlb_layer_conv2d(layer, n);
    dlk_pool pool = dlb_layer_pool(layer, n);
    dlk_dense dense = dlb_layer_dense(layer, n);
    dlk_dropout dropout = dlb_layer_dropout(layer, n);
    switch (layer->kind) {
    case DLB_CONV2D:
        return dlk_conv2d_forward_cost(&conv);
    case DLB_MAXPOOL:
        return dlk_maxpool_forward_cost(&pool);
    case DLB_RELU:
        return dlk_relu_forward_cost(count_out(layer, n));
    case DLB_DROPOUT:
    case DLB_DROPOUT2D:
        return dlk_dropout_cost(&dropout);
    case DLB_DENSE:
        return dlk_dense_forward_cost(&dense);
    case DLB_SOFTMAX:
        return dlk_softmax_xent_cost(n, layer->in.c);
    case DLB_FLATTEN:
    case DLB_LAYER_KINDS:
        break;
    }
    return (dlk_cost){0};
}

static dlk_cost weights_and_data(dlk_cost weights, dlk_cost data, bool with_data)
{
    return with_data ? add(weights, data) : weights;
}

dlk_cost dlb_layer_backward_cost(const dlb_layer *layer, int n, bool data)
{
    dlk_conv2d conv = dlb_layer_conv2d(layer, n);
    dlk_pool pool = dlb_layer_pool(layer, n);
    dlk_dense dense = dlb_layer_dense(layer, n);
    dlk_dropout dropout = dlb_layer_dropout(layer, n);
    switch (layer->kind) {
    case DLB_CONV2D:
        return weights_and_data(dlk_conv2d_backward_weights_cost(&conv),
                                dlk_conv2d_backward_data_cost(&conv), data);
    case DLB_DENSE:
        return weights_and_data(dlk_dense_backward_weights_cost(&dense),
                                dlk_dense_backward_data_cost(&dense), data);
    case DLB_MAXPOOL:
        return dlk_maxpool_backward_cost(&pool);
    case DLB_RELU:
        return dlk_relu_backward_cost(count_out(layer, n));
    case DLB_DROPOUT:
    case DLB_DROPOUT2D:
        return dlk_dropout_cost(&dropout);
    case DLB_SOFTMAX: /* its gradient comes with the loss */
    case DLB_FLATTEN:
    case DLB_LAYER_KINDS:
        break;
    }
    return (dlk_cost){0};
}

int dlb_model_first_trained(const dlb_model *model)
{
    int first = 0;
    while (first < model->layer_count && model->layers[first].weights == 0)
        first++;
    return first;
}

dlk_cost dlb_model_train_cost(const dlb_model *model, int n)
{
    int first = dlb_model_first_trained(model);
    dlk_cost total = {0};
    for (int i = 0; i < model->layer_count; i++) {
        total = add(total, dlb_layer_forward_cost(&model->layers[i], n));
        if (i >= first)
            total = add(total, dlb_layer_backward_cost(&model->layers[i], n, i > first));
    }
    return total;
}
