#include "graph/node.h"

#include "base/mem.h"
#include "graph/fusion.h"
#include "graph/shape.h"

static const float *input_of(const dlb_node *node, const dlb_node_context *context)
{
    return node->x ? node->x : context->step->x;
}

static float *dweights_of(const dlb_node *node, const dlb_node_context *context)
{
    return context->step->gradients + node->block->offset;
}

static float *dbias_of(const dlb_node *node, const dlb_node_context *context)
{
    return dweights_of(node, context) + node->block->weights;
}

static size_t output_floats(const dlb_node *node, const dlb_node_context *context)
{
    return (size_t)context->step->n * (size_t)dlb_shape_size(node->layer->out);
}

/* In evaluation nothing is dropped: the layer is a copy, where it is not left out. */
static dlk_dropout dropout_shape(const dlb_node *node, const dlb_node_context *context)
{
    dlk_dropout s = dlb_layer_dropout(node->layer, context->step->n);
    if (context->evaluating)
        s.rate = 0;
    return s;
}

dlk_rng_key dlb_dropout_key(int layer, const dlb_step *step)
{
    return (dlk_rng_key){.seed = step->seed,
                         .purpose = DLK_RNG_DROPOUT,
                         .stream = (uint16_t)layer,
                         .epoch = step->epoch,
                         .step = step->step,
                         .worker = step->worker};
}

/* Images of a shuffled set lie anywhere in memory: the next is on its way while this one trains. */
static void prefetch(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i += DLB_CACHE_LINE)
        __builtin_prefetch(bytes + i);
}

void dlb_step_image(const dlb_step *step, int index, size_t floats, float *image)
{
    if (step->x) {
        memcpy(image, step->x + (size_t)index * floats, floats * sizeof *image);
        return;
    }
    const dlb_pixels *pixels = &step->pixels;
    const uint8_t *bytes = pixels->set + pixels->indices[index] * floats;
    if (index + 1 < step->n)
        prefetch(pixels->set + pixels->indices[index + 1] * floats, floats);
    for (size_t i = 0; i < floats; i++)
        image[i] = pixels->values[bytes[i]];
}

/* ---- What an operation does: a node and a context to a kernel's arguments ---- */

static void conv2d_forward(const dlb_node *node, const dlb_node_context *context, dlk_team *team)
{
    dlk_conv2d s = dlb_layer_conv2d(node->layer, context->step->n);
    context->kernels->conv2d_forward(team, &s, input_of(node, context), node->weights, node->bias,
                                     node->y);
}

static void conv2d_backward_data(const dlb_node *node, const dlb_node_context *context,
                                 dlk_team *team)
{
    dlk_conv2d s = dlb_layer_conv2d(node->layer, context->step->n);
    context->kernels->conv2d_backward_data(team, &s, node->dy, node->weights, node->dx);
}

static void conv2d_backward_weights(const dlb_node *node, const dlb_node_context *context,
                                    dlk_team *team)
{
    dlk_conv2d s = dlb_layer_conv2d(node->layer, context->step->n);
    context->kernels->conv2d_backward_weights(team, &s, input_of(node, context), node->dy,
                                              node->partial, dweights_of(node, context),
                                              dbias_of(node, context));
}

static void dense_forward(const dlb_node *node, const dlb_node_context *context, dlk_team *team)
{
    dlk_dense s = dlb_layer_dense(node->layer, context->step->n);
    context->kernels->dense_forward(team, &s, input_of(node, context), node->weights, node->bias,
                                    node->y);
}

static void dense_backward_data(const dlb_node *node, const dlb_node_context *context,
                                dlk_team *team)
{
    dlk_dense s = dlb_layer_dense(node->layer, context->step->n);
    context->kernels->dense_backward_data(team, &s, node->dy, node->weights, node->dx);
}

static void dense_backward_weights(const dlb_node *node, const dlb_node_context *context,
                                   dlk_team *team)
{
    dlk_dense s = dlb_layer_dense(node->layer, context->step->n);
    context->kernels->dense_backward_weights(team, &s, input_of(node, context), node->dy,
                                             dweights_of(node, context), dbias_of(node, context));
}

static void maxpool_forward(const dlb_node *node, const dlb_node_context *context, dlk_team *team)
{
    dlk_pool s = dlb_layer_pool(node->layer, context->step->n);
    context->kernels->maxpool_forward(team, &s, input_of(node, context), node->y, node->winner);
}

static void maxpool_backward(const dlb_node *node, const dlb_node_context *context, dlk_team *team)
{
    dlk_pool s = dlb_layer_pool(node->layer, context->step->n);
    context->kernels->maxpool_backward(team, &s, node->dy, node->winner, node->dx);
}

static void relu_forward(const dlb_node *node, const dlb_node_context *context, dlk_team *team)
{
    context->kernels->relu_forward(team, output_floats(node, context), input_of(node, context),
                                   node->y);
}

static void relu_backward(const dlb_node *node, const dlb_node_context *context, dlk_team *team)
{
    context->kernels->relu_backward(team, output_floats(node, context), node->y, node->dy,
                                    node->dx);
}

static void dropout_forward(const dlb_node *node, const dlb_node_context *context, dlk_team *team)
{
    dlk_dropout s = dropout_shape(node, context);
    dlk_rng_key key = dlb_dropout_key(node->index, context->step);
    context->kernels->dropout_forward(team, &s, &key, input_of(node, context), node->y);
}

static void dropout_backward(const dlb_node *node, const dlb_node_context *context, dlk_team *team)
{
    dlk_dropout s = dropout_shape(node, context);
    dlk_rng_key key = dlb_dropout_key(node->index, context->step);
    context->kernels->dropout_backward(team, &s, &key, node->dy, node->dx);
}

static void loss(const dlb_node *node, const dlb_node_context *context, dlk_team *team,
                 float *gradient)
{
    const dlb_step *step = context->step;
    context->kernels->softmax_xent(team, step->n, node->layer->in.c, input_of(node, context),
                                   step->labels, 1.0F / (float)step->step_images, node->losses,
                                   gradient, step->result);
}

/* ---- Which operations a layer has ---- */

typedef void node_fn(const dlb_node *node, const dlb_node_context *context, dlk_team *team);

typedef struct layer_ops {
    node_fn *forward, *backward_data, *backward_weights;
} layer_ops;

static const layer_ops ops_of[DLB_LAYER_KINDS] = {
    [DLB_CONV2D] = {conv2d_forward, conv2d_backward_data, conv2d_backward_weights},
    [DLB_DENSE] = {dense_forward, dense_backward_data, dense_backward_weights},
    [DLB_MAXPOOL] = {maxpool_forward, maxpool_backward, NULL},
    [DLB_RELU] = {relu_forward, relu_backward, NULL},
    [DLB_DROPOUT] = {dropout_forward, dropout_backward, NULL},
    [DLB_DROPOUT2D] = {dropout_forward, dropout_backward, NULL},
};

/* ---- As operations of a program; a batch without images leaves only its gradient, zero ---- */

static bool has_images(const dlb_node_context *context)
{
    return context->step->n > 0;
}

static void run_forward(void *self, void *context, dlk_team *team)
{
    const dlb_node *node = self;
    if (has_images(context))
        ops_of[node->layer->kind].forward(node, context, team);
}

static void run_backward_data(void *self, void *context, dlk_team *team)
{
    const dlb_node *node = self;
    if (has_images(context))
        ops_of[node->layer->kind].backward_data(node, context, team);
}

static void run_backward_weights(void *self, void *context, dlk_team *team)
{
    const dlb_node *node = self;
    size_t gradients = (size_t)node->block->weights + (size_t)node->block->biases;
    if (has_images(context))
        ops_of[node->layer->kind].backward_weights(node, context, team);
    else
        memset(dweights_of(node, context), 0, gradients * sizeof(float));
}

static void run_loss_train(void *self, void *context, dlk_team *team)
{
    const dlb_node *node = self;
    if (has_images(context))
        loss(node, context, team, node->dx);
}

static void run_loss_evaluate(void *self, void *context, dlk_team *team)
{
    if (has_images(context))
        loss(self, context, team, NULL);
}

static dlb_op make_op(dlb_node *node, dlb_op_fn *run, dlb_pass pass, const char *what)
{
    dlb_op op = {.phase = pass == DLB_FORWARD ? DLB_PHASE_FORWARD : DLB_PHASE_BACKWARD,
                 .run = run,
                 .self = node,
                 .operation = dlb_layer_operation(node->layer->kind, pass)};
    snprintf(op.name, sizeof op.name, "%s %s", node->layer->name, what);
    return op;
}

static int parameter_buffer_of(const dlb_node *node)
{
    return node->block ? node->block->parameter_buffer : -1;
}

void dlb_node_add_forward(dlb_node *node, dlb_program *program)
{
    if (!ops_of[node->layer->kind].forward)
        return;
    dlb_op op = make_op(node, run_forward, DLB_FORWARD, "forward");
    dlb_op_reads(&op, node->x_buffer);
    dlb_op_reads(&op, parameter_buffer_of(node));
    dlb_op_writes(&op, node->y_buffer);
    dlb_op_writes(&op, node->winner_buffer);
    dlb_program_add(program, &op);
}

void dlb_node_add_backward(dlb_node *node, dlb_program *program)
{
    const layer_ops *ops = &ops_of[node->layer->kind];
    if (ops->backward_data && node->dx) {
        dlb_op op = make_op(node, run_backward_data, DLB_BACKWARD_DATA, "backward data");
        dlb_op_reads(&op, node->dy_buffer);
        dlb_op_reads(&op, node->y_buffer);
        dlb_op_reads(&op, parameter_buffer_of(node));
        dlb_op_reads(&op, node->winner_buffer);
        dlb_op_writes(&op, node->dx_buffer);
        dlb_program_add(program, &op);
    }
    if (ops->backward_weights) {
        dlb_op op = make_op(node, run_backward_weights, DLB_BACKWARD_WEIGHTS, "backward weights");
        dlb_op_reads(&op, node->dy_buffer);
        dlb_op_reads(&op, node->x_buffer);
        dlb_op_writes(&op, node->block->gradient_buffer);
        dlb_program_add(program, &op);
    }
}

void dlb_node_add_loss(dlb_node *node, dlb_program *program, bool train)
{
    dlb_op op = make_op(node, train ? run_loss_train : run_loss_evaluate, DLB_FORWARD, "and loss");
    dlb_op_reads(&op, node->x_buffer);
    if (train)
        dlb_op_writes(&op, node->dx_buffer);
    dlb_program_add(program, &op);
}
