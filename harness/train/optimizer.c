#include "train/optimizer.h"

#include <math.h>

#include "base/mem.h"
#include "dlk/cost.h"

enum { STATES_MAX = 2 };

typedef struct update {
    dlb_optimizer *optimizer;
    size_t offset, count;
} update;

typedef struct method {
    int states; /* arrays of the size of the parameters */
    dlb_op_fn *run;
    void (*begin_step)(dlb_optimizer *o, double lr);
    dlk_cost (*cost)(const dlb_optimizer *o);
} method;

struct dlb_optimizer {
    const method *method;
    dlk_kernels kernels;
    const float *gradients;
    float *parameters;
    float *state[STATES_MAX];
    update *updates;
    size_t parameter_count;
    long long steps;
    dlk_sgd sgd;
    dlk_adam adam;
    dlk_adagrad adagrad;
};

/* ---- The methods ---- */

static void run_sgd(void *self, void *context, dlk_team *team)
{
    (void)context;
    const update *u = self;
    dlb_optimizer *o = u->optimizer;
    o->kernels.sgd(team, u->count, &o->sgd, o->gradients + u->offset, o->parameters + u->offset,
                   o->state[0] + u->offset);
}

static void begin_sgd(dlb_optimizer *o, double lr)
{
    o->sgd.lr = (float)lr;
}

static dlk_cost cost_sgd(const dlb_optimizer *o)
{
    return dlk_sgd_cost(o->parameter_count, o->sgd.momentum > 0);
}

static void run_adam(void *self, void *context, dlk_team *team)
{
    (void)context;
    const update *u = self;
    dlb_optimizer *o = u->optimizer;
    o->kernels.adam(team, u->count, &o->adam, o->gradients + u->offset, o->parameters + u->offset,
                    o->state[0] + u->offset, o->state[1] + u->offset);
}

static void begin_adam(dlb_optimizer *o, double lr)
{
    double t = (double)o->steps;
    o->adam.step_size = (float)(lr * sqrt(1 - pow(o->adam.beta2, t)) / (1 - pow(o->adam.beta1, t)));
}

static void run_adagrad(void *self, void *context, dlk_team *team)
{
    (void)context;
    const update *u = self;
    dlb_optimizer *o = u->optimizer;
    o->kernels.adagrad(team, u->count, &o->adagrad, o->gradients + u->offset,
                       o->parameters + u->offset, o->state[0] + u->offset);
}

static dlk_cost cost_adam(const dlb_optimizer *o)
{
    return dlk_adam_cost(o->parameter_count);
}

static void begin_adagrad(dlb_optimizer *o, double lr)
{
    o->adagrad.lr = (float)lr;
}

static dlk_cost cost_adagrad(const dlb_optimizer *o)
{
    return dlk_adagrad_cost(o->parameter_count);
}

static const method methods[] = {
    [DLB_optimizer_sgd] = {1, run_sgd, begin_sgd, cost_sgd},
    [DLB_optimizer_adam] = {2, run_adam, begin_adam, cost_adam},
    [DLB_optimizer_adagrad] = {1, run_adagrad, begin_adagrad, cost_adagrad},
};

/* ---- Life ---- */

static void add_update(dlb_optimizer *o, dlb_graph *graph, update *u, const dlb_block *block)
{
    u->optimizer = o;
    u->offset = block->offset;
    u->count = (size_t)block->weights + (size_t)block->biases;
    o->parameter_count += u->count;
    dlb_op op = {.phase = DLB_PHASE_UPDATE,
                 .run = o->method->run,
                 .self = u,
                 .read_count = 1,
                 .reads = {block->gradient_buffer},
                 .write_count = 1,
                 .writes = {block->parameter_buffer}};
    snprintf(op.name, sizeof op.name, "%s update", block->layer->name);
    dlb_graph_add_update(graph, &op);
}

dlb_optimizer *dlb_optimizer_create(dlb_graph *graph, const dlk_kernels *kernels,
                                    const dlb_workload *w)
{
    dlb_optimizer *o = dlb_alloc(1, sizeof *o);
    o->method = &methods[w->optimizer];
    o->kernels = *kernels;
    o->gradients = dlb_graph_gradients(graph);
    o->parameters = dlb_graph_parameters(graph);
    float weight_decay = (float)w->weight_decay, epsilon = (float)w->epsilon;
    o->sgd = (dlk_sgd){
        .momentum = (float)w->momentum, .weight_decay = weight_decay, .nesterov = w->nesterov};
    o->adam = (dlk_adam){
        .beta1 = w->beta1, .beta2 = w->beta2, .epsilon = epsilon, .weight_decay = weight_decay};
    o->adagrad = (dlk_adagrad){.epsilon = epsilon, .weight_decay = weight_decay};
    for (int i = 0; i < o->method->states; i++)
        o->state[i] = dlb_alloc(dlb_graph_size(graph), sizeof(float));
    int blocks = dlb_graph_block_count(graph);
    o->updates = dlb_alloc((size_t)blocks, sizeof *o->updates);
    for (int i = blocks - 1; i >= 0; i--)
        add_update(o, graph, &o->updates[i], dlb_graph_block(graph, i));
    return o;
}

void dlb_optimizer_free(dlb_optimizer *o)
{
    if (!o)
        return;
    for (int i = 0; i < STATES_MAX; i++)
        free(o->state[i]);
    free(o->updates);
    free(o);
}

void dlb_optimizer_begin_step(dlb_optimizer *o, double lr)
{
    o->steps++;
    o->method->begin_step(o, lr);
}

size_t dlb_optimizer_bytes(const dlb_workload *w, size_t parameters)
{
    return (size_t)methods[w->optimizer].states * parameters * sizeof(float);
}

double dlb_optimizer_flops(const dlb_optimizer *o)
{
    return o->method->cost(o).flops;
}
