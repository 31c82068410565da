#include "train/optimizer.h"

#include <math.h>

#include "base/mem.h"
#include "dlk/cost.h"

/* A part of the parameters, and the part of the state that belongs to it. */
typedef struct part {
    size_t count;
    float ratio;
    const float *gradients;
    float *parameters, *state[DLB_OPTIMIZER_STATES];
} part;

typedef struct method {
    int states; /* arrays of the size of the parameters */
    void (*begin_step)(dlb_optimizer *o, double lr);
    void (*update)(const dlb_optimizer *o, dlk_team *alone, const part *p);
    dlk_cost (*cost)(const dlb_optimizer *o, size_t count);
} method;

struct dlb_optimizer {
    const method *method;
    bool clips; /* larc: no rate is larger than lr */
    dlk_kernels kernels;
    float *state[DLB_OPTIMIZER_STATES];
    long long steps;
    double lr, trust;
    dlk_sgd sgd;
    dlk_adam adam;
    dlk_adagrad adagrad;
};

/* ---- The methods ---- */

static void begin_sgd(dlb_optimizer *o, double lr)
{
    o->sgd.lr = (float)lr;
}

static void update_sgd(const dlb_optimizer *o, dlk_team *alone, const part *p)
{
    dlk_sgd sgd = o->sgd;
    sgd.scale = p->ratio;
    o->kernels.sgd(alone, p->count, &sgd, p->gradients, p->parameters, p->state[0]);
}

static dlk_cost cost_sgd(const dlb_optimizer *o, size_t count)
{
    return dlk_sgd_cost(count, o->sgd.momentum > 0);
}

static void begin_adam(dlb_optimizer *o, double lr)
{
    double t = (double)o->steps;
    o->adam.step_size = (float)(lr * sqrt(1 - pow(o->adam.beta2, t)) / (1 - pow(o->adam.beta1, t)));
}

static void update_adam(const dlb_optimizer *o, dlk_team *alone, const part *p)
{
    o->kernels.adam(alone, p->count, &o->adam, p->gradients, p->parameters, p->state[0],
                    p->state[1]);
}

static dlk_cost cost_adam(const dlb_optimizer *o, size_t count)
{
    (void)o;
    return dlk_adam_cost(count);
}

static void begin_adagrad(dlb_optimizer *o, double lr)
{
    o->adagrad.lr = (float)lr;
}

static void update_adagrad(const dlb_optimizer *o, dlk_team *alone, const part *p)
{
    o->kernels.adagrad(alone, p->count, &o->adagrad, p->gradients, p->parameters, p->state[0]);
}

static dlk_cost cost_adagrad(const dlb_optimizer *o, size_t count)
{
    (void)o;
    return dlk_adagrad_cost(count);
}

static const method methods[] = {
    [DLB_optimizer_sgd] = {1, begin_sgd, update_sgd, cost_sgd},
    [DLB_optimizer_adam] = {2, begin_adam, update_adam, cost_adam},
    [DLB_optimizer_adagrad] = {1, begin_adagrad, update_adagrad, cost_adagrad},
    [DLB_optimizer_lars] = {1, begin_sgd, update_sgd, cost_sgd},
    [DLB_optimizer_larc] = {1, begin_sgd, update_sgd, cost_sgd},
};

/* ---- Life ---- */

static void configure(dlb_optimizer *o, const dlb_workload *w)
{
    float weight_decay = (float)w->weight_decay, epsilon = (float)w->epsilon;
    o->clips = w->optimizer == DLB_optimizer_larc;
    o->trust = w->trust;
    o->sgd = (dlk_sgd){
        .momentum = (float)w->momentum, .weight_decay = weight_decay, .nesterov = w->nesterov};
    o->adam = (dlk_adam){
        .beta1 = w->beta1, .beta2 = w->beta2, .epsilon = epsilon, .weight_decay = weight_decay};
    o->adagrad = (dlk_adagrad){.epsilon = epsilon, .weight_decay = weight_decay};
}

int dlb_optimizer_create(dlb_optimizer **created, const dlk_kernels *kernels, const dlb_workload *w,
                         size_t count, dlb_error *err)
{
    dlb_optimizer *o = dlb_alloc(1, sizeof *o);
    o->method = &methods[w->optimizer];
    o->kernels = *kernels;
    configure(o, w);
    for (int i = 0; i < o->method->states; i++) {
        o->state[i] = dlb_try_alloc(count ? count : 1, sizeof(float));
        if (o->state[i])
            continue;
        dlb_optimizer_free(o);
        return dlb_fail(err, DLB_FAIL, "not enough memory for the optimizer's state of %.1f MB",
                        1e-6 * (double)dlb_optimizer_bytes(w, count));
    }
    *created = o;
    return 0;
}

void dlb_optimizer_free(dlb_optimizer *o)
{
    if (!o)
        return;
    for (int i = 0; i < DLB_OPTIMIZER_STATES; i++)
        free(o->state[i]);
    free(o);
}

/* ---- A step ---- */

void dlb_optimizer_begin_step(dlb_optimizer *o, double lr)
{
    o->steps++;
    o->lr = lr;
    o->method->begin_step(o, lr);
}

void dlb_optimizer_update(dlb_optimizer *o, size_t state, size_t count, float ratio,
                          const float *gradients, float *parameters)
{
    dlk_team alone;
    dlk_team_init(&alone, 1, NULL, NULL, 0, 0);
    part p = {.count = count, .ratio = ratio, .gradients = gradients, .parameters = parameters};
    for (int i = 0; i < o->method->states; i++)
        p.state[i] = o->state[i] + state;
    o->method->update(o, &alone, &p);
}

bool dlb_optimizer_needs_norms(const dlb_workload *w)
{
    return w->optimizer == DLB_optimizer_lars || w->optimizer == DLB_optimizer_larc;
}

float dlb_optimizer_ratio(const dlb_optimizer *o, double weights_squared, double gradients_squared)
{
    double w = sqrt(weights_squared), g = sqrt(gradients_squared);
    if (!(w > 0) || !(g > 0))
        return 1;
    double ratio = o->trust * w / (g + (double)o->sgd.weight_decay * w);
    if (o->clips)
        ratio = fmin(ratio / o->lr, 1);
    return (float)ratio;
}

/* ---- Access ---- */

int dlb_optimizer_states(const dlb_optimizer *o)
{
    return o->method->states;
}

float *dlb_optimizer_state(dlb_optimizer *o, int index)
{
    return o->state[index];
}

long long dlb_optimizer_steps(const dlb_optimizer *o)
{
    return o->steps;
}

void dlb_optimizer_set_steps(dlb_optimizer *o, long long steps)
{
    o->steps = steps;
}

size_t dlb_optimizer_bytes(const dlb_workload *w, size_t parameters)
{
    return (size_t)methods[w->optimizer].states * parameters * sizeof(float);
}

double dlb_optimizer_flops(const dlb_optimizer *o, size_t parameters)
{
    return o->method->cost(o, parameters).flops;
}
