/* Forward of many images at once, in lots of as many as there are lanes. */
#include "graph/trunk_state.h"

/* A lot, or what is left of the batch, in a thread's hands. */
typedef struct lot {
    const dlb_trunk_pass *pass;
    int first, count; /* images */
    int thread;
    float *scratch;
} lot;

static lot take_lot(const dlb_trunk_pass *pass, int number, int thread)
{
    int lanes = pass->trunk->lanes->images, left = pass->context->step->n - number * lanes;
    return (lot){pass, number * lanes, left < lanes ? left : lanes, thread,
                 dlk_scratch(pass->team, thread)};
}

static uint8_t *bytes_at(const lot *l, size_t at)
{
    return (uint8_t *)(l->scratch + at);
}

/* What goes into stage k, or comes out of the one before. */
static float *lanes_before(const lot *l, int k)
{
    return l->scratch + l->pass->trunk->scratch_lanes[k % 2];
}

/* ---- Stages ---- */

/* What dropout2d keeps, [oc][lanes]; NULL: all. */
static const uint8_t *draw_planes(const lot *l, const dlb_stage *plan)
{
    const dlb_trunk *t = l->pass->trunk;
    size_t channels = (size_t)plan->shape.conv.oc, lanes = (size_t)t->lanes->images;
    if (plan->dropout2d < 0 || l->pass->context->evaluating)
        return NULL;
    uint8_t *one = bytes_at(l, t->scratch_keep_planes), *all = bytes_at(l, t->scratch_lanes_planes);
    memset(all, 0, channels * lanes);
    for (int i = 0; i < l->count; i++) {
        dlb_trunk_draw_keep(l->pass, plan->dropout2d, l->first + i, channels, one);
        for (size_t c = 0; c < channels; c++)
            all[c * lanes + (size_t)i] = one[c];
    }
    return all;
}

/* What backward will want of a stage. */
static void keep(const lot *l, const trunk_stage *stage, const dlk_stage_pass *done)
{
    const dlk_lanes *lanes = l->pass->trunk->lanes;
    const dlk_stage *shape = &stage->plan->shape;
    lanes->leave_bytes(shape, l->count, done->winner, dlb_trunk_winner(stage, l->first),
                       stage->outputs);
    if (stage->kept)
        lanes->leave(shape, l->count, done->y, dlb_trunk_values(stage, l->first),
                     stage->value_bytes / sizeof(float));
}

static void leave_trunk(const lot *l, const trunk_stage *last, const dlk_stage_pass *done)
{
    const dlb_trunk *t = l->pass->trunk;
    t->lanes->leave(&last->plan->shape, l->count, done->y,
                    t->last->y + (size_t)l->first * last->outputs, last->outputs);
}

static void run_stage(const lot *l, int k)
{
    const dlb_trunk *t = l->pass->trunk;
    const dlb_stage *plan = &t->plans[k];
    bool training = !l->pass->context->evaluating;
    dlk_stage_pass pass = {.prepared =
                               dlb_trunk_weights_for(l->pass, l->thread, DLB_WEIGHTS_LANES, k),
                           .x = lanes_before(l, k),
                           .y = lanes_before(l, k + 1),
                           .winner = training ? bytes_at(l, t->scratch_lanes_winner) : NULL,
                           .keep_planes = draw_planes(l, plan),
                           .scale = dlb_trunk_scale(l->pass, plan),
                           .scratch = l->scratch};
    plan->lanes->run(&plan->shape, &pass);
    if (training)
        keep(l, &t->stages[k], &pass);
    if (k + 1 == t->count)
        leave_trunk(l, &t->stages[k], &pass);
}

static void enter_trunk(const lot *l)
{
    const dlb_trunk *t = l->pass->trunk;
    size_t stride;
    for (int i = 0; i < l->count; i++)
        dlb_trunk_keep_pixels(l->pass, l->first + i);
    const float *x = dlb_trunk_entries(l->pass, l->first, l->count, l->scratch, &stride);
    t->lanes->enter(&t->plans[0].shape, l->count, x, stride, lanes_before(l, 0));
}

/* ---- Tasks ---- */

static void forward_lot(void *arg, int number, int thread)
{
    const dlb_trunk_pass *pass = arg;
    lot l = take_lot(pass, number, thread);
    enter_trunk(&l);
    for (int k = 0; k < pass->trunk->count; k++)
        run_stage(&l, k);
}

void dlb_trunk_part_forward_lanes(dlb_trunk_pass *pass, int first, int end)
{
    int lanes = pass->trunk->lanes->images;
    for (int number = first / lanes; number * lanes < end; number++)
        forward_lot(pass, number, 0);
}

void dlb_trunk_forward_lanes(dlb_trunk_pass *pass, dlk_team *team)
{
    int lanes = pass->trunk->lanes->images;
    dlk_parallel(team, (pass->context->step->n + lanes - 1) / lanes, forward_lot, pass);
}
