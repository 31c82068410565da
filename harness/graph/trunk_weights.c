/*
 * The weights of all stages in the layouts of their kernels.
 *
 * Each thread prepares them for itself, when it first needs them after they have changed. Threads
 * that share them out would do less, but write lines that the others have read and read lines that
 * the others have written, which takes longer: a little if their cores are near each other, many
 * times as long if they are not. Only weights that would fill a thread's cache are common to all,
 * and are shared out before the pass that needs them.
 */
#include <stdalign.h>

#include "base/mem.h"
#include "dlk/lines.h"
#include "graph/trunk_state.h"

/* So many floats, half of a second-level cache of 1 MB, a thread has for itself. */
enum { MOST_OWN_FLOATS = 128 * 1024 };

/* Those of one thread, or of all. */
struct dlb_trunk_weights {
    int64_t version[DLB_WEIGHTS_KINDS]; /* of those that are there; 0: none */
    alignas(DLB_CACHE_LINE) float floats[];
};

/* ---- Room ---- */

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

static bool are_common(const dlb_trunk *t)
{
    return t->weights_floats > MOST_OWN_FLOATS;
}

static void lay_out(const dlb_trunk *t, dlb_trunk_weights *weights)
{
    for (int k = 0; k < t->count && !t->trains_in_lanes; k++) {
        const dlb_stage *plan = &t->plans[k];
        float *to = weights->floats + t->stages[k].weights_at[DLB_WEIGHTS_FORWARD];
        if (plan->forward->lay_out)
            plan->forward->lay_out(&plan->shape, to);
    }
}

typedef void *allocate_fn(size_t count, size_t size);

/* Where there is room, nothing is written: threads may be in the pass before. */
static bool make_room(dlb_trunk *t, int threads, allocate_fn *allocate)
{
    size_t need = are_common(t) ? 1 : (size_t)threads;
    if (need <= t->weights_capacity && t->weights[need - 1])
        return true;
    t->weights = dlb_grow(t->weights, &t->weights_capacity, need, sizeof(dlb_trunk_weights *));
    for (size_t i = 0; i < need; i++) {
        if (t->weights[i])
            continue;
        t->weights[i] = allocate(1, sizeof(dlb_trunk_weights) + t->weights_floats * sizeof(float));
        if (!t->weights[i])
            return false;
        lay_out(t, t->weights[i]);
    }
    return true;
}

bool dlb_trunk_try_room(dlb_trunk *t, int threads)
{
    return make_room(t, threads, dlb_try_alloc);
}

void dlb_trunk_free_weights(dlb_trunk *t)
{
    for (size_t i = 0; i < t->weights_capacity; i++)
        free(t->weights[i]);
    free(t->weights);
}

/* ---- Preparing ---- */

static int parts_of(const dlb_stage *plan, dlb_weights_kind kind)
{
    if (kind == DLB_WEIGHTS_BACK)
        return plan->backward->parts(&plan->shape, plan->data);
    return (kind == DLB_WEIGHTS_LANES ? plan->lanes : plan->forward)->parts(&plan->shape);
}

/* Of these parameters, which are all that the model has. */
static void prepare_part(const trunk_stage *stage, dlb_weights_kind kind, int part,
                         const float *parameters, float *to)
{
    const dlb_stage *plan = stage->plan;
    const dlb_block *block = stage->node->block;
    const float *weights = parameters + block->offset, *bias = weights + block->weights;
    if (kind == DLB_WEIGHTS_BACK)
        plan->backward->prepare(&plan->shape, part, weights, to);
    else
        (kind == DLB_WEIGHTS_LANES ? plan->lanes : plan->forward)
            ->prepare(&plan->shape, part, weights, bias, to);
}

static void prepare_stage(const trunk_stage *stage, dlb_weights_kind kind, const float *parameters,
                          float *to)
{
    const dlb_block *block = stage->node->block;
    int parts = parts_of(stage->plan, kind);
    if (parts > 0)
        dlk_fetch(parameters + block->offset, (size_t)(block->weights + block->biases));
    for (int i = 0; i < parts; i++)
        prepare_part(stage, kind, i, parameters, to);
}

/* ---- Common weights ---- */

typedef struct common_job {
    const dlb_trunk *trunk;
    const float *parameters;
    dlb_weights_kind kind;
} common_job;

static void prepare_common_part(void *arg, int part, int thread)
{
    (void)thread;
    const common_job *job = arg;
    const trunk_stage *stage = job->trunk->stages;
    for (; part >= parts_of(stage->plan, job->kind); stage++)
        part -= parts_of(stage->plan, job->kind);
    prepare_part(stage, job->kind, part, job->parameters,
                 job->trunk->weights[0]->floats + stage->weights_at[job->kind]);
}

static void prepare_common(dlb_trunk *t, const float *parameters, dlb_weights_kind kind,
                           dlk_team *team)
{
    common_job job = {t, parameters, kind};
    int parts = 0;
    for (int k = 0; k < t->count; k++)
        parts += parts_of(&t->plans[k], kind);
    t->weights[0]->version[kind] = t->weights_version;
    dlk_parallel(team, parts, prepare_common_part, &job);
}

/* ---- A pass ---- */

void dlb_trunk_begin_pass(const dlb_trunk_pass *pass, dlb_weights_kind kind, bool changed,
                          dlk_team *team)
{
    dlb_trunk *t = pass->trunk;
    make_room(t, team->size, dlb_alloc);
    if (changed || t->weights_version == 0)
        t->weights_version++;
    if (are_common(t) && t->weights[0]->version[kind] != t->weights_version)
        prepare_common(t, pass->context->copies->parameters, kind, team);
}

const float *dlb_trunk_weights_for(const dlb_trunk_pass *pass, int thread, dlb_weights_kind kind,
                                   int k)
{
    const dlb_trunk *t = pass->trunk;
    int whose = pass->team->first_thread + thread;
    dlb_trunk_weights *weights = t->weights[are_common(t) ? 0 : whose];
    if (weights->version[kind] != t->weights_version) {
        const float *parameters = dlb_copies_of(pass->context->copies, whose);
        weights->version[kind] = t->weights_version;
        for (int i = 0; i < t->count; i++)
            prepare_stage(&t->stages[i], kind, parameters,
                          weights->floats + t->stages[i].weights_at[kind]);
    }
    return weights->floats + t->stages[k].weights_at[kind];
}
