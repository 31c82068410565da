#include "graph/trunk.h"

#include "base/mem.h"
#include "graph/shape.h"
#include "graph/trunk_state.h"

/* ---- Planning ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void plan_stage(dlb_trunk *t, trunk_stage *stage, bool last, dlb_buffers *buffers)
{
    const dlb_stage *plan = stage->plan;
    const dlk_stage *shape = &plan->shape;
    stage->outputs = dlk_stage_outputs(shape);
    stage->kept = !last && !dlb_stage_is_cheap(plan);
    stage->value_bytes = (stage->outputs + DLK_SLACK) * sizeof(float);
    stage->gradient_floats = plan->backward->gradient_floats(shape);
    stage->place_bytes = dlb_whole_pages(stage->gradient_floats * sizeof(float));
    stage->values_buffer =
        dlb_buffers_plan(buffers, stage->kept ? dlb_blocks_bytes(t->batch, stage->value_bytes) : 0);
    stage->winner_buffer =
        dlb_buffers_plan(buffers, shape->pool ? dlb_blocks_bytes(t->batch, stage->outputs) : 0);
    stage->partial_buffer =
        dlb_buffers_plan(buffers, (size_t)dlb_trunk_groups(t, t->batch) * stage->place_bytes);
}

/* Reserve floats behind what is reserved already, and return where. */
static size_t reserve(dlb_trunk *t, size_t floats)
{
    size_t at = t->scratch_floats;
    t->scratch_floats += dlb_whole_lines(floats);
    return at;
}

/* Kernels work at the beginning; then images that enter, values between stages, two gradients, what
 * is kept, and the same of a stage of many images. */
static void plan_scratch(dlb_trunk *t)
{
    size_t kernels = 0, inputs = 0, outputs = 0, planes = 0;
    for (int k = 0; k < t->count; k++) {
        const dlb_stage *plan = t->stages[k].plan;
        kernels = larger(kernels, plan->forward->scratch_floats(&plan->shape));
        kernels = larger(kernels, plan->backward->scratch_floats(&plan->shape, plan->data));
        if (t->lanes)
            kernels = larger(kernels, plan->lanes->scratch_floats(&plan->shape));
        inputs = larger(inputs, dlk_stage_inputs(&plan->shape));
        outputs = larger(outputs, t->stages[k].outputs);
        planes = larger(planes, (size_t)plan->shape.conv.oc);
    }
    reserve(t, kernels);
    size_t images = t->lanes ? (size_t)t->lanes->images : 0;
    for (int k = 1; k < t->count; k++)
        t->stages[k].scratch_values =
            reserve(t, dlk_stage_inputs(&t->stages[k].plan->shape) + DLK_SLACK);
    t->scratch_gradients[0] = reserve(t, inputs + DLK_SLACK);
    t->scratch_gradients[1] = reserve(t, inputs + DLK_SLACK);
    t->scratch_keep = reserve(t, outputs / sizeof(float) + 1);
    t->scratch_keep_planes = reserve(t, planes / sizeof(float) + 1);
    t->scratch_lanes[0] = reserve(t, images * larger(inputs, outputs));
    t->scratch_lanes[1] = reserve(t, images * larger(inputs, outputs));
    t->scratch_lanes_winner = reserve(t, images * outputs / sizeof(float) + 1);
    t->scratch_entries = reserve(t, larger(images, 1) * t->entry_floats);
    t->scratch_lanes_planes = reserve(t, images * planes / sizeof(float) + 1);
}

/* As many as have some of DLK_SLACK elements. */
static int count_images_behind(const dlb_trunk *t)
{
    size_t least = DLK_SLACK;
    for (int k = 0; k < t->count; k++)
        least = t->stages[k].outputs < least ? t->stages[k].outputs : least;
    return (int)((DLK_SLACK + least - 1) / least);
}

dlb_trunk *dlb_trunk_create(const dlb_model *model, const dlk_kernels *kernels,
                            const dlb_stage *stages, int count, int batch, dlb_buffers *buffers)
{
    dlb_trunk *t = dlb_alloc(1, sizeof *t);
    *t = (dlb_trunk){.model = model,
                     .batch = batch,
                     .lanes = dlb_stages_in_lanes(stages, batch, kernels) ? kernels->lanes : NULL,
                     .trains_in_lanes = dlb_stages_train_in_lanes(stages, count, batch, kernels),
                     .count = count,
                     .plans = dlb_alloc((size_t)count, sizeof *t->plans),
                     .stages = dlb_alloc((size_t)count, sizeof *t->stages),
                     .inside = dlb_buffers_plan_operand(buffers)};
    memcpy(t->plans, stages, (size_t)count * sizeof *stages);
    size_t inputs = dlk_stage_inputs(&t->plans[0].shape);
    t->entry_floats = dlb_whole_lines(inputs + DLK_SLACK);
    t->pixels_buffer =
        dlb_buffers_plan(buffers, t->plans[0].first == 0 ? dlb_blocks_bytes(batch, inputs) : 0);
    for (int k = 0; k < count; k++) {
        t->stages[k].plan = &t->plans[k];
        plan_stage(t, &t->stages[k], k == count - 1, buffers);
    }
    t->images_behind = count_images_behind(t);
    size_t groups = (size_t)dlb_trunk_groups(t, batch);
    t->begun = dlb_alloc(groups, sizeof *t->begun);
    t->taken = dlb_alloc(groups, sizeof *t->taken);
    t->places = dlb_alloc(groups, sizeof *t->places);
    t->ended = dlb_alloc(groups, sizeof *t->ended);
    plan_scratch(t);
    dlb_trunk_plan_weights(t);
    return t;
}

void dlb_trunk_free(dlb_trunk *trunk)
{
    if (!trunk)
        return;
    dlb_trunk_free_weights(trunk);
    free(trunk->ended);
    free(trunk->places);
    free(trunk->taken);
    free(trunk->begun);
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
    t->pixels = dlb_buffers_memory(buffers, t->pixels_buffer);
    for (int k = 0; k < t->count; k++) {
        trunk_stage *stage = &t->stages[k];
        stage->node = &nodes[stage->plan->first];
        stage->values = dlb_buffers_memory(buffers, stage->values_buffer);
        stage->winner = dlb_buffers_memory(buffers, stage->winner_buffer);
        stage->partial = dlb_buffers_memory(buffers, stage->partial_buffer);
    }
}

/* ---- Operations ---- */

/* Both read the parameters of every stage, backward writes their gradients, and both some more. */
_Static_assert(DLB_TRUNK_STAGES + 3 <= DLB_OP_OPERANDS, "room for the operands of a trunk");

void dlb_trunk_add_forward(dlb_trunk *t, dlb_program *program)
{
    dlb_op op = {.phase = DLB_PHASE_FORWARD,
                 .run = dlb_trunk_run_forward,
                 .begin = dlb_trunk_begin_forward,
                 .part = dlb_trunk_part_forward,
                 .opens = true,
                 .finer = true,
                 .self = t,
                 .operation = DLK_OP_COUNT};
    dlb_op_name(&op, t->first->layer->name, t->last->layer->name, "forward");
    dlb_op_reads(&op, t->first->x_buffer);
    for (int k = 0; k < t->count; k++)
        dlb_op_reads(&op, t->stages[k].node->block->parameter_buffer);
    dlb_op_writes(&op, t->last->y_buffer);
    dlb_op_writes(&op, t->inside);
    dlb_program_add(program, &op);
}

void dlb_trunk_add_backward(dlb_trunk *t, dlb_program *program)
{
    dlb_op op = {.phase = DLB_PHASE_BACKWARD,
                 .run = dlb_trunk_run_backward,
                 .self = t,
                 .gaps = true,
                 .follows = true,
                 .operation = DLK_OP_COUNT};
    dlb_op_name(&op, t->first->layer->name, t->last->layer->name, "backward");
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
