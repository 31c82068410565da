/*
 * The weights of all stages in the layouts of their kernels.
 *
 * Each thread prepares them for itself, when it first needs them after they have changed. Threads
 * that share them out would do less, but write lines that the others have read and read lines that
 * the others have written, which takes longer: a little if their cores are near each other, many
 * times as long if they are not.
 */
#include <stdalign.h>

#include "base/mem.h"
#include "dlk/lines.h"
#include "graph/trunk_state.h"

/* Of a thread. */
struct dlb_trunk_weights {
    int64_t version[DLB_WEIGHTS_KINDS]; /* of those that are there; 0: none */
    alignas(DLB_CACHE_LINE) float floats[];
};

static size_t floats_of(const dlb_trunk *t, const dlb_stage *plan, dlb_weights_kind kind)
{
    switch (kind) {
    case DLB_WEIGHTS_FORWARD:
        return t->trains_in_lanes ? 0 : plan->forward->prepared_floats(&plan->shape);
    case DLB_WEIGHTS_LANES:
        return t->lanes ? plan->lanes->prepared_floats(&plan->shape) : 0;
    default:
        return plan->backward->prepared_floats(&plan->shape, plan->data);
    }
}

void dlb_trunk_plan_weights(dlb_trunk *t)
{
    for (int k = 0; k < t->count; k++)
        for (int kind = 0; kind < DLB_WEIGHTS_KINDS; kind++) {
            t->stages[k].weights_at[kind] = t->weights_floats;
            t->weights_floats +=
                dlb_whole_lines(floats_of(t, &t->plans[k], (dlb_weights_kind)kind));
        }
}

void dlb_trunk_free_weights(dlb_trunk *t)
{
    for (size_t i = 0; i < t->weights_capacity; i++)
        free(t->weights[i]);
    free(t->weights);
}

void dlb_trunk_new_weights(dlb_trunk *t, int threads, bool changed)
{
    t->weights =
        dlb_grow(t->weights, &t->weights_capacity, (size_t)threads, sizeof(dlb_trunk_weights *));
    t->weights_version += changed;
}

static void lay_out(const dlb_trunk *t, dlb_trunk_weights *own)
{
    for (int k = 0; k < t->count && !t->trains_in_lanes; k++) {
        const dlb_stage *plan = &t->plans[k];
        if (plan->forward->lay_out)
            plan->forward->lay_out(&plan->shape,
                                   own->floats + t->stages[k].weights_at[DLB_WEIGHTS_FORWARD]);
    }
}

/* Memory that a thread itself is the first to write to is near it. */
static dlb_trunk_weights *weights_of(const dlb_trunk *t, int thread)
{
    if (!t->weights[thread]) {
        t->weights[thread] =
            dlb_alloc(1, sizeof(dlb_trunk_weights) + t->weights_floats * sizeof(float));
        lay_out(t, t->weights[thread]);
    }
    return t->weights[thread];
}

static void prepare_stage(const trunk_stage *stage, dlb_weights_kind kind, float *to)
{
    const dlb_stage *plan = stage->plan;
    const dlb_node *node = stage->node;
    dlk_fetch(node->weights, (size_t)(node->block->weights + node->block->biases));
    if (kind == DLB_WEIGHTS_LANES)
        plan->lanes->prepare(&plan->shape, node->weights, node->bias, to);
    else if (kind == DLB_WEIGHTS_FORWARD)
        plan->forward->prepare(&plan->shape, node->weights, node->bias, to);
    else if (plan->data)
        plan->backward->prepare(&plan->shape, node->weights, to);
}

const float *dlb_trunk_weights_for(const dlb_trunk *t, int thread, dlb_weights_kind kind, int k)
{
    dlb_trunk_weights *own = weights_of(t, thread);
    if (own->version[kind] != t->weights_version) {
        own->version[kind] = t->weights_version;
        for (int i = 0; i < t->count; i++)
            prepare_stage(&t->stages[i], kind, own->floats + t->stages[i].weights_at[kind]);
    }
    return own->floats + t->stages[k].weights_at[kind];
}
