#include "graph/node.h"

#include "base/mem.h"
#include "dlk/lines.h"
#include "dlk/tree.h"
#include "graph/fusion.h"
#include "graph/shape.h"

/* Images [first, first + n) of a batch: all of it, or some that a thread takes by itself. */
typedef struct batch_part {
    const dlb_node_context *context;
    int first, n;
    int thread; /* ALL: all that there are */
} batch_part;

enum { ALL = -1 };

static batch_part whole_batch(const dlb_node_context *context)
{
    return (batch_part){context, 0, context->step->n, ALL};
}

static batch_part part_of(const dlb_node_context *context, const dlk_team *alone, int first,
                          int end)
{
    return (batch_part){context, first, end - first, alone->first_thread};
}

/* The part's rows of [batch][shape]; NULL stays NULL. */
static float *rows_of(const batch_part *part, float *tensor, dlb_shape shape)
{
    return tensor ? tensor + (size_t)part->first * (size_t)dlb_shape_size(shape) : NULL;
}

static const float *input_of(const dlb_node *node, const batch_part *part)
{
    const float *x = node->x ? node->x : part->context->step->x;
    return x + (size_t)part->first * (size_t)dlb_shape_size(node->layer->in);
}

static float *y_of(const dlb_node *node, const batch_part *part)
{
    return rows_of(part, node->y, node->layer->out);
}

static float *dx_of(const dlb_node *node, const batch_part *part)
{
    return rows_of(part, node->dx, node->layer->in);
}

static const float *dy_of(const dlb_node *node, const batch_part *part)
{
    return rows_of(part, node->dy, node->layer->out);
}

/* Sums of a part that is not the first are apart from those. */
static float *dweights_of(const dlb_node *node, const batch_part *part)
{
    return part->first > 0 ? node->partial : part->context->step->gradients + node->block->offset;
}

static float *dbias_of(const dlb_node *node, const batch_part *part)
{
    return dweights_of(node, part) + node->block->weights;
}

/* A team that works together reads what all have in common; a thread by itself its own copy. */
static const float *weights_of(const dlb_node *node, const batch_part *part)
{
    if (part->thread == ALL)
        return node->weights;
    return dlb_copies_of(part->context->copies, part->thread) + node->block->offset;
}

static const float *bias_of(const dlb_node *node, const batch_part *part)
{
    return weights_of(node, part) + node->block->weights;
}

static size_t output_floats(const dlb_node *node, const batch_part *part)
{
    return (size_t)part->n * (size_t)dlb_shape_size(node->layer->out);
}

/* In evaluation nothing is dropped: the layer is a copy, where it is not left out. */
static dlk_dropout dropout_shape(const dlb_node *node, const batch_part *part)
{
    dlk_dropout s = dlb_layer_dropout(node->layer, part->n);
    s.first = part->first;
    if (part->context->evaluating)
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

const uint8_t *dlb_step_pixels(const dlb_node_context *context, int index, size_t floats)
{
    const dlb_step *step = context->step;
    const dlb_pixels *pixels = &step->pixels;
    if (step->x)
        return NULL;
    if (index + 1 < step->n)
        prefetch(pixels->set + pixels->indices[index + 1] * floats, floats);
    return pixels->set + pixels->indices[index] * floats;
}

/* ---- What an operation does: a node and a part of a batch to a kernel's arguments ---- */

static void conv2d_forward(const dlb_node *node, const batch_part *part, dlk_team *team)
{
    dlk_conv2d s = dlb_layer_conv2d(node->layer, part->n);
    part->context->kernels->conv2d_forward(team, &s, input_of(node, part), weights_of(node, part),
                                           bias_of(node, part), y_of(node, part));
}

static void conv2d_backward_data(const dlb_node *node, const batch_part *part, dlk_team *team)
{
    dlk_conv2d s = dlb_layer_conv2d(node->layer, part->n);
    part->context->kernels->conv2d_backward_data(team, &s, dy_of(node, part),
                                                 weights_of(node, part), dx_of(node, part));
}

static void conv2d_backward_weights(const dlb_node *node, const batch_part *part, dlk_team *team)
{
    dlk_conv2d s = dlb_layer_conv2d(node->layer, part->n);
    part->context->kernels->conv2d_backward_weights(team, &s, input_of(node, part),
                                                    dy_of(node, part), node->partial,
                                                    dweights_of(node, part), dbias_of(node, part));
}

static void dense_forward(const dlb_node *node, const batch_part *part, dlk_team *team)
{
    dlk_dense s = dlb_layer_dense(node->layer, part->n);
    part->context->kernels->dense_forward(team, &s, input_of(node, part), weights_of(node, part),
                                          bias_of(node, part), y_of(node, part));
}

static void dense_backward_data(const dlb_node *node, const batch_part *part, dlk_team *team)
{
    dlk_dense s = dlb_layer_dense(node->layer, part->n);
    part->context->kernels->dense_backward_data(team, &s, dy_of(node, part), weights_of(node, part),
                                                dx_of(node, part));
}

/* The same sums, whoever computes them: one thread both halves, or two of them one each. */
static void dense_backward_weights(const dlb_node *node, const batch_part *part, dlk_team *team)
{
    dlk_dense s = dlb_layer_dense(node->layer, part->n);
    if (part->thread == ALL && dlb_node_has_halves(node, part->n))
        s.half = dlb_blocks_half(part->n);
    part->context->kernels->dense_backward_weights(team, &s, input_of(node, part),
                                                   dy_of(node, part), dweights_of(node, part),
                                                   dbias_of(node, part));
}

static void maxpool_forward(const dlb_node *node, const batch_part *part, dlk_team *team)
{
    dlk_pool s = dlb_layer_pool(node->layer, part->n);
    part->context->kernels->maxpool_forward(team, &s, input_of(node, part), y_of(node, part),
                                            node->winner);
}

static void maxpool_backward(const dlb_node *node, const batch_part *part, dlk_team *team)
{
    dlk_pool s = dlb_layer_pool(node->layer, part->n);
    part->context->kernels->maxpool_backward(team, &s, dy_of(node, part), node->winner,
                                             dx_of(node, part));
}

static void relu_forward(const dlb_node *node, const batch_part *part, dlk_team *team)
{
    part->context->kernels->relu_forward(team, output_floats(node, part), input_of(node, part),
                                         y_of(node, part));
}

static void relu_backward(const dlb_node *node, const batch_part *part, dlk_team *team)
{
    part->context->kernels->relu_backward(team, output_floats(node, part), y_of(node, part),
                                          dy_of(node, part), dx_of(node, part));
}

static void dropout_forward(const dlb_node *node, const batch_part *part, dlk_team *team)
{
    dlk_dropout s = dropout_shape(node, part);
    dlk_rng_key key = dlb_dropout_key(node->index, part->context->step);
    part->context->kernels->dropout_forward(team, &s, &key, input_of(node, part), y_of(node, part));
}

static void dropout_backward(const dlb_node *node, const batch_part *part, dlk_team *team)
{
    dlk_dropout s = dropout_shape(node, part);
    dlk_rng_key key = dlb_dropout_key(node->index, part->context->step);
    part->context->kernels->dropout_backward(team, &s, &key, dy_of(node, part), dx_of(node, part));
}

static void loss(const dlb_node *node, const batch_part *part, dlk_team *team, float *gradient,
                 dlk_softmax_result *result)
{
    const dlb_step *step = part->context->step;
    part->context->kernels->softmax_xent(
        team, part->n, node->layer->in.c, input_of(node, part), step->labels + part->first,
        1.0F / (float)step->step_images, node->losses + part->first, gradient, result);
}

/* ---- Which operations a layer has ---- */

typedef void node_fn(const dlb_node *node, const batch_part *part, dlk_team *team);

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
    batch_part all = whole_batch(context);
    if (has_images(context))
        ops_of[node->layer->kind].forward(node, &all, team);
}

static void run_backward_data(void *self, void *context, dlk_team *team)
{
    const dlb_node *node = self;
    batch_part all = whole_batch(context);
    if (has_images(context))
        ops_of[node->layer->kind].backward_data(node, &all, team);
}

static size_t gradients_of(const dlb_node *node)
{
    return (size_t)node->block->weights + (size_t)node->block->biases;
}

static void run_backward_weights(void *self, void *context, dlk_team *team)
{
    dlb_node *node = self;
    batch_part all = whole_batch(context);
    atomic_store_explicit(&node->apart, false, memory_order_relaxed);
    if (has_images(context))
        ops_of[node->layer->kind].backward_weights(node, &all, team);
    else
        memset(dweights_of(node, &all), 0, gradients_of(node) * sizeof(float));
}

static void run_loss_train(void *self, void *context, dlk_team *team)
{
    const dlb_node *node = self;
    batch_part all = whole_batch(context);
    if (has_images(context))
        loss(node, &all, team, node->dx, all.context->step->result);
}

static void run_loss_evaluate(void *self, void *context, dlk_team *team)
{
    batch_part all = whole_batch(context);
    if (has_images(context))
        loss(self, &all, team, NULL, all.context->step->result);
}

/* ---- The same by parts of the batch, for layers that are small ---- */

/* Of a batch that goes by halves. */
enum { MOST_IMAGES = 256 };

size_t dlb_node_part_scratch(const dlb_layer *layer, int batch)
{
    int half = dlb_blocks_half(batch < MOST_IMAGES ? batch : MOST_IMAGES);
    dlk_dense dense = dlb_layer_dense(layer, half > DLB_BLOCK_IMAGES ? half : DLB_BLOCK_IMAGES);
    return layer->kind == DLB_DENSE ? dlk_dense_scratch() + dlk_dense_shared(&dense) : 0;
}

/* What the threads of a team would share is a part of the one's own scratch. */
static void run_part(const dlb_node *node, node_fn *fn, void *context, dlk_team *alone, int first,
                     int end)
{
    batch_part part = part_of(context, alone, first, end);
    if (node->layer->kind == DLB_DENSE)
        alone->shared = alone->scratch + dlk_dense_scratch();
    fn(node, &part, alone);
}

static void part_forward(void *self, void *context, dlk_team *alone, int first, int end)
{
    const dlb_node *node = self;
    run_part(node, ops_of[node->layer->kind].forward, context, alone, first, end);
}

static void part_backward_data(void *self, void *context, dlk_team *alone, int first, int end)
{
    const dlb_node *node = self;
    run_part(node, ops_of[node->layer->kind].backward_data, context, alone, first, end);
}

/* So many images that a thread alone has done with a half before others have with the rest. */
bool dlb_node_has_halves(const dlb_node *node, int images)
{
    return node->small && node->layer->kind == DLB_DENSE && images > DLB_BLOCK_IMAGES &&
           images <= MOST_IMAGES;
}

/* What another thread may have written, and writes next. */
static void add_others_half(const dlb_node *node, const dlb_node_context *context, size_t first,
                            size_t end)
{
    batch_part all = whole_batch(context);
    float *sums = dweights_of(node, &all);
    dlk_tree_sum_range(2, (const float *const[]){sums, node->partial}, first, end, sums);
    dlk_take_over(node->partial + first, (end - first) * sizeof(float));
}

void dlb_node_finish(const dlb_node *node, const dlb_node_context *context, size_t first,
                     size_t end)
{
    if (atomic_load_explicit(&node->apart, memory_order_relaxed))
        add_others_half(node, context, first, end);
}

/* A line that all threads read is written only if that changes it. */
static void leave_apart(dlb_node *node)
{
    if (!atomic_load_explicit(&node->apart, memory_order_relaxed))
        atomic_store_explicit(&node->apart, true, memory_order_relaxed);
}

/* Where sums are not left, the one that ends last adds them, which has both in its cache. */
static void part_backward_weights(void *self, void *context, dlk_team *alone, int first, int end)
{
    dlb_node *node = self;
    run_part(node, ops_of[node->layer->kind].backward_weights, context, alone, first, end);
    if (((const dlb_node_context *)context)->leaves_sums)
        leave_apart(node);
    else if (atomic_fetch_xor_explicit(&node->halves, 1, memory_order_acq_rel))
        add_others_half(node, context, 0, gradients_of(node));
}

/* Correct answers are counted at once, losses added up in the images' order when all are there. */
static void part_loss(dlb_node *node, const batch_part *part, dlk_team *alone, float *gradient)
{
    dlk_softmax_result result;
    loss(node, part, alone, gradient, &result);
    atomic_fetch_add_explicit(&node->correct, result.correct, memory_order_relaxed);
}

static void part_loss_train(void *self, void *context, dlk_team *alone, int first, int end)
{
    batch_part part = part_of(context, alone, first, end);
    part_loss(self, &part, alone, dx_of(self, &part));
}

static void part_loss_evaluate(void *self, void *context, dlk_team *alone, int first, int end)
{
    batch_part part = part_of(context, alone, first, end);
    part_loss(self, &part, alone, NULL);
}

static void gather_losses(void *self, void *context, dlk_team *team)
{
    (void)team;
    dlb_node *node = self;
    const dlb_step *step = ((const dlb_node_context *)context)->step;
    step->result->correct = atomic_exchange(&node->correct, 0);
    step->result->loss_sum = 0;
    for (int image = 0; image < step->n; image++)
        step->result->loss_sum += (double)node->losses[image];
}

/* ---- Added to a program ---- */

static dlb_op make_op(dlb_node *node, dlb_op_fn *run, dlb_op_part_fn *part, dlb_pass pass,
                      const char *what)
{
    dlb_op op = {.phase = pass == DLB_FORWARD ? DLB_PHASE_FORWARD : DLB_PHASE_BACKWARD,
                 .run = run,
                 .part = node->small ? part : NULL,
                 .self = node,
                 .operation = dlb_layer_operation(node->layer->kind, pass)};
    dlb_op_name(&op, node->layer->name, node->layer->name, what);
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
    dlb_op op = make_op(node, run_forward, part_forward, DLB_FORWARD, "forward");
    dlb_op_reads(&op, node->x_buffer);
    dlb_op_reads(&op, parameter_buffer_of(node));
    dlb_op_writes(&op, node->y_buffer);
    dlb_op_writes(&op, node->winner_buffer);
    dlb_program_add(program, &op);
}

void dlb_node_add_backward_data(dlb_node *node, dlb_program *program)
{
    if (!ops_of[node->layer->kind].backward_data || !node->dx)
        return;
    dlb_op op =
        make_op(node, run_backward_data, part_backward_data, DLB_BACKWARD_DATA, "backward data");
    dlb_op_reads(&op, node->dy_buffer);
    dlb_op_reads(&op, node->y_buffer);
    dlb_op_reads(&op, parameter_buffer_of(node));
    dlb_op_reads(&op, node->winner_buffer);
    dlb_op_writes(&op, node->dx_buffer);
    dlb_program_add(program, &op);
}

void dlb_node_add_backward_weights(dlb_node *node, int batch, dlb_program *program)
{
    if (node->trunk || !ops_of[node->layer->kind].backward_weights)
        return;
    dlb_op op = make_op(node, run_backward_weights, part_backward_weights, DLB_BACKWARD_WEIGHTS,
                        "backward weights");
    op.halves = dlb_node_has_halves(node, batch);
    if (!op.halves)
        op.part = NULL;
    op.fills = node->layer->kind == DLB_DENSE && !op.halves;
    dlb_op_reads(&op, node->dy_buffer);
    dlb_op_reads(&op, node->x_buffer);
    dlb_op_writes(&op, node->partial_buffer);
    dlb_op_writes(&op, node->block->gradient_buffer);
    dlb_program_add(program, &op);
}

void dlb_node_add_loss(dlb_node *node, dlb_program *program, bool train)
{
    dlb_op op = make_op(node, train ? run_loss_train : run_loss_evaluate,
                        train ? part_loss_train : part_loss_evaluate, DLB_FORWARD, "and loss");
    op.gather = gather_losses;
    dlb_op_reads(&op, node->x_buffer);
    if (train)
        dlb_op_writes(&op, node->dx_buffer);
    dlb_program_add(program, &op);
}
