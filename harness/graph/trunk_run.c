#include "dlk/lines.h"
#include "graph/shape.h"
#include "graph/trunk_state.h"

/* ---- One image ---- */

/* An image in a thread's hands. */
typedef struct trunk_image {
    const dlb_trunk_pass *pass;
    int index; /* within the batch */
    int thread;
    float *scratch;
} trunk_image;

static trunk_image take_image(const dlb_trunk_pass *pass, int index, int thread)
{
    return (trunk_image){pass, index, thread, dlk_scratch(pass->team, thread)};
}

static const float *image_of(const float *tensor, const trunk_image *image, size_t floats)
{
    return tensor + (size_t)image->index * floats;
}

void dlb_trunk_keep_pixels(const dlb_trunk_pass *pass, int image)
{
    const dlb_trunk *t = pass->trunk;
    size_t floats = dlk_stage_inputs(&t->plans[0].shape);
    const uint8_t *pixels = t->first->x ? NULL : dlb_step_pixels(pass->context, image, floats);
    if (pixels)
        memcpy(t->pixels + dlb_blocks_at(image, floats), pixels, floats);
}

static void copy_entry(const dlb_trunk_pass *pass, int image, size_t floats, float *to)
{
    const dlb_trunk *t = pass->trunk;
    const dlb_step *step = pass->context->step;
    if (step->x)
        memcpy(to, step->x + (size_t)image * floats, floats * sizeof *to);
    else
        pass->context->kernels->pixels_to_floats(step->pixels.scale, floats,
                                                 t->pixels + dlb_blocks_at(image, floats), to);
}

const float *dlb_trunk_entries(const dlb_trunk_pass *pass, int first, int count, float *scratch,
                               size_t *stride)
{
    const dlb_trunk *t = pass->trunk;
    size_t floats = dlk_stage_inputs(&t->plans[0].shape);
    *stride = t->first->x ? floats : t->entry_floats;
    if (t->first->x)
        return t->first->x + (size_t)first * floats;
    float *entries = scratch + t->scratch_entries;
    for (int i = 0; i < count; i++)
        copy_entry(pass, first + i, floats, entries + (size_t)i * *stride);
    return entries;
}

static const float *entry_of(const trunk_image *image)
{
    size_t stride;
    return dlb_trunk_entries(image->pass, image->index, 1, image->scratch, &stride);
}

/* What stage k computes: the trunk's y, kept for backward, or only of use for a moment. */
static float *values_after(const trunk_image *image, int k)
{
    const dlb_trunk *t = image->pass->trunk;
    const trunk_stage *stage = &t->stages[k];
    if (k == t->count - 1)
        return t->last->y + (size_t)image->index * stage->outputs;
    if (stage->kept)
        return dlb_trunk_values(stage, image->index);
    return image->scratch + t->stages[k + 1].scratch_values;
}

static uint8_t *winner_of(const trunk_image *image, const trunk_stage *stage)
{
    return stage->winner ? dlb_trunk_winner(stage, image->index) : NULL;
}

void dlb_trunk_draw_keep(const dlb_trunk_pass *pass, int layer, int image, size_t count,
                         uint8_t *keep)
{
    const dlb_node_context *context = pass->context;
    dlk_dropout s = dlb_layer_dropout(&pass->trunk->model->layers[layer], context->step->n);
    dlk_rng_key key = dlb_dropout_key(layer, context->step);
    context->kernels->dropout_keep(&s, &key, (size_t)image * count, count, keep);
}

/* Draw what a dropout layer keeps of an image; NULL: all of it. */
static const uint8_t *draw_keep(const trunk_image *image, int layer, size_t count, size_t at)
{
    if (layer < 0 || image->pass->context->evaluating)
        return NULL;
    uint8_t *keep = (uint8_t *)(image->scratch + at);
    dlb_trunk_draw_keep(image->pass, layer, image->index, count, keep);
    return keep;
}

static float scale_of_layer(const dlb_trunk *t, int layer)
{
    return layer < 0 ? 1.0F : 1.0F / (1.0F - (float)t->model->layers[layer].rate);
}

float dlb_trunk_scale(const dlb_trunk_pass *pass, const dlb_stage *plan)
{
    if (pass->context->evaluating)
        return 1.0F;
    return scale_of_layer(pass->trunk, plan->dropout) *
           scale_of_layer(pass->trunk, plan->dropout2d);
}

/* Whether values go from stage k to the next as planes: backward would want them otherwise. */
static bool are_planes(const dlb_trunk_pass *pass, int k)
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
        .prepared = dlb_trunk_weights_for(image->pass, image->thread, DLB_WEIGHTS_FORWARD, k),
        .x = x,
        .y = y,
        .x_planes = are_planes(image->pass, k - 1),
        .y_planes = are_planes(image->pass, k),
        .winner = winner,
        .keep = draw_keep(image, plan->dropout, stage->outputs, t->scratch_keep),
        .keep_planes =
            draw_keep(image, plan->dropout2d, (size_t)plan->shape.conv.oc, t->scratch_keep_planes),
        .scale = dlb_trunk_scale(image->pass, plan),
        .scratch = image->scratch,
    };
    plan->forward->run(&plan->shape, &pass);
    return y;
}

/* Sums of gradients at one of the places for them. */
static float *gradients_at(const trunk_stage *stage, int place)
{
    return (float *)(stage->partial + (size_t)place * stage->place_bytes);
}

static void forward_image(void *arg, int task, int thread)
{
    const dlb_trunk_pass *pass = arg;
    trunk_image image = take_image(pass, task, thread);
    dlb_trunk_keep_pixels(pass, task);
    const float *x = entry_of(&image);
    for (int k = 0; k < pass->trunk->count; k++) {
        uint8_t *winner = winner_of(&image, &pass->trunk->stages[k]);
        x = forward_stage(&image, k, x, pass->context->evaluating ? NULL : winner);
    }
}

/* The inputs of all stages, as forward had them. */
static void recall(const trunk_image *image, const float *inputs[])
{
    const dlb_trunk *t = image->pass->trunk;
    inputs[0] = entry_of(image);
    for (int k = 0; k + 1 < t->count; k++)
        inputs[k + 1] =
            t->stages[k].kept ? values_after(image, k) : forward_stage(image, k, inputs[k], NULL);
}

/* Stage k's part of the way back; returns the gradient of its input, NULL if it is not wanted. */
static float *return_stage(const trunk_image *image, int k, const float *const inputs[],
                           const float *dy, int place)
{
    const dlb_trunk *t = image->pass->trunk;
    const trunk_stage *stage = &t->stages[k];
    const dlb_stage *plan = stage->plan;
    float *dx = plan->data ? image->scratch + t->scratch_gradients[k % 2] : NULL;
    dlk_stage_return back = {
        .prepared = dlb_trunk_weights_for(image->pass, image->thread, DLB_WEIGHTS_BACK, k),
        .x = inputs[k],
        .y = k + 1 < t->count ? inputs[k + 1] : values_after(image, k),
        .dy = dy,
        .winner = winner_of(image, stage),
        .scale = dlb_trunk_scale(image->pass, plan),
        .dx = dx,
        .gradient = gradients_at(stage, place),
        .scratch = image->scratch,
    };
    plan->backward->run(&plan->shape, &back);
    return dx;
}

static void backward_image(const trunk_image *image, int place)
{
    const dlb_trunk *t = image->pass->trunk;
    const float *inputs[DLB_TRUNK_STAGES];
    recall(image, inputs);
    const float *dy = image_of(t->last->dy, image, t->stages[t->count - 1].outputs);
    for (int k = t->count - 1; k >= 0; k--)
        dy = return_stage(image, k, inputs, dy, place);
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

/*
 * A group's sums are in whatever place is free when it begins, all zero. Threads begin to look at
 * different places, so that each comes back to those that it has in cache.
 */
static int take_place(const dlb_trunk_pass *pass, int thread)
{
    const dlb_trunk *t = pass->trunk;
    int groups = pass->groups, start = dlk_share_start(pass->team, groups, thread);
    for (int i = 0;; i++) {
        int place = (start + i) % groups;
        if (atomic_load_explicit(&t->taken[place], memory_order_relaxed) == 0 &&
            atomic_exchange_explicit(&t->taken[place], 1, memory_order_acquire) == 0)
            return place;
    }
}

static void leave_place(const dlb_trunk *t, int place)
{
    atomic_store_explicit(&t->taken[place], 0, memory_order_release);
}

/* The right one is zero then. */
static void add_right_to_left(const dlb_trunk *t, int left, int right)
{
    for (int k = 0; k < t->count; k++) {
        const trunk_stage *stage = &t->stages[k];
        float *restrict sum = gradients_at(stage, t->places[left]);
        float *restrict more = gradients_at(stage, t->places[right]);
        for (size_t i = 0; i < stage->gradient_floats; i++) {
            sum[i] += more[i];
            more[i] = 0;
        }
    }
    leave_place(t, t->places[right]);
}

/* Whoever ends the second of a pair adds the pair up: what it has just computed is in cache. */
static void add_pairs(const dlb_trunk_pass *pass, int group)
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

/* Those of a group: [first, end). */
typedef struct images {
    int first, end;
} images;

static images images_of(const dlb_trunk_pass *pass, int group)
{
    int n = pass->context->step->n;
    return (images){dlb_group_start(n, pass->groups, group),
                    dlb_group_start(n, pass->groups, group + 1)};
}

/* Whether all that is read for a group has come forward. */
static bool has_come(const dlb_trunk_pass *pass, int group)
{
    images some = images_of(pass, group);
    int n = pass->context->step->n, end = some.end + pass->trunk->images_behind;
    return dlb_blocks_are_through(pass->context->blocks, some.first, end < n ? end : n);
}

/* Begin with a group, unless somebody else has, or it has not come yet. */
static bool begin_group(const dlb_trunk_pass *pass, int group)
{
    _Atomic int *begun = &pass->trunk->begun[group];
    return atomic_load_explicit(begun, memory_order_relaxed) == 0 && has_come(pass, group) &&
           atomic_exchange_explicit(begun, 1, memory_order_relaxed) == 0;
}

/*
 * A group that can be begun with, or -1: first of the thread's own share, then of what the others
 * have left. Each is taken from its end on: what forward has left last is still in cache, and the
 * largest groups come first. Whose task a group is changes no sum.
 */
static int find_group(const dlb_trunk_pass *pass, int thread)
{
    int size = pass->team->size;
    for (int i = 0; i < size; i++) {
        int share = (thread + i) % size;
        int first = dlk_share_start(pass->team, pass->groups, share);
        for (int group = dlk_share_start(pass->team, pass->groups, share + 1); group-- > first;)
            if (begin_group(pass, group))
                return group;
    }
    return -1;
}

/* There are as many groups as tasks, so one is left for each. */
static int await_group(const dlb_trunk_pass *pass, int thread)
{
    for (;;) {
        dlk_gate *ended = &pass->context->blocks->ended;
        uint32_t seen = dlk_gate_value(ended);
        int group = find_group(pass, thread);
        if (group >= 0)
            return group;
        dlk_gate_wait(ended, seen, pass->team->spin_ns);
    }
}

static bool is_of_share(const dlb_trunk_pass *pass, int group, int thread)
{
    return group >= dlk_share_start(pass->team, pass->groups, thread) &&
           group < dlk_share_start(pass->team, pass->groups, thread + 1);
}

/* What another thread has kept of an image, and will write in the next step. Of the winners the
 * first may still be read by who takes the image before. */
static void take_over_kept(const trunk_image *image)
{
    const dlb_trunk *t = image->pass->trunk;
    for (int k = 0; k < t->count; k++) {
        const trunk_stage *stage = &t->stages[k];
        if (stage->kept)
            dlk_take_over(dlb_trunk_values(stage, image->index), stage->value_bytes);
        if (stage->winner && stage->outputs > DLK_SLACK)
            dlk_take_over(winner_of(image, stage) + DLK_SLACK, stage->outputs - DLK_SLACK);
    }
}

static void backward_group(void *arg, int task, int thread)
{
    (void)task;
    const dlb_trunk_pass *pass = arg;
    int group = await_group(pass, thread), place = take_place(pass, thread);
    images some = images_of(pass, group);
    pass->trunk->places[group] = place;
    for (int i = some.first; i < some.end; i++) {
        trunk_image image = take_image(pass, i, thread);
        backward_image(&image, place);
        if (!is_of_share(pass, group, thread))
            take_over_kept(&image);
    }
    add_pairs(pass, group);
}

/* ---- The whole batch ---- */

static bool in_lanes(const dlb_trunk_pass *pass)
{
    const dlb_trunk *t = pass->trunk;
    return t->lanes && (pass->context->evaluating || t->trains_in_lanes);
}

void dlb_trunk_begin_forward(void *self, void *context, dlk_team *team)
{
    dlb_trunk_pass pass = {.trunk = self, .context = context, .team = team};
    bool changed = !pass.context->step->same_weights;
    dlb_trunk_begin_pass(&pass, in_lanes(&pass) ? DLB_WEIGHTS_LANES : DLB_WEIGHTS_FORWARD, changed,
                         team);
}

void dlb_trunk_part_forward(void *self, void *context, dlk_team *alone, int first, int end)
{
    dlb_trunk_pass pass = {.trunk = self, .context = context, .team = alone};
    if (in_lanes(&pass))
        dlb_trunk_part_forward_lanes(&pass, first, end);
    else
        for (int i = first; i < end; i++)
            forward_image(&pass, i, 0);
}

void dlb_trunk_run_forward(void *self, void *context, dlk_team *team)
{
    dlb_trunk_pass pass = {.trunk = self, .context = context, .team = team};
    dlb_trunk_begin_forward(self, context, team);
    if (in_lanes(&pass))
        dlb_trunk_forward_lanes(&pass, team);
    else
        dlk_parallel(team, pass.context->step->n, forward_image, &pass);
}

static int finish_parts(const trunk_stage *stage)
{
    return stage->plan->backward->finish_parts(&stage->plan->shape);
}

/* The sums of groups that are left: one or two. */
typedef struct sums_left {
    int count;
    float *each[2];
} sums_left;

static sums_left find_sums(const dlb_trunk_pass *pass, const trunk_stage *stage)
{
    sums_left left = {0};
    for (int i = 0; i < pass->groups; i += groups_apart(pass->groups))
        left.each[left.count++] = gradients_at(stage, pass->trunk->places[i]);
    return left;
}

/* One part of a stage's gradients, from sums that are zero then. */
static void finish_part_of(const dlb_trunk_pass *pass, const trunk_stage *stage, sums_left *left,
                           int part)
{
    const dlb_block *block = stage->node->block;
    float *dweights = pass->context->step->gradients + block->offset;
    dlk_gradients sums = {.count = left->count, .each = left->each};
    stage->plan->backward->finish(&stage->plan->shape, part, &sums, dweights,
                                  dweights + block->weights);
}

/* One part of the gradients of all stages. */
static void finish_part(void *arg, int part, int thread)
{
    (void)thread;
    const dlb_trunk_pass *pass = arg;
    const trunk_stage *stage = pass->trunk->stages;
    for (; part >= finish_parts(stage); stage++)
        part -= finish_parts(stage);
    sums_left left = find_sums(pass, stage);
    finish_part_of(pass, stage, &left, part);
}

/* All of a stage's, by one thread: it takes the sums over at first, line by line, as a kernel goes
 * through them in strides. */
static void finish_stage(const dlb_trunk_pass *pass, const trunk_stage *stage)
{
    sums_left left = find_sums(pass, stage);
    for (int i = 0; i < left.count; i++)
        dlk_take_over(left.each[i], stage->gradient_floats * sizeof(float));
    for (int part = 0; part < finish_parts(stage); part++)
        finish_part_of(pass, stage, &left, part);
}

static void finish_stages(dlb_trunk_pass *pass, dlk_team *team)
{
    int parts = 0;
    for (int k = 0; k < pass->trunk->count; k++)
        parts += finish_parts(&pass->trunk->stages[k]);
    dlk_parallel(team, parts, finish_part, pass);
}

bool dlb_trunk_leaves_sums(const dlb_trunk *t)
{
    enum { FEW = 8 * 1024 };
    bool few = true;
    for (int k = 0; k < t->count; k++)
        few = few && t->stages[k].gradient_floats <= FEW;
    return few;
}

void dlb_trunk_finish(dlb_trunk *t, const dlb_node_context *context, const dlb_block *block)
{
    dlb_trunk_pass pass = {.trunk = t, .context = context};
    pass.groups = dlb_trunk_groups(t, context->step->n);
    if (!dlb_trunk_leaves_sums(t) || context->step->n == 0)
        return;
    for (int k = 0; k < t->count; k++)
        if (t->stages[k].node->block == block)
            finish_stage(&pass, &t->stages[k]);
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
    dlb_trunk_pass pass = {.trunk = t, .context = context, .team = team};
    const dlb_step *step = pass.context->step;
    pass.groups = dlb_trunk_groups(t, step->n);
    if (step->n == 0) {
        leave_no_gradient(t, step);
        return;
    }
    dlb_trunk_begin_pass(&pass, DLB_WEIGHTS_BACK, false, team);
    memset(t->begun, 0, (size_t)pass.groups * sizeof *t->begun);
    memset(t->taken, 0, (size_t)pass.groups * sizeof *t->taken);
    dlk_parallel(team, pass.groups, backward_group, &pass);
    if (!pass.context->leaves_sums || !dlb_trunk_leaves_sums(t))
        finish_stages(&pass, team);
}
