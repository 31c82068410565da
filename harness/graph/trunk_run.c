#include "base/mem.h"
#include "dlk/lines.h"
#include "graph/shape.h"
#include "graph/trunk_state.h"

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

void dlb_trunk_fetch_entry(const dlb_trunk *t, const dlb_node_context *context, int image)
{
    if (!t->first->x)
        dlb_step_image(context, image, dlk_stage_inputs(&t->plans[0].shape),
                       t->entries + (size_t)image * t->entry_floats);
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

/* Whether values go from stage k to the next as planes: backward would want them otherwise. */
static bool are_planes(const trunk_pass *pass, int k)
{
    const dlb_trunk *t = pass->trunk;
    return pass->context->evaluating && k >= 0 && k + 1 < t->count && t->plans[k].forward->planes &&
           t->plans[k + 1].forward->planes;
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
        .x_planes = are_planes(image->pass, k - 1),
        .y_planes = are_planes(image->pass, k),
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

/* ---- What comes next ---- */

/* One of some equal pieces of an array, in whole lines; the last ones may have no floats. */
typedef struct piece {
    size_t first, floats;
} piece;

static piece cut(size_t floats, int number, int of)
{
    size_t each = dlb_whole_lines(floats / (size_t)of + 1), first = (size_t)number * each;
    if (first >= floats)
        return (piece){floats, 0};
    return (piece){first, first + each < floats ? each : floats - first};
}

/* Which image of a thread's share it is; of none, if it is another thread's or there is no other.
 */
typedef struct turn {
    int number, of;
} turn;

static turn turn_of(const trunk_pass *pass, int image, int thread)
{
    int n = pass->context->step->n;
    int first = dlk_share_start(pass->team, n, thread);
    int end = dlk_share_start(pass->team, n, thread + 1);
    if (pass->team->size == 1 || image < first || image >= end)
        return (turn){0};
    return (turn){image - first, end - first};
}

/* Many lines would be in the images' way. */
static void fetch_some(const float *memory, size_t floats, turn now)
{
    enum { FEW = 16 * 1024 };
    piece some = cut(floats, now.number, now.of);
    if (floats <= FEW && some.floats > 0)
        dlk_fetch(memory + some.first, some.floats);
}

/*
 * The weights that every thread will read after the images were written by one: each fetches them
 * meanwhile, a piece with every image of its share.
 */
static void fetch_ahead(const trunk_pass *pass, turn now)
{
    const dlb_trunk *t = pass->trunk;
    if (!now.of)
        return;
    for (int k = 0; k < t->count && !pass->context->evaluating; k++)
        fetch_some(t->stages[k].back, t->stages[k].back_floats, now);
    if (t->next)
        fetch_some(t->next->weights, (size_t)t->next->block->weights, now);
}

static float *gradients_of(const trunk_stage *stage, int group)
{
    return stage->partial + (size_t)group * stage->gradient_floats;
}

static void forward_image(void *arg, int task, int thread)
{
    const trunk_pass *pass = arg;
    trunk_image image = take_image(pass, task, thread);
    fetch_ahead(pass, turn_of(pass, task, thread));
    dlb_trunk_fetch_entry(pass->trunk, pass->context, task);
    const float *x = dlb_trunk_entry(pass->trunk, task);
    for (int k = 0; k < pass->trunk->count; k++) {
        uint8_t *winner = winner_of(&image, &pass->trunk->stages[k]);
        x = forward_stage(&image, k, x, pass->context->evaluating ? NULL : winner);
    }
}

/* The inputs of all stages, as forward had them. */
static void recall(const trunk_image *image, const float *inputs[])
{
    const dlb_trunk *t = image->pass->trunk;
    inputs[0] = dlb_trunk_entry(t, image->index);
    for (int k = 0; k + 1 < t->count; k++)
        inputs[k + 1] =
            t->stages[k].kept ? values_after(image, k) : forward_stage(image, k, inputs[k], NULL);
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

/* The right one is zero then, as the next step wants it. */
static void add_right_to_left(const dlb_trunk *t, int left, int right)
{
    for (int k = 0; k < t->count; k++) {
        const trunk_stage *stage = &t->stages[k];
        float *restrict sum = gradients_of(stage, left);
        float *restrict more = gradients_of(stage, right);
        for (size_t i = 0; i < stage->gradient_floats; i++) {
            sum[i] += more[i];
            more[i] = 0;
        }
    }
}

/* Whoever ends the second of a pair adds the pair up: what it has just computed is in cache. */
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
    for (int i = first; i < end; i++) {
        trunk_image image = take_image(pass, i, thread);
        backward_image(&image, group);
    }
    add_pairs(pass, group);
}

/* ---- The whole batch ---- */

static bool in_lanes(const trunk_pass *pass)
{
    return pass->context->evaluating && pass->trunk->lanes;
}

static const dlk_stage_forward *forward_of(const trunk_pass *pass, const dlb_stage *plan)
{
    return in_lanes(pass) ? plan->lanes : plan->forward;
}

static int forward_parts(const trunk_pass *pass, const dlb_stage *plan)
{
    return forward_of(pass, plan)->parts(&plan->shape);
}

/* Training wants the weights for dx, too, so that they are there when images return. */
static int parts_of(const trunk_pass *pass, const dlb_stage *plan)
{
    int back = pass->context->evaluating ? 0 : plan->backward->parts(&plan->shape, plan->data);
    return forward_parts(pass, plan) + back;
}

/* One part of the weights of all stages, in the kernels' layouts. */
static void prepare_part(void *arg, int part, int thread)
{
    (void)thread;
    const trunk_pass *pass = arg;
    const trunk_stage *stage = pass->trunk->stages;
    for (; part >= parts_of(pass, stage->plan); stage++)
        part -= parts_of(pass, stage->plan);
    const dlb_stage *plan = stage->plan;
    int back = part - forward_parts(pass, plan);
    if (back < 0)
        forward_of(pass, plan)
            ->prepare(&plan->shape, part, stage->node->weights, stage->node->bias,
                      in_lanes(pass) ? stage->lanes : stage->prepared);
    else
        plan->backward->prepare(&plan->shape, back, stage->node->weights, stage->back);
}

static void prepare_stages(trunk_pass *pass, dlk_team *team)
{
    int parts = 0;
    for (int k = 0; k < pass->trunk->count; k++)
        parts += parts_of(pass, pass->trunk->stages[k].plan);
    dlk_parallel(team, parts, prepare_part, pass);
}

void dlb_trunk_run_forward(void *self, void *context, dlk_team *team)
{
    dlb_trunk *t = self;
    trunk_pass pass = {.trunk = t, .context = context, .team = team};
    if (!pass.context->step->same_weights)
        prepare_stages(&pass, team);
    if (in_lanes(&pass))
        dlb_trunk_evaluate(t, context, team);
    else
        dlk_parallel(team, pass.context->step->n, forward_image, &pass);
}

static int finish_parts(const trunk_stage *stage)
{
    return stage->plan->backward->finish_parts(&stage->plan->shape);
}

/* One part of the gradients of all stages, from the groups' sums, all of which are zero then. */
static void finish_part(void *arg, int part, int thread)
{
    (void)thread;
    const trunk_pass *pass = arg;
    const trunk_stage *stage = pass->trunk->stages;
    for (; part >= finish_parts(stage); stage++)
        part -= finish_parts(stage);
    const dlb_block *block = stage->node->block;
    float *dweights = pass->context->step->gradients + block->offset;
    int apart = groups_apart(pass->groups);
    dlk_gradients sums = {(pass->groups + apart - 1) / apart,
                          (size_t)apart * stage->gradient_floats, stage->partial};
    stage->plan->backward->finish(&stage->plan->shape, part, &sums, dweights,
                                  dweights + block->weights);
}

static void finish_stages(trunk_pass *pass, dlk_team *team)
{
    int parts = 0;
    for (int k = 0; k < pass->trunk->count; k++)
        parts += finish_parts(&pass->trunk->stages[k]);
    dlk_parallel(team, parts, finish_part, pass);
}

/* A batch without images has a gradient all the same: zero. */
static void leave_no_gradient(const dlb_trunk *t, const dlb_step *step)
{
    for (int k = 0; k < t->count; k++) {
        const dlb_block *block = t->stages[k].node->block;
        memset(step->gradients + block->offset, 0,
               (size_t)(block->weights + block->biases) * sizeof *step->gradients);
    }
}

void dlb_trunk_run_backward(void *self, void *context, dlk_team *team)
{
    dlb_trunk *t = self;
    trunk_pass pass = {.trunk = t, .context = context, .team = team};
    const dlb_step *step = pass.context->step;
    pass.groups = dlb_trunk_groups(t, step->n);
    if (step->n == 0) {
        leave_no_gradient(t, step);
        return;
    }
    dlk_parallel(team, pass.groups, backward_group, &pass);
    finish_stages(&pass, team);
}
