/* Evaluation of many images at once. */
#include "graph/trunk_state.h"

typedef struct evaluation {
    const dlb_trunk *trunk;
    const dlb_node_context *context;
    const dlk_team *team;
} evaluation;

/* Take what is in lanes through all stages; returns where it is then. */
static const float *run_stages(const dlb_trunk *t, float *scratch)
{
    for (int k = 0; k < t->count; k++) {
        const dlb_stage *plan = &t->plans[k];
        dlk_stage_pass pass = {.prepared = t->stages[k].lanes,
                               .x = scratch + t->scratch_lanes[k % 2],
                               .y = scratch + t->scratch_lanes[(k + 1) % 2],
                               .scale = 1,
                               .scratch = scratch};
        plan->lanes->run(&plan->shape, &pass);
    }
    return scratch + t->scratch_lanes[t->count % 2];
}

/* A task is as many images as there are lanes, or what is left of the batch. */
static void evaluate_images(void *arg, int task, int thread)
{
    const evaluation *e = arg;
    const dlb_trunk *t = e->trunk;
    const trunk_stage *last = &t->stages[t->count - 1];
    float *scratch = dlk_scratch(e->team, thread);
    int first = task * t->lanes->images, left = e->context->step->n - first;
    int count = left < t->lanes->images ? left : t->lanes->images;
    for (int i = first; i < first + count; i++)
        dlb_trunk_fetch_entry(t, e->context, i);
    t->lanes->enter(&t->plans[0].shape, count, dlb_trunk_entry(t, first), dlb_trunk_entry_stride(t),
                    scratch + t->scratch_lanes[0]);
    const float *lanes = run_stages(t, scratch);
    t->lanes->leave(&last->plan->shape, count, lanes, t->last->y + (size_t)first * last->outputs,
                    last->outputs);
}

void dlb_trunk_evaluate(const dlb_trunk *t, const dlb_node_context *context, dlk_team *team)
{
    evaluation e = {t, context, team};
    int images = t->lanes->images;
    dlk_parallel(team, (context->step->n + images - 1) / images, evaluate_images, &e);
}
