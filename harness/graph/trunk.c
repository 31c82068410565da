#include "graph/trunk.h"

#include <stdatomic.h>

#include "base/mem.h"
#include "dlk/cost.h"
#include "dlk/own.h"
#include "graph/shape.h"

/*
 * Values are computed again in backward where that takes fewer floating-point operations a byte
 * than memory is slow: a core does tens of them in the time a byte comes from memory and back.
 */
enum { FLOPS_WORTH_A_BYTE = 8 };

typedef struct trunk_stage {
    const dlb_stage *plan;
    const dlb_node *node;   /* of the convolution: parameters */
    size_t outputs;         /* floats of an image */
    bool kept;              /* the values it computes are kept for backward */
    size_t gradient_floats; /* of a group, in whole cache lines */
    float *prepared, *back; /* weights for forward and for dx */
    float *values;          /* [batch][outputs + slack], if kept */
    uint8_t *winner;        /* [batch][outputs], if pooled */
    float *partial;         /* gradients: [groups] */
    size_t scratch_values;  /* where in a thread's scratch its input is, as floats */
    int prepared_buffer, back_buffer, values_buffer, winner_buffer, partial_buffer;
} trunk_stage;

struct dlb_trunk {
    const dlb_model *model;
    int batch;
    int count;
    dlb_stage *plans;
    trunk_stage *stages;
    const dlb_node *first, *last; /* nodes at its ends */
    int inside;                   /* an operand: all that only the trunk itself touches */
    size_t entry_floats;          /* of an image that enters as pixels, with slack */
    float *entries;               /* [batch][entry_floats]: as floats */
    int entries_buffer;
    _Atomic int *ended; /* [groups of a whole batch]: which of the two sums of a pair are there */
    /* Where things are in a thread's scratch, as floats. */
    size_t scratch_gradients[2], scratch_keep, scratch_keep_planes, scratch_floats;
};

/* ---- Planning ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static bool drops(const dlb_stage *stage)
{
    return stage->dropout >= 0 || stage->dropout2d >= 0;
}

static bool is_cheap_again(const dlb_stage *stage)
{
    double flops = dlk_conv2d_forward_cost(&stage->shape.conv).flops;
    double bytes = (double)dlk_stage_outputs(&stage->shape) * sizeof(float);
    return !drops(stage) && flops < FLOPS_WORTH_A_BYTE * bytes;
}

static int group_count(const dlb_trunk *t, int n)
{
    return dlb_stages_groups(t->plans, t->count, n);
}

static void plan_stage(dlb_trunk *t, trunk_stage *stage, bool last, dlb_buffers *buffers)
{
    const dlb_stage *plan = stage->plan;
    const dlk_stage *shape = &plan->shape;
    size_t batch = (size_t)t->batch;
    stage->outputs = dlk_stage_outputs(shape);
    stage->kept = !last && !is_cheap_again(plan);
    stage->gradient_floats = dlb_whole_lines(plan->backward->gradient_floats(shape));
    stage->prepared_buffer =
        dlb_buffers_plan_floats(buffers, plan->forward->prepared_floats(shape));
    stage->back_buffer =
        dlb_buffers_plan_floats(buffers, plan->backward->prepared_floats(shape, plan->data));
    stage->values_buffer =
        dlb_buffers_plan_floats(buffers, stage->kept ? batch * (stage->outputs + DLK_SLACK) : 0);
    stage->winner_buffer = dlb_buffers_plan(buffers, shape->pool ? batch * stage->outputs : 0);
    stage->partial_buffer =
        dlb_buffers_plan_floats(buffers, (size_t)group_count(t, t->batch) * stage->gradient_floats);
}

/* Reserve floats behind what is reserved already, and return where. */
static size_t reserve(dlb_trunk *t, size_t floats)
{
    size_t at = t->scratch_floats;
    t->scratch_floats += dlb_whole_lines(floats);
    return at;
}

/* Kernels work at the beginning; then values between stages, two gradients, and what is kept. */
static void plan_scratch(dlb_trunk *t)
{
    size_t kernels = 0, inputs = 0, outputs = 0, planes = 0;
    for (int k = 0; k < t->count; k++) {
        const dlb_stage *plan = t->stages[k].plan;
        kernels = larger(kernels, plan->forward->scratch_floats(&plan->shape));
        kernels = larger(kernels, plan->backward->scratch_floats(&plan->shape, plan->data));
        inputs = larger(inputs, dlk_stage_inputs(&plan->shape));
        outputs = larger(outputs, t->stages[k].outputs);
        planes = larger(planes, (size_t)plan->shape.conv.oc);
    }
    reserve(t, kernels);
    for (int k = 1; k < t->count; k++)
        t->stages[k].scratch_values =
            reserve(t, dlk_stage_inputs(&t->stages[k].plan->shape) + DLK_SLACK);
    t->scratch_gradients[0] = reserve(t, inputs + DLK_SLACK);
    t->scratch_gradients[1] = reserve(t, inputs + DLK_SLACK);
    t->scratch_keep = reserve(t, outputs / sizeof(float) + 1);
    t->scratch_keep_planes = reserve(t, planes / sizeof(float) + 1);
}

dlb_trunk *dlb_trunk_create(const dlb_model *model, const dlb_stage *stages, int count, int batch,
                            dlb_buffers *buffers)
{
    dlb_trunk *t = dlb_alloc(1, sizeof *t);
    *t = (dlb_trunk){.model = model,
                     .batch = batch,
                     .count = count,
                     .plans = dlb_alloc((size_t)count, sizeof *t->plans),
                     .stages = dlb_alloc((size_t)count, sizeof *t->stages),
                     .inside = dlb_buffers_plan_operand(buffers)};
    memcpy(t->plans, stages, (size_t)count * sizeof *stages);
    t->entry_floats = dlb_whole_lines(dlk_stage_inputs(&t->plans[0].shape) + DLK_SLACK);
    t->entries_buffer = dlb_buffers_plan_floats(
        buffers, t->plans[0].first == 0 ? (size_t)batch * t->entry_floats : 0);
    for (int k = 0; k < count; k++) {
        t->stages[k].plan = &t->plans[k];
        plan_stage(t, &t->stages[k], k == count - 1, buffers);
    }
    t->ended = dlb_alloc((size_t)group_count(t, batch), sizeof *t->ended);
    plan_scratch(t);
    return t;
}

void dlb_trunk_free(dlb_trunk *trunk)
{
    if (!trunk)
        return;
    free(trunk->ended);
    free(trunk->stages);
    free(trunk->plans);
    free(trunk);
}

int dlb_trunk_first(const dlb_trunk *trunk)
{
    return trunk->plans[0].first;
}

int dlb_trunk_end(const dlb_trunk *trunk)
{
    return trunk->plans[trunk->count - 1].end;
}

size_t dlb_trunk_scratch_floats(const dlb_trunk *trunk)
{
    return trunk->scratch_floats;
}

void dlb_trunk_bind(dlb_trunk *t, const dlb_buffers *buffers, const dlb_node *nodes)
{
    t->first = &nodes[dlb_trunk_first(t)];
    t->last = &nodes[dlb_trunk_end(t) - 1];
    t->entries = dlb_buffers_memory(buffers, t->entries_buffer);
    for (int k = 0; k < t->count; k++) {
        trunk_stage *stage = &t->stages[k];
        stage->node = &nodes[stage->plan->first];
        stage->prepared = dlb_buffers_memory(buffers, stage->prepared_buffer);
        stage->back = dlb_buffers_memory(buffers, stage->back_buffer);
        stage->values = dlb_buffers_memory(buffers, stage->values_buffer);
        stage->winner = dlb_buffers_memory(buffers, stage->winner_buffer);
        stage->partial = dlb_buffers_memory(buffers, stage->partial_buffer);
    }
}

/* ---- One image ---- */

/* A pass of an operation over the batch. */
typedef struct trunk_pass {
    const dlb_trunk *trunk;
    const dlb_node_context *context;
    const dlk_team *team;
    int groups; /* backward */
} trunk_pass;

/* An image in a thread's hands. */
typedef struct trunk_image {
    const trunk_pass *pass;
    int index; /* within the batch */
    float *scratch;
} trunk_image;

static trunk_image take_image(const trunk_pass *pass, int index, int thread)
{
    return (trunk_image){pass, index, dlk_scratch(pass->team, thread)};
}

static const float *image_of(const float *tensor, const trunk_image *image, size_t floats)
{
    return tensor + (size_t)image->index * floats;
}

/* What enters the trunk. The batch itself has no slack behind its end, so its images are copied. */
static const float *entry(const trunk_image *image)
{
    const dlb_trunk *t = image->pass->trunk;
    if (t->first->x)
        return image_of(t->first->x, image, dlk_stage_inputs(&t->plans[0].shape));
    return image_of(t->entries, image, t->entry_floats);
}

static void fetch_entry(const trunk_image *image)
{
    const dlb_trunk *t = image->pass->trunk;
    if (t->first->x)
        return;
    dlb_step_image(image->pass->context->step, image->index, dlk_stage_inputs(&t->plans[0].shape),
                   t->entries + (size_t)image->index * t->entry_floats);
}

/* What stage k computes: the trunk's y, kept for backward, or only of use for a moment. */
static float *values_after(const trunk_image *image, int k)
{
    const dlb_trunk *t = image->pass->trunk;
    const trunk_stage *stage = &t->stages[k];
    if (k == t->count - 1)
        return t->last->y + (size_t)image->index * stage->outputs;
    if (stage->kept)
        return stage->values + (size_t)image->index * (stage->outputs + DLK_SLACK);
    return image->scratch + t->stages[k + 1].scratch_values;
}

static uint8_t *winner_of(const trunk_image *image, const trunk_stage *stage)
{
    return stage->winner ? stage->winner + (size_t)image->index * stage->outputs : NULL;
}

/* Draw what a dropout layer keeps of an image; NULL: all of it. */
static const uint8_t *draw_keep(const trunk_image *image, int layer, size_t count, size_t at)
{
    const dlb_node_context *context = image->pass->context;
    if (layer < 0 || context->evaluating)
        return NULL;
    uint8_t *keep = (uint8_t *)(image->scratch + at);
    dlk_dropout s = dlb_layer_dropout(&image->pass->trunk->model->layers[layer], context->step->n);
    dlk_rng_key key = dlb_dropout_key(layer, context->step);
    context->kernels->dropout_keep(&s, &key, (size_t)image->index * count, count, keep);
    return keep;
}

static float scale_of_layer(const dlb_trunk *t, int layer)
{
    return layer < 0 ? 1.0F : 1.0F / (1.0F - (float)t->model->layers[layer].rate);
}

static float scale_of(const trunk_pass *pass, const dlb_stage *plan)
{
    if (pass->context->evaluating)
        return 1.0F;
    return scale_of_layer(pass->trunk, plan->dropout) *
           scale_of_layer(pass->trunk, plan->dropout2d);
}

/* `winner` is NULL in evaluation, and when values are computed a second time. */
static const float *forward_stage(const trunk_image *image, int k, const float *x, uint8_t *winner)
{
    const dlb_trunk *t = image->pass->trunk;
    const trunk_stage *stage = &t->stages[k];
    const dlb_stage *plan = stage->plan;
    float *y = values_after(image, k);
    dlk_stage_pass pass = {
        .prepared = stage->prepared,
        .x = x,
        .y = y,
        .winner = winner,
        .keep = draw_keep(image, plan->dropout, stage->outputs, t->scratch_keep),
        .keep_planes =
            draw_keep(image, plan->dropout2d, (size_t)plan->shape.conv.oc, t->scratch_keep_planes),
        .scale = scale_of(image->pass, plan),
        .scratch = image->scratch,
    };
    plan->forward->run(&plan->shape, &pass);
    return y;
}

static void forward_image(void *arg, int task, int thread)
{
    const trunk_pass *pass = arg;
    trunk_image image = take_image(pass, task, thread);
    fetch_entry(&image);
    const float *x = entry(&image);
    for (int k = 0; k < pass->trunk->count; k++) {
        uint8_t *winner = winner_of(&image, &pass->trunk->stages[k]);
        x = forward_stage(&image, k, x, pass->context->evaluating ? NULL : winner);
    }
}

/* The inputs of all stages, as forward had them. */
static void recall(const trunk_image *image, const float *inputs[])
{
    const dlb_trunk *t = image->pass->trunk;
    inputs[0] = entry(image);
    for (int k = 0; k + 1 < t->count; k++)
        inputs[k + 1] =
            t->stages[k].kept ? values_after(image, k) : forward_stage(image, k, inputs[k], NULL);
}

static float *gradients_of(const trunk_stage *stage, int group)
{
    return stage->partial + (size_t)group * stage->gradient_floats;
}

/* Stage k's part of the way back; returns the gradient of its input, NULL if it is not wanted. */
static float *return_stage(const trunk_image *image, int k, const float *const inputs[],
                           const float *dy, int group)
{
    const dlb_trunk *t = image->pass->trunk;
    const trunk_stage *stage = &t->stages[k];
    const dlb_stage *plan = stage->plan;
    float *dx = plan->data ? image->scratch + t->scratch_gradients[k % 2] : NULL;
    dlk_stage_return back = {
        .prepared = stage->back,
        .x = inputs[k],
        .y = k + 1 < t->count ? inputs[k + 1] : values_after(image, k),
        .dy = dy,
        .winner = winner_of(image, stage),
        .scale = scale_of(image->pass, plan),
        .dx = dx,
        .gradient = gradients_of(stage, group),
        .scratch = image->scratch,
    };
    plan->backward->run(&plan->shape, &back);
    return dx;
}

static void backward_image(const trunk_image *image, int group)
{
    const dlb_trunk *t = image->pass->trunk;
    const float *inputs[DLB_TRUNK_STAGES];
    recall(image, inputs);
    const float *dy = image_of(t->last->dy, image, t->stages[t->count - 1].outputs);
    for (int k = t->count - 1; k >= 0; k--)
        dy = return_stage(image, k, inputs, dy, group);
    size_t floats = dlk_stage_inputs(&t->plans[0].shape);
    if (t->first->dx)
        memcpy(t->first->dx + (size_t)image->index * floats, dy, floats * sizeof *dy);
}

/* ---- Groups of images ---- */

/*
 * Neighbouring groups are added up in pairs, those sums again, until two are left or one: they
 * start every `apart` groups.
 */
static int groups_apart(int groups)
{
    int apart = 1;
    while (2 * apart < groups)
        apart *= 2;
    return apart;
}

static void add_right_to_left(const dlb_trunk *t, int left, int right)
{
    for (int k = 0; k < t->count; k++) {
        const trunk_stage *stage = &t->stages[k];
        float *sum = gradients_of(stage, left);
        const float *more = gradients_of(stage, right);
        for (size_t i = 0; i < stage->gradient_floats; i++)
            sum[i] += more[i];
    }
}

/* Whoever is second to end one of a pair adds the pair up: what it has just computed is in cache.
 */
static void add_pairs(const trunk_pass *pass, int group)
{
    const dlb_trunk *t = pass->trunk;
    int apart = groups_apart(pass->groups);
    for (int step = 1; step < apart; step *= 2) {
        int left = group / (2 * step) * (2 * step), right = left + step;
        if (right >= pass->groups)
            continue;
        if (atomic_fetch_xor_explicit(&t->ended[right], 1, memory_order_acq_rel) == 0)
            return;
        add_right_to_left(t, left, right);
    }
}

static void backward_group(void *arg, int group, int thread)
{
    const trunk_pass *pass = arg;
    int n = pass->context->step->n;
    int first = dlb_group_start(n, pass->groups, group);
    int end = dlb_group_start(n, pass->groups, group + 1);
    for (int k = 0; k < pass->trunk->count; k++) {
        const trunk_stage *stage = &pass->trunk->stages[k];
        float *partial = gradients_of(stage, group);
        dlk_own(partial, stage->gradient_floats); /* others have added them up */
        memset(partial, 0, stage->gradient_floats * sizeof *partial);
    }
    for (int i = first; i < end; i++) {
        trunk_image image = take_image(pass, i, thread);
        backward_image(&image, group);
    }
    add_pairs(pass, group);
}

/* ---- Operations ---- */

static void run_forward(void *self, void *context, dlk_team *team)
{
    const dlb_trunk *t = self;
    trunk_pass pass = {.trunk = t, .context = context, .team = team};
    for (int k = 0; k < t->count; k++) {
        const trunk_stage *stage = &t->stages[k];
        stage->plan->forward->prepare(team, &stage->plan->shape, stage->node->weights,
                                      stage->node->bias, stage->prepared);
    }
    dlk_parallel(team, pass.context->step->n, forward_image, &pass);
}

static void finish_stage(const trunk_stage *stage, const dlb_step *step, int groups, dlk_team *team)
{
    const dlb_block *block = stage->node->block;
    float *dweights = step->gradients + block->offset, *dbias = dweights + block->weights;
    if (step->n == 0) { /* a batch without images has a gradient all the same: zero */
        memset(dweights, 0, (size_t)(block->weights + block->biases) * sizeof *dweights);
        return;
    }
    int apart = groups_apart(groups);
    dlk_gradients gradients = {(groups + apart - 1) / apart, (size_t)apart * stage->gradient_floats,
                               stage->partial};
    stage->plan->backward->finish(team, &stage->plan->shape, &gradients, dweights, dbias);
}

static void run_backward(void *self, void *context, dlk_team *team)
{
    const dlb_trunk *t = self;
    trunk_pass pass = {.trunk = t, .context = context, .team = team};
    const dlb_step *step = pass.context->step;
    pass.groups = group_count(t, step->n);
    for (int k = 0; k < t->count; k++) {
        const dlb_stage *plan = t->stages[k].plan;
        if (plan->data)
            plan->backward->prepare(team, &plan->shape, t->stages[k].node->weights,
                                    t->stages[k].back);
    }
    dlk_parallel(team, pass.groups, backward_group, &pass);
    for (int k = 0; k < t->count; k++)
        finish_stage(&t->stages[k], step, pass.groups, team);
}

/* Backward reads x, y, dy and the parameters of every stage. */
_Static_assert(DLB_TRUNK_STAGES + 3 <= DLB_OP_OPERANDS, "room for the operands of a trunk");

/* Both names and what is done are cut to fit. */
static void name_op(const dlb_trunk *t, dlb_op *op, const char *what)
{
    const char *first = t->first->layer->name, *last = t->last->layer->name;
    if (t->first == t->last)
        snprintf(op->name, sizeof op->name, "%s %s", first, what);
    else
        snprintf(op->name, sizeof op->name, "%.17s-%.17s %s", first, last, what);
}

void dlb_trunk_add_forward(dlb_trunk *t, dlb_program *program)
{
    dlb_op op = {
        .phase = DLB_PHASE_FORWARD, .run = run_forward, .self = t, .operation = DLK_OP_COUNT};
    name_op(t, &op, "forward");
    dlb_op_reads(&op, t->first->x_buffer);
    for (int k = 0; k < t->count; k++)
        dlb_op_reads(&op, t->stages[k].node->block->parameter_buffer);
    dlb_op_writes(&op, t->last->y_buffer);
    dlb_op_writes(&op, t->inside);
    dlb_program_add(program, &op);
}

void dlb_trunk_add_backward(dlb_trunk *t, dlb_program *program)
{
    dlb_op op = {
        .phase = DLB_PHASE_BACKWARD, .run = run_backward, .self = t, .operation = DLK_OP_COUNT};
    name_op(t, &op, "backward");
    dlb_op_reads(&op, t->first->x_buffer);
    dlb_op_reads(&op, t->last->y_buffer);
    dlb_op_reads(&op, t->last->dy_buffer);
    for (int k = 0; k < t->count; k++) {
        dlb_op_reads(&op, t->stages[k].node->block->parameter_buffer);
        dlb_op_writes(&op, t->stages[k].node->block->gradient_buffer);
    }
    dlb_op_writes(&op, t->first->dx_buffer);
    dlb_op_writes(&op, t->inside);
    dlb_program_add(program, &op);
}
