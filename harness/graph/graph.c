#include "graph/graph.h"

#include "base/mem.h"
#include "graph/cost.h"
#include "graph/node.h"
#include "graph/shape.h"

typedef struct buffer {
    size_t bytes; /* 0: an operand that lies in another buffer */
    void *memory;
} buffer;

struct dlb_graph {
    const dlb_model *model;
    dlk_kernels kernels;
    int batch;
    int node_count;
    dlb_node *nodes; /* one a layer */
    int block_count;
    dlb_block *blocks;
    size_t size;       /* floats of the flat arrays */
    float *parameters; /* from seal on */
    size_t scratch_floats;
    int buffer_count;
    size_t buffer_capacity;
    buffer *buffers;
    dlb_program gradients, step, evaluate;
};

enum { NO_BUFFER = -1 };

/* ---- Buffers: planned first, then allocated together ---- */

static int plan(dlb_graph *g, size_t bytes)
{
    g->buffers =
        dlb_grow(g->buffers, &g->buffer_capacity, (size_t)g->buffer_count + 1, sizeof *g->buffers);
    g->buffers[g->buffer_count].bytes = bytes;
    return g->buffer_count++;
}

static int plan_floats(dlb_graph *g, size_t count)
{
    return plan(g, count * sizeof(float));
}

static int plan_tensor(dlb_graph *g, dlb_shape shape)
{
    return plan_floats(g, (size_t)g->batch * (size_t)dlb_shape_size(shape));
}

static size_t planned_bytes(const dlb_graph *g)
{
    size_t bytes = 0;
    for (int i = 0; i < g->buffer_count; i++)
        bytes += g->buffers[i].bytes;
    return bytes;
}

static int allocate(dlb_graph *g, size_t limit, dlb_error *err)
{
    size_t bytes = planned_bytes(g);
    bool fits = limit == 0 || bytes <= limit;
    for (int i = 0; i < g->buffer_count && fits; i++)
        if (g->buffers[i].bytes)
            fits = (g->buffers[i].memory = dlb_try_alloc(g->buffers[i].bytes, 1)) != NULL;
    if (fits)
        return 0;
    return dlb_fail(err, DLB_BAD_INPUT,
                    "%s with batch = %d needs %.1f GB of memory, which is more than there is; take "
                    "a smaller batch",
                    g->model->name, g->batch, 1e-9 * (double)bytes);
}

static void *memory_of(const dlb_graph *g, int index)
{
    return index == NO_BUFFER ? NULL : g->buffers[index].memory;
}

/* ---- Parameters ---- */

static void fans(const dlb_layer *layer, int *in, int *out)
{
    int field = layer->kind == DLB_CONV2D ? layer->kernel[0] * layer->kernel[1] : 1;
    *in = field * layer->in.c;
    *out = field * layer->out.c;
}

static void plan_blocks(dlb_graph *g)
{
    g->blocks = dlb_alloc((size_t)g->node_count, sizeof *g->blocks);
    for (int i = 0; i < g->node_count; i++) {
        const dlb_layer *layer = &g->model->layers[i];
        if (layer->weights == 0)
            continue;
        int index = g->block_count++;
        dlb_block *b = &g->blocks[index];
        *b = (dlb_block){.layer = layer,
                         .index = index,
                         .offset = g->size,
                         .weights = layer->weights,
                         .biases = layer->biases,
                         .parameter_buffer = plan(g, 0),
                         .gradient_buffer = plan(g, 0)};
        fans(layer, &b->fan_in, &b->fan_out);
        size_t count = (size_t)layer->weights + (size_t)layer->biases;
        g->size += (count + DLB_BLOCK_GRAIN - 1) / DLB_BLOCK_GRAIN * DLB_BLOCK_GRAIN;
    }
}

/* ---- Values and gradients ---- */

/*
 * ReLU and dropout work in place. That is right for backward, too: ReLU looks only at whether its
 * output is positive, which a later dropout changes only where the gradient is zero already; and
 * dropout draws its mask again.
 */
static bool works_in_place(const dlb_layer *layer)
{
    return layer->kind == DLB_RELU || layer->kind == DLB_DROPOUT || layer->kind == DLB_DROPOUT2D ||
           layer->kind == DLB_FLATTEN;
}

/* The batch is not ours to change; flatten does not change it. */
static bool may_overwrite_input(const dlb_node *node)
{
    return node->x_buffer != NO_BUFFER || node->layer->kind == DLB_FLATTEN;
}

static void plan_values(dlb_graph *g, dlb_node *node, const dlb_node *before)
{
    node->x_buffer = before ? before->y_buffer : NO_BUFFER;
    if (node->layer->kind == DLB_SOFTMAX)
        return;
    if (works_in_place(node->layer) && may_overwrite_input(node))
        node->y_buffer = node->x_buffer;
    else
        node->y_buffer = plan_tensor(g, node->layer->out);
}

/* From the last layer down: dy is what the layer above calls dx. */
static void plan_gradients(dlb_graph *g)
{
    int first = dlb_model_first_trained(g->model);
    for (int i = g->node_count - 1; i >= first; i--) {
        dlb_node *node = &g->nodes[i];
        if (i + 1 < g->node_count)
            node->dy_buffer = g->nodes[i + 1].dx_buffer;
        if (i == first)
            break;
        node->dx_buffer =
            works_in_place(node->layer) ? node->dy_buffer : plan_tensor(g, node->layer->in);
    }
}

static void reserve_scratch(dlb_graph *g, size_t floats)
{
    if (floats > g->scratch_floats)
        g->scratch_floats = floats;
}

static void plan_extras(dlb_graph *g, dlb_node *node)
{
    const dlb_layer *layer = node->layer;
    size_t batch = (size_t)g->batch;
    dlk_conv2d conv2d = dlb_layer_conv2d(layer, g->batch);
    dlk_dense dense = dlb_layer_dense(layer, g->batch);
    if (layer->kind == DLB_CONV2D) {
        size_t groups = (size_t)dlk_grad_groups(g->batch);
        reserve_scratch(g, dlk_conv2d_scratch(&conv2d));
        node->partial_buffer =
            plan_floats(g, groups * ((size_t)layer->weights + (size_t)layer->biases));
    }
    if (layer->kind == DLB_DENSE)
        reserve_scratch(g, dlk_dense_scratch(&dense));
    if (layer->kind == DLB_MAXPOOL)
        node->winner_buffer = plan(g, batch * (size_t)dlb_shape_size(layer->out));
    if (layer->kind == DLB_SOFTMAX)
        node->losses_buffer = plan_floats(g, batch);
}

static void plan_nodes(dlb_graph *g)
{
    g->nodes = dlb_alloc((size_t)g->node_count, sizeof *g->nodes);
    for (int i = 0; i < g->node_count; i++) {
        dlb_node *node = &g->nodes[i];
        *node = (dlb_node){.layer = &g->model->layers[i],
                           .index = i,
                           .x_buffer = NO_BUFFER,
                           .y_buffer = NO_BUFFER,
                           .dx_buffer = NO_BUFFER,
                           .dy_buffer = NO_BUFFER,
                           .winner_buffer = NO_BUFFER,
                           .partial_buffer = NO_BUFFER,
                           .losses_buffer = NO_BUFFER};
        plan_values(g, node, i ? node - 1 : NULL);
        plan_extras(g, node);
    }
    plan_gradients(g);
}

/* ---- From planned to real ---- */

static void bind_nodes(dlb_graph *g)
{
    int block = 0;
    for (int i = 0; i < g->node_count; i++) {
        dlb_node *node = &g->nodes[i];
        node->x = memory_of(g, node->x_buffer);
        node->y = memory_of(g, node->y_buffer);
        node->dx = memory_of(g, node->dx_buffer);
        node->dy = memory_of(g, node->dy_buffer);
        node->partial = memory_of(g, node->partial_buffer);
        node->winner = memory_of(g, node->winner_buffer);
        node->losses = memory_of(g, node->losses_buffer);
        if (node->layer->weights)
            node->block = &g->blocks[block++];
    }
}

/* ---- Programs ---- */

/* Dropout does nothing in evaluation, so in place there is nothing to do. */
static bool is_idle_in_evaluation(const dlb_node *node)
{
    bool dropout = node->layer->kind == DLB_DROPOUT || node->layer->kind == DLB_DROPOUT2D;
    return dropout && node->y == node->x;
}

static void bind_parameters(dlb_graph *g, float *parameters)
{
    g->parameters = parameters;
    for (int i = 0; i < g->node_count; i++) {
        dlb_node *node = &g->nodes[i];
        if (!node->block)
            continue;
        node->weights = parameters + node->block->offset;
        node->bias = node->weights + node->block->weights;
    }
}

static void write_evaluation(dlb_graph *g)
{
    int last = g->node_count - 1;
    for (int i = 0; i < last; i++)
        if (!is_idle_in_evaluation(&g->nodes[i]))
            dlb_node_add_forward(&g->nodes[i], &g->evaluate);
    dlb_node_add_loss(&g->nodes[last], &g->evaluate, false);
}

static void write_training(dlb_graph *g, dlb_program *program, dlb_graph_add_fn *add, void *arg)
{
    int last = g->node_count - 1;
    bool ends_step = program == &g->step;
    for (int i = 0; i < last; i++)
        dlb_node_add_forward(&g->nodes[i], program);
    dlb_node_add_loss(&g->nodes[last], program, true);
    for (int i = last - 1; i >= dlb_model_first_trained(g->model); i--) {
        dlb_node_add_backward(&g->nodes[i], program);
        if (add && g->nodes[i].block)
            add(arg, program, g->nodes[i].block, ends_step);
    }
    if (add)
        add(arg, program, NULL, ends_step);
    dlb_program_seal(program);
}

int dlb_graph_create(dlb_graph **created, const dlb_model *model, int batch,
                     const dlk_kernels *kernels, size_t memory_limit, dlb_error *err)
{
    dlb_graph *g = dlb_alloc(1, sizeof *g);
    g->model = model;
    g->kernels = *kernels;
    g->batch = batch;
    g->node_count = model->layer_count;
    dlb_program_init(&g->gradients);
    dlb_program_init(&g->step);
    dlb_program_init(&g->evaluate);
    plan_blocks(g);
    plan_nodes(g);
    int status = allocate(g, memory_limit, err);
    if (status < 0) {
        dlb_graph_free(g);
        return status;
    }
    bind_nodes(g);
    *created = g;
    return 0;
}

void dlb_graph_free(dlb_graph *g)
{
    if (!g)
        return;
    dlb_program_release(&g->evaluate);
    dlb_program_release(&g->step);
    dlb_program_release(&g->gradients);
    for (int i = 0; i < g->buffer_count; i++)
        free(g->buffers[i].memory);
    free(g->buffers);
    free(g->nodes);
    free(g->blocks);
    free(g);
}

/* ---- Access ---- */

size_t dlb_graph_scratch_floats(const dlb_graph *graph)
{
    return graph->scratch_floats;
}

size_t dlb_graph_size(const dlb_graph *graph)
{
    return graph->size;
}

float *dlb_graph_parameters(dlb_graph *graph)
{
    return graph->parameters;
}

int dlb_graph_block_count(const dlb_graph *graph)
{
    return graph->block_count;
}

const dlb_block *dlb_graph_block(const dlb_graph *graph, int index)
{
    return &graph->blocks[index];
}

/* ---- Running ---- */

int dlb_graph_new_operand(dlb_graph *graph)
{
    return plan(graph, 0);
}

void dlb_graph_seal(dlb_graph *graph, float *parameters, dlb_graph_add_fn *add, void *arg)
{
    bind_parameters(graph, parameters);
    write_training(graph, &graph->gradients, add, arg);
    write_training(graph, &graph->step, add, arg);
    write_evaluation(graph);
    dlb_program_seal(&graph->evaluate);
}

static void run_program(dlb_graph *g, dlb_program *program, dlb_pool *pool, const dlb_step *step,
                        dlb_trace *trace)
{
    dlb_node_context context = {
        .kernels = &g->kernels, .step = step, .evaluating = program == &g->evaluate};
    *step->result = (dlk_softmax_result){0};
    dlb_program_run(program, pool, &context, trace);
}

void dlb_graph_train(dlb_graph *graph, dlb_pool *pool, const dlb_step *step, dlb_trace *trace)
{
    run_program(graph, step->ends_step ? &graph->step : &graph->gradients, pool, step, trace);
}

void dlb_graph_evaluate(dlb_graph *graph, dlb_pool *pool, const dlb_step *step, dlb_trace *trace)
{
    run_program(graph, &graph->evaluate, pool, step, trace);
}

double dlb_graph_take_busy_s(dlb_graph *graph, dlb_phase phase)
{
    double busy_s = graph->gradients.busy_s[phase] + graph->step.busy_s[phase];
    graph->gradients.busy_s[phase] = graph->step.busy_s[phase] = 0;
    return busy_s;
}
