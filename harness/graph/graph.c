#include "graph/graph.h"

#include "base/mem.h"
#include "graph/buffers.h"
#include "graph/copies.h"
#include "graph/cost.h"
#include "graph/fusion.h"
#include "graph/node.h"
#include "graph/shape.h"
#include "graph/trunk.h"

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
    dlb_copies copies; /* of those */
    bool expects_updates;
    const dlb_node_context *running; /* NULL between runs */
    size_t scratch_floats, shared_floats;
    dlb_buffers buffers;
    int trunk_count;
    dlb_trunk **trunks; /* in order */
    dlb_program gradients, step, evaluate;
};

/* ---- Buffers ---- */

/* With slack behind it, which kernels of stages may read. */
static int plan_tensor(dlb_graph *g, dlb_shape shape)
{
    size_t floats = (size_t)g->batch * (size_t)dlb_shape_size(shape);
    return dlb_buffers_plan_floats(&g->buffers, floats + DLK_SLACK);
}

static int allocate(dlb_graph *g, size_t limit, dlb_error *err)
{
    if (dlb_buffers_allocate(&g->buffers, limit))
        return 0;
    return dlb_fail(err, DLB_BAD_INPUT,
                    "%s with batch = %d needs %.1f GB of memory, which is more than there is; take "
                    "a smaller batch",
                    g->model->name, g->batch, 1e-9 * (double)dlb_buffers_bytes(&g->buffers));
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
                         .parameter_buffer = dlb_buffers_plan_operand(&g->buffers),
                         .gradient_buffer = dlb_buffers_plan_operand(&g->buffers)};
        fans(layer, &b->fan_in, &b->fan_out);
        size_t count = (size_t)layer->weights + (size_t)layer->biases;
        g->size += (count + DLB_BLOCK_GRAIN - 1) / DLB_BLOCK_GRAIN * DLB_BLOCK_GRAIN;
    }
}

/* ---- Trunks ---- */

static void reserve(size_t *most, size_t floats)
{
    if (floats > *most)
        *most = floats;
}

static void plan_trunk(dlb_graph *g, const dlb_stage *stages, int count)
{
    dlb_trunk *trunk =
        dlb_trunk_create(g->model, &g->kernels, stages, count, g->batch, &g->buffers);
    g->trunks[g->trunk_count++] = trunk;
    for (int i = dlb_trunk_first(trunk); i < dlb_trunk_end(trunk); i++)
        g->nodes[i].trunk = trunk;
    reserve(&g->scratch_floats, dlb_trunk_scratch_floats(trunk));
}

static void plan_trunks(dlb_graph *g)
{
    dlb_stage stages[DLB_TRUNK_STAGES];
    g->trunks = dlb_alloc((size_t)g->node_count, sizeof(dlb_trunk *));
    for (int i = 0; i < g->node_count; i++) {
        int count = dlb_trunk_stages(g->model, i, &g->kernels, stages);
        if (count == 0)
            continue;
        plan_trunk(g, stages, count);
        i = stages[count - 1].end - 1;
    }
}

static bool begins_trunk(const dlb_node *node)
{
    return node->trunk && node->index == dlb_trunk_first(node->trunk);
}

static bool ends_trunk(const dlb_node *node)
{
    return node->trunk && node->index == dlb_trunk_end(node->trunk) - 1;
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
    return node->x_buffer != DLB_NO_BUFFER || node->layer->kind == DLB_FLATTEN;
}

static void plan_values(dlb_graph *g, dlb_node *node, const dlb_node *before)
{
    if (!node->trunk || begins_trunk(node))
        node->x_buffer = before ? before->y_buffer : DLB_NO_BUFFER;
    if (node->layer->kind == DLB_SOFTMAX || (node->trunk && !ends_trunk(node)))
        return;
    if (!node->trunk && works_in_place(node->layer) && may_overwrite_input(node))
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
        if (node->trunk && !begins_trunk(node))
            continue;
        node->dx_buffer =
            works_in_place(node->layer) ? node->dy_buffer : plan_tensor(g, node->layer->in);
    }
}

static void plan_extras(dlb_graph *g, dlb_node *node)
{
    const dlb_layer *layer = node->layer;
    size_t batch = (size_t)g->batch;
    dlk_conv2d conv2d = dlb_layer_conv2d(layer, g->batch);
    dlk_dense dense = dlb_layer_dense(layer, g->batch);
    node->small = dlb_layer_is_small(layer, &g->kernels);
    if (node->small)
        reserve(&g->scratch_floats, dlb_node_part_scratch(layer, g->batch));
    if (layer->kind == DLB_CONV2D) {
        size_t groups = (size_t)dlk_grad_groups(g->batch);
        reserve(&g->scratch_floats, dlk_conv2d_scratch(&conv2d));
        node->partial_buffer = dlb_buffers_plan_floats(
            &g->buffers, groups * ((size_t)layer->weights + (size_t)layer->biases));
    }
    if (layer->kind == DLB_DENSE) {
        reserve(&g->scratch_floats, dlk_dense_scratch());
        reserve(&g->shared_floats, dlk_dense_shared(&dense));
        if (node->small)
            node->partial_buffer = dlb_buffers_plan_floats(&g->buffers, (size_t)layer->weights +
                                                                            (size_t)layer->biases);
    }
    if (layer->kind == DLB_MAXPOOL)
        node->winner_buffer =
            dlb_buffers_plan(&g->buffers, batch * (size_t)dlb_shape_size(layer->out));
    if (layer->kind == DLB_SOFTMAX)
        node->losses_buffer = dlb_buffers_plan_floats(&g->buffers, batch);
}

static void plan_nodes(dlb_graph *g)
{
    g->nodes = dlb_alloc((size_t)g->node_count, sizeof *g->nodes);
    for (int i = 0; i < g->node_count; i++) {
        dlb_node *node = &g->nodes[i];
        *node = (dlb_node){.layer = &g->model->layers[i],
                           .index = i,
                           .x_buffer = DLB_NO_BUFFER,
                           .y_buffer = DLB_NO_BUFFER,
                           .dx_buffer = DLB_NO_BUFFER,
                           .dy_buffer = DLB_NO_BUFFER,
                           .winner_buffer = DLB_NO_BUFFER,
                           .partial_buffer = DLB_NO_BUFFER,
                           .losses_buffer = DLB_NO_BUFFER};
    }
    plan_trunks(g);
    for (int i = 0; i < g->node_count; i++) {
        plan_values(g, &g->nodes[i], i ? &g->nodes[i - 1] : NULL);
        if (!g->nodes[i].trunk)
            plan_extras(g, &g->nodes[i]);
    }
    plan_gradients(g);
}

/* ---- From planned to real ---- */

static void bind_nodes(dlb_graph *g)
{
    int block = 0;
    for (int i = 0; i < g->node_count; i++) {
        dlb_node *node = &g->nodes[i];
        node->x = dlb_buffers_memory(&g->buffers, node->x_buffer);
        node->y = dlb_buffers_memory(&g->buffers, node->y_buffer);
        node->dx = dlb_buffers_memory(&g->buffers, node->dx_buffer);
        node->dy = dlb_buffers_memory(&g->buffers, node->dy_buffer);
        node->partial = dlb_buffers_memory(&g->buffers, node->partial_buffer);
        node->winner = dlb_buffers_memory(&g->buffers, node->winner_buffer);
        node->losses = dlb_buffers_memory(&g->buffers, node->losses_buffer);
        if (node->layer->weights)
            node->block = &g->blocks[block++];
    }
    for (int i = 0; i < g->trunk_count; i++)
        dlb_trunk_bind(g->trunks[i], &g->buffers, g->nodes);
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
    dlb_copies_init(&g->copies, parameters, g->size);
    for (int i = 0; i < g->node_count; i++) {
        dlb_node *node = &g->nodes[i];
        if (!node->block)
            continue;
        node->weights = parameters + node->block->offset;
        node->bias = node->weights + node->block->weights;
    }
}

/* What the caller adds to a program. */
typedef struct additions {
    dlb_graph_add_fn *add; /* may be NULL */
    void *arg;
} additions;

static void write_addition(dlb_graph *g, dlb_program *program, const additions *more,
                           dlb_graph_place place, const dlb_block *block)
{
    if (more->add)
        more->add(more->arg, program, place, block, program == &g->step);
}

/* A trunk uses the parameters of all its layers at once. */
static void write_use(dlb_graph *g, dlb_program *program, const additions *more,
                      const dlb_node *node)
{
    int end = begins_trunk(node) ? dlb_trunk_end(node->trunk) : node->index + 1;
    for (int i = node->index; i < end; i++)
        if (g->nodes[i].block)
            write_addition(g, program, more, DLB_BEFORE_USE, g->nodes[i].block);
}

static void write_forward(dlb_graph *g, dlb_program *program, const additions *more)
{
    for (int i = 0; i < g->node_count - 1; i++) {
        dlb_node *node = &g->nodes[i];
        if (!node->trunk || begins_trunk(node))
            write_use(g, program, more, node);
        if (begins_trunk(node))
            dlb_trunk_add_forward(node->trunk, program);
        else if (!node->trunk && !(program == &g->evaluate && is_idle_in_evaluation(node)))
            dlb_node_add_forward(node, program);
    }
}

/* A layer's gradients are final, or, where a trunk ends, those of all its layers. */
static void write_gradients_final(dlb_graph *g, dlb_program *program, const additions *more,
                                  const dlb_node *node)
{
    if (node->trunk && !ends_trunk(node))
        return;
    int first = node->trunk ? dlb_trunk_first(node->trunk) : node->index;
    for (int i = node->index; i >= first; i--)
        if (g->nodes[i].block)
            write_addition(g, program, more, DLB_AFTER_GRADIENTS, g->nodes[i].block);
}

/* A trunk has all its gradients in one operation. */
static void write_data_gradient(dlb_node *node, dlb_program *program)
{
    if (ends_trunk(node))
        dlb_trunk_add_backward(node->trunk, program);
    else if (!node->trunk)
        dlb_node_add_backward_data(node, program);
}

/* The lowest of the small layers that follow each other down from this one; itself, if alone. */
static int small_down_to(const dlb_graph *g, int from)
{
    int i = from;
    while (i > dlb_model_first_trained(g->model) && g->nodes[i].small && g->nodes[i - 1].small)
        i--;
    return i;
}

/* Layers [high … low], the higher one first. */
typedef struct layer_run {
    int high, low;
} layer_run;

static void write_data_gradients(dlb_graph *g, dlb_program *program, layer_run layers)
{
    for (int i = layers.high; i >= layers.low; i--)
        write_data_gradient(&g->nodes[i], program);
}

/* And what follows as soon as they are there. */
static void write_weight_gradients(dlb_graph *g, dlb_program *program, const additions *more,
                                   layer_run layers)
{
    for (int i = layers.high; i >= layers.low; i--) {
        dlb_node_add_backward_weights(&g->nodes[i], g->batch, program);
        write_gradients_final(g, program, more, &g->nodes[i]);
    }
}

/*
 * Gradients of data come first, because the layers below wait for them, and nothing for the
 * weights'. Small layers have theirs in a row, so that they can be run together; the weights' come
 * right before those of the layers below, so that all can fill the gaps of a trunk.
 */
static void write_backward(dlb_graph *g, dlb_program *program, const additions *more)
{
    layer_run due = {-1, 0}; /* none */
    int bottom = dlb_model_first_trained(g->model);
    for (int i = g->node_count - 2; i >= bottom;) {
        layer_run layers = {i, small_down_to(g, i)};
        if (!g->nodes[i].trunk)
            write_data_gradients(g, program, layers);
        write_weight_gradients(g, program, more, due);
        if (g->nodes[i].trunk)
            write_data_gradients(g, program, layers);
        due = layers;
        i = layers.low - 1;
    }
    write_weight_gradients(g, program, more, due);
    write_addition(g, program, more, DLB_AT_END, NULL);
}

static void write_program(dlb_graph *g, dlb_program *program, const additions *more)
{
    bool train = program != &g->evaluate;
    write_forward(g, program, more);
    dlb_node_add_loss(&g->nodes[g->node_count - 1], program, train);
    if (train)
        write_backward(g, program, more);
    dlb_program_seal(program, g->batch);
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
    dlb_copies_release(&g->copies);
    dlb_buffers_release(&g->buffers);
    for (int i = 0; i < g->trunk_count; i++)
        dlb_trunk_free(g->trunks[i]);
    free(g->trunks);
    free(g->nodes);
    free(g->blocks);
    free(g);
}

/* ---- Access ---- */

size_t dlb_graph_scratch_floats(const dlb_graph *graph)
{
    return graph->scratch_floats;
}

int dlb_graph_make_room(dlb_graph *graph, int threads, int teams, dlb_error *err)
{
    bool room =
        !graph->expects_updates || teams > 1 || dlb_copies_make_room(&graph->copies, threads);
    for (int i = 0; i < graph->trunk_count && room; i++)
        room = dlb_trunk_try_room(graph->trunks[i], threads);
    if (room)
        return 0;
    return dlb_fail(err, DLB_FAIL,
                    "there is no memory for the weights that each of %d threads has for itself; "
                    "take fewer threads",
                    threads);
}

size_t dlb_graph_shared_floats(const dlb_graph *graph)
{
    return graph->shared_floats;
}

size_t dlb_graph_size(const dlb_graph *graph)
{
    return graph->size;
}

float *dlb_graph_parameters(dlb_graph *graph)
{
    graph->copies.current = false;
    return graph->parameters;
}

float *dlb_graph_lend_parameters(dlb_graph *graph)
{
    dlb_copies_give_up(&graph->copies);
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

const dlb_block *dlb_graph_block_at(const dlb_graph *graph, size_t offset)
{
    const dlb_block *block = &graph->blocks[graph->block_count - 1];
    while (block->offset > offset)
        block--;
    return block;
}

/* ---- Running ---- */

int dlb_graph_new_operand(dlb_graph *graph)
{
    return dlb_buffers_plan_operand(&graph->buffers);
}

void dlb_graph_expect_updates(dlb_graph *graph)
{
    graph->expects_updates = true;
}

static const dlb_node *node_of(const dlb_graph *graph, const dlb_block *block)
{
    return &graph->nodes[block->layer - graph->model->layers];
}

bool dlb_graph_has_parts(const dlb_graph *graph, const dlb_block *block)
{
    const dlb_trunk *trunk = node_of(graph, block)->trunk;
    return !trunk || !dlb_trunk_leaves_sums(trunk);
}

void dlb_graph_finish(dlb_graph *graph, size_t first, size_t end)
{
    const dlb_block *block = dlb_graph_block_at(graph, first);
    const dlb_node *node = node_of(graph, block);
    if (node->trunk)
        dlb_trunk_finish(node->trunk, graph->running, block);
    else
        dlb_node_finish(node, graph->running, first - block->offset, end - block->offset);
}

void dlb_graph_hand_out(const dlb_graph *graph, size_t first, size_t end)
{
    dlb_copies_hand_out(&graph->copies, first, end - first);
}

void dlb_graph_seal(dlb_graph *graph, float *parameters, dlb_graph_add_fn *add, void *arg)
{
    const additions more = {add, arg}, none = {0};
    bind_parameters(graph, parameters);
    write_program(graph, &graph->gradients, &more);
    write_program(graph, &graph->step, &more);
    write_program(graph, &graph->evaluate, &none);
}

bool dlb_graph_takes_pixels(const dlb_model *model, const dlk_kernels *kernels)
{
    if (model->layers[0].kind != DLB_CONV2D)
        return false;
    dlb_stage first = dlb_stage_at(model, 0, kernels);
    return dlb_stage_is_fused(&first);
}

static void run_program(dlb_graph *g, dlb_program *program, dlb_pool *pool, const dlb_step *step,
                        dlb_trace *trace)
{
    dlb_node_context context = {.kernels = &g->kernels,
                                .step = step,
                                .blocks = &program->blocks,
                                .copies = &g->copies,
                                .leaves_sums = g->expects_updates && program == &g->step,
                                .evaluating = program == &g->evaluate};
    *step->result = (dlk_softmax_result){0};
    dlb_copies_begin(&g->copies, !step->same_weights);
    g->running = &context;
    dlb_program_run(program, pool, &context, step->n, trace);
    g->running = NULL;
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
