#include "graph/graph.h"

#include "base/mem.h"
#include "graph/cost.h"
#include "graph/node.h"
#include "graph/shape.h"

struct dlb_graph {
    const dlb_model *model;
    dlk_kernels kernels;
    int batch;
    int node_count;
    dlb_node *nodes; /* one a layer */
    int block_count;
    dlb_block *blocks;
    size_t size; /* floats of the flat arrays */
    float *parameters, *gradients;
    size_t scratch_floats;
    int buffer_count;    /* operand numbers given out */
    size_t memory_count; /* what the nodes point into */
    size_t memory_capacity;
    void **memory;
    dlb_program train, evaluate;
};

/* Parameters of a layer begin on a cache line. */
enum { BLOCK_ALIGNMENT = DLB_CACHE_LINE / (int)sizeof(float) };

static void *plan(dlb_graph *g, size_t count, size_t size)
{
    g->memory = dlb_grow(g->memory, &g->memory_capacity, g->memory_count + 1, sizeof *g->memory);
    return g->memory[g->memory_count++] = dlb_alloc(count, size);
}

static float *plan_tensor(dlb_graph *g, dlb_shape shape)
{
    return plan(g, (size_t)g->batch * (size_t)dlb_shape_size(shape), sizeof(float));
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
        dlb_block *b = &g->blocks[g->block_count++];
        *b = (dlb_block){.layer = layer,
                         .offset = g->size,
                         .weights = layer->weights,
                         .biases = layer->biases,
                         .parameter_buffer = g->buffer_count++,
                         .gradient_buffer = g->buffer_count++};
        fans(layer, &b->fan_in, &b->fan_out);
        size_t count = (size_t)layer->weights + (size_t)layer->biases;
        g->size += (count + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT;
    }
    g->parameters = plan(g, g->size, sizeof(float));
    g->gradients = plan(g, g->size, sizeof(float));
}

static void attach_block(dlb_graph *g, dlb_node *node, const dlb_block *block)
{
    node->weights = g->parameters + block->offset;
    node->bias = node->weights + block->weights;
    node->dweights = g->gradients + block->offset;
    node->dbias = node->dweights + block->weights;
    node->parameter_buffer = block->parameter_buffer;
    node->gradient_buffer = block->gradient_buffer;
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

static void plan_values(dlb_graph *g, dlb_node *node, const dlb_node *before)
{
    node->x = before ? before->y : NULL;
    node->x_buffer = before ? before->y_buffer : -1;
    if (node->layer->kind == DLB_SOFTMAX)
        return;
    bool keep_input = !node->x && node->layer->kind != DLB_FLATTEN; /* the batch is not ours */
    if (works_in_place(node->layer) && !keep_input) {
        node->y = node->x;
        node->y_buffer = node->x_buffer;
    } else {
        node->y = plan_tensor(g, node->layer->out);
        node->y_buffer = g->buffer_count++;
    }
}

/* From the last layer down: dy is what the layer above calls dx. */
static void plan_gradients(dlb_graph *g)
{
    int first = dlb_model_first_trained(g->model);
    for (int i = g->node_count - 1; i >= first; i--) {
        dlb_node *node = &g->nodes[i];
        if (i + 1 < g->node_count) {
            node->dy = g->nodes[i + 1].dx;
            node->dy_buffer = g->nodes[i + 1].dx_buffer;
        }
        if (i == first)
            break;
        if (works_in_place(node->layer)) {
            node->dx = node->dy;
            node->dx_buffer = node->dy_buffer;
        } else {
            node->dx = plan_tensor(g, node->layer->in);
            node->dx_buffer = g->buffer_count++;
        }
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
    if (layer->kind == DLB_CONV2D) {
        size_t groups = (size_t)dlk_grad_groups(g->batch);
        dlk_conv2d s = dlb_layer_conv2d(layer, g->batch);
        reserve_scratch(g, dlk_conv2d_scratch(&s));
        node->partial =
            plan(g, groups * ((size_t)layer->weights + (size_t)layer->biases), sizeof(float));
    }
    if (layer->kind == DLB_DENSE) {
        dlk_dense s = dlb_layer_dense(layer, g->batch);
        reserve_scratch(g, dlk_dense_scratch(&s));
    }
    if (layer->kind == DLB_MAXPOOL) {
        node->winner = plan(g, batch * (size_t)dlb_shape_size(layer->out), 1);
        node->winner_buffer = g->buffer_count++;
    }
    if (layer->kind == DLB_SOFTMAX)
        node->losses = plan(g, batch, sizeof(float));
}

static void plan_nodes(dlb_graph *g)
{
    g->nodes = dlb_alloc((size_t)g->node_count, sizeof *g->nodes);
    int block = 0;
    for (int i = 0; i < g->node_count; i++) {
        dlb_node *node = &g->nodes[i];
        *node = (dlb_node){.layer = &g->model->layers[i],
                           .index = i,
                           .x_buffer = -1,
                           .y_buffer = -1,
                           .dx_buffer = -1,
                           .dy_buffer = -1,
                           .parameter_buffer = -1,
                           .gradient_buffer = -1,
                           .winner_buffer = -1};
        if (node->layer->weights)
            attach_block(g, node, &g->blocks[block++]);
        plan_values(g, node, i ? node - 1 : NULL);
        plan_extras(g, node);
    }
    plan_gradients(g);
}

/* ---- Programs ---- */

/* Dropout does nothing in evaluation, so in place there is nothing to do. */
static bool is_idle_in_evaluation(const dlb_node *node)
{
    bool dropout = node->layer->kind == DLB_DROPOUT || node->layer->kind == DLB_DROPOUT2D;
    return dropout && node->y == node->x;
}

static void write_programs(dlb_graph *g)
{
    dlb_node *loss = &g->nodes[g->node_count - 1];
    for (int i = 0; i < g->node_count - 1; i++) {
        dlb_node_add_forward(&g->nodes[i], &g->train);
        if (!is_idle_in_evaluation(&g->nodes[i]))
            dlb_node_add_forward(&g->nodes[i], &g->evaluate);
    }
    dlb_node_add_loss(loss, &g->train, true);
    dlb_node_add_loss(loss, &g->evaluate, false);
    for (int i = g->node_count - 2; i >= dlb_model_first_trained(g->model); i--)
        dlb_node_add_backward(&g->nodes[i], &g->train);
}

int dlb_graph_create(dlb_graph **created, const dlb_model *model, int batch,
                     const dlk_kernels *kernels, dlb_error *err)
{
    for (int i = 0; i < model->layer_count; i++) {
        long long floats = (long long)batch * dlb_shape_size(model->layers[i].out);
        if (floats > 1LL << 31)
            return dlb_fail(err, DLB_BAD_INPUT,
                            "batch = %d needs %lld numbers for the output of %s; take a smaller "
                            "batch",
                            batch, floats, model->layers[i].name);
    }
    dlb_graph *g = dlb_alloc(1, sizeof *g);
    g->model = model;
    g->kernels = *kernels;
    g->batch = batch;
    g->node_count = model->layer_count;
    dlb_program_init(&g->train);
    dlb_program_init(&g->evaluate);
    plan_blocks(g);
    plan_nodes(g);
    write_programs(g);
    *created = g;
    return 0;
}

void dlb_graph_free(dlb_graph *g)
{
    if (!g)
        return;
    dlb_program_release(&g->evaluate);
    dlb_program_release(&g->train);
    for (size_t i = 0; i < g->memory_count; i++)
        free(g->memory[i]);
    free(g->memory);
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

float *dlb_graph_gradients(dlb_graph *graph)
{
    return graph->gradients;
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

void dlb_graph_add_update(dlb_graph *graph, const dlb_op *op)
{
    dlb_program_add(&graph->train, op);
}

void dlb_graph_seal(dlb_graph *graph)
{
    dlb_program_seal(&graph->train);
    dlb_program_seal(&graph->evaluate);
}

static dlk_softmax_result run_program(dlb_graph *g, dlb_program *program, dlb_pool *pool,
                                      const dlb_step *step, dlb_trace *trace)
{
    dlb_node_context context = {
        .kernels = &g->kernels, .step = step, .evaluating = program == &g->evaluate};
    dlb_program_run(program, pool, &context, trace);
    return context.result;
}

dlk_softmax_result dlb_graph_train(dlb_graph *graph, dlb_pool *pool, const dlb_step *step,
                                   dlb_trace *trace)
{
    return run_program(graph, &graph->train, pool, step, trace);
}

dlk_softmax_result dlb_graph_evaluate(dlb_graph *graph, dlb_pool *pool, const dlb_step *step,
                                      dlb_trace *trace)
{
    return run_program(graph, &graph->evaluate, pool, step, trace);
}

double dlb_graph_take_busy_s(dlb_graph *graph, dlb_phase phase)
{
    double busy_s = graph->train.busy_s[phase];
    graph->train.busy_s[phase] = 0;
    return busy_s;
}
