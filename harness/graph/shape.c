#include "graph/shape.h"

bool dlb_shape_fits(dlb_shape shape)
{
    return (long long)shape.h * shape.w * shape.c <= DLB_FLOATS_MAX;
}

/* Both kinds of layers with parameters: their number fits, or the layer is refused. */
static int set_parameters(dlb_layer *layer, long long weights, int biases, dlb_error *err)
{
    if (weights > DLB_FLOATS_MAX)
        return dlb_fail(err, DLB_BAD_INPUT, "%lld weights in one layer are too many", weights);
    layer->weights = (int)weights;
    layer->biases = biases;
    return 0;
}

static int resolve_padding(dlb_layer *layer, dlb_error *err)
{
    for (int d = 0; d < 2; d++) {
        if (layer->padding[d] != DLB_PADDING_SAME)
            continue;
        if (layer->stride[d] != 1 || layer->kernel[d] % 2 == 0)
            return dlb_fail(err, DLB_BAD_INPUT,
                            "padding=same needs an odd kernel and stride 1; give the padding in "
                            "pixels");
        layer->padding[d] = layer->kernel[d] / 2;
    }
    if (layer->padding[0] >= layer->kernel[0] || layer->padding[1] >= layer->kernel[1])
        return dlb_fail(err, DLB_BAD_INPUT, "the padding must be smaller than the kernel");
    return 0;
}

static int infer_conv2d(dlb_layer *layer, dlb_error *err)
{
    if (resolve_padding(layer, err) < 0)
        return DLB_BAD_INPUT;
    dlb_shape in = layer->in;
    if (in.h + 2 * layer->padding[0] < layer->kernel[0] ||
        in.w + 2 * layer->padding[1] < layer->kernel[1])
        return dlb_fail(err, DLB_BAD_INPUT, "a %dx%d kernel does not fit the %dx%d image",
                        layer->kernel[0], layer->kernel[1], in.h, in.w);
    long long weights = (long long)layer->kernel[0] * layer->kernel[1] * in.c * layer->filters;
    if (set_parameters(layer, weights, layer->filters, err) < 0)
        return DLB_BAD_INPUT;
    dlk_conv2d s = dlb_layer_conv2d(layer, 1);
    layer->out = (dlb_shape){dlk_conv2d_oh(&s), dlk_conv2d_ow(&s), layer->filters};
    return 0;
}

static int infer_maxpool(dlb_layer *layer, dlb_error *err)
{
    layer->kernel[1] = layer->kernel[0];
    if (layer->stride[0] == 0)
        layer->stride[0] = layer->kernel[0];
    layer->stride[1] = layer->stride[0];
    if (layer->in.h < layer->kernel[0] || layer->in.w < layer->kernel[1])
        return dlb_fail(err, DLB_BAD_INPUT, "a window of %d does not fit the %dx%d image",
                        layer->kernel[0], layer->in.h, layer->in.w);
    dlk_pool s = dlb_layer_pool(layer, 1);
    layer->out = (dlb_shape){dlk_pool_oh(&s), dlk_pool_ow(&s), layer->in.c};
    return 0;
}

static int infer_dense(dlb_layer *layer, dlb_error *err)
{
    if (layer->in.h != 1 || layer->in.w != 1)
        return dlb_fail(err, DLB_BAD_INPUT, "dense needs flat data; put a flatten layer before it");
    long long weights = (long long)layer->in.c * layer->units;
    if (set_parameters(layer, weights, layer->units, err) < 0)
        return DLB_BAD_INPUT;
    layer->out = (dlb_shape){1, 1, layer->units};
    return 0;
}

static int infer_softmax(dlb_layer *layer, dlb_error *err)
{
    if (layer->in.h != 1 || layer->in.w != 1 || layer->in.c < 2 || layer->in.c > 256)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "softmax needs flat data of 2 … 256 classes, not %dx%dx%d", layer->in.h,
                        layer->in.w, layer->in.c);
    layer->out = layer->in;
    return 0;
}

static int infer_output(dlb_layer *layer, dlb_error *err)
{
    switch (layer->kind) {
    case DLB_CONV2D:
        return infer_conv2d(layer, err);
    case DLB_MAXPOOL:
        return infer_maxpool(layer, err);
    case DLB_DENSE:
        return infer_dense(layer, err);
    case DLB_SOFTMAX:
        return infer_softmax(layer, err);
    case DLB_FLATTEN:
        layer->out = (dlb_shape){1, 1, dlb_shape_size(layer->in)};
        return 0;
    case DLB_RELU:
    case DLB_DROPOUT:
    case DLB_DROPOUT2D:
    case DLB_LAYER_KINDS:
        break;
    }
    layer->out = layer->in;
    return 0;
}

static void name_layer(const dlb_model *model, dlb_layer *layer)
{
    int number = 1;
    for (int i = 0; i < model->layer_count; i++)
        number += model->layers[i].kind == layer->kind;
    snprintf(layer->name, sizeof layer->name, "%s_%d", dlb_layer_kind_name(layer->kind), number);
}

int dlb_shape_infer(const dlb_model *model, dlb_layer *layer, dlb_error *err)
{
    layer->in = model->input;
    if (model->layer_count) {
        const dlb_layer *before = &model->layers[model->layer_count - 1];
        if (before->kind == DLB_SOFTMAX)
            return dlb_fail(err, DLB_BAD_INPUT, "nothing may follow the softmax layer");
        layer->in = before->out;
    }
    name_layer(model, layer);
    if (infer_output(layer, err) < 0)
        return DLB_BAD_INPUT;
    if (!dlb_shape_fits(layer->out))
        return dlb_fail(err, DLB_BAD_INPUT, "an output of %dx%dx%d is too large", layer->out.h,
                        layer->out.w, layer->out.c);
    return 0;
}

dlk_conv2d dlb_layer_conv2d(const dlb_layer *layer, int n)
{
    return (dlk_conv2d){.n = n,
                        .h = layer->in.h,
                        .w = layer->in.w,
                        .c = layer->in.c,
                        .oc = layer->filters,
                        .kh = layer->kernel[0],
                        .kw = layer->kernel[1],
                        .stride_h = layer->stride[0],
                        .stride_w = layer->stride[1],
                        .pad_h = layer->padding[0],
                        .pad_w = layer->padding[1]};
}

dlk_pool dlb_layer_pool(const dlb_layer *layer, int n)
{
    return (dlk_pool){n, layer->in.h, layer->in.w, layer->in.c, layer->kernel[0], layer->stride[0]};
}

dlk_dense dlb_layer_dense(const dlb_layer *layer, int n)
{
    return (dlk_dense){.n = n, .in = layer->in.c, .out = layer->units};
}

dlk_dropout dlb_layer_dropout(const dlb_layer *layer, int n)
{
    return (dlk_dropout){.n = n,
                         .pixels = layer->in.h * layer->in.w,
                         .c = layer->in.c,
                         .rate = (float)layer->rate,
                         .planes = layer->kind == DLB_DROPOUT2D};
}
