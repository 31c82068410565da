#include "cli/bench_verify.h"

#include <math.h>

#include "base/mem.h"
#include "graph/pool.h"

double dlb_verify_difference(const float *actual, const float *expected, size_t count)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        double apart = (double)actual[i] - (double)expected[i];
        difference += apart * apart;
        size += (double)expected[i] * (double)expected[i];
    }
    if (!isfinite(difference) || !isfinite(size))
        return INFINITY;
    return difference > 0 ? sqrt(difference / fmax(size, 1e-60)) : 0;
}

/* ---- A table of kernels with few that are not of `ref` ---- */

typedef struct mixture {
    dlk_kernels kernels;
    const dlk_stage_forward *forward[2];
    const dlk_stage_backward *backward[2];
    const dlk_stage_forward *lane_forward[2];
    dlk_lanes lanes;
} mixture;

static void take_operation(dlk_kernels *to, const dlk_kernels *from, dlk_operation operation)
{
    switch (operation) {
#define TAKE(name, type)                                                                           \
    case DLK_OP_##name:                                                                            \
        to->name = from->name;                                                                     \
        break;
        DLK_OPERATIONS(TAKE)
#undef TAKE
    default:
        break;
    }
}

/* A stage needs kernels both ways: the other one is whatever the plan has. */
static void take_stage(mixture *m, const dlk_kernels *own, const dlb_kernel_parts *parts)
{
    m->kernels.stage_forward = own->stage_forward;
    m->kernels.stage_backward = own->stage_backward;
    if (parts->backward) {
        m->backward[0] = parts->backward;
        m->kernels.stage_backward = m->backward;
    } else if (parts->lanes) {
        m->lane_forward[0] = parts->forward;
        m->lanes = *own->lanes;
        m->lanes.forward = m->lane_forward;
        m->kernels.lanes = &m->lanes;
    } else {
        m->forward[0] = parts->forward;
        m->kernels.stage_forward = m->forward;
    }
}

static int mix(mixture *m, const dlk_kernels *own, const dlb_kernel_parts *parts, dlb_error *err)
{
    *m = (mixture){0};
    int status = dlk_kernels_select(&m->kernels, DLK_FAMILY_REF, DLK_ISA_AUTO, err);
    if (status < 0)
        return status;
    if (parts->whole)
        m->kernels = *own;
    else if (parts->forward || parts->backward)
        take_stage(m, own, parts);
    else
        take_operation(&m->kernels, own, parts->operation);
    return 0;
}

/* ---- A step ---- */

/* Ready to run the batch that the plan has. */
static int make_step(const dlb_kernel_plan *p, const dlk_kernels *kernels, dlb_bench_step *step,
                     dlb_error *err)
{
    int status = dlb_bench_step_init(step, p->model, kernels, p->batch, err);
    if (status < 0)
        return status;
    dlb_bench_step_seal(step, p->parameters);
    step->batch = p->blas.batch; /* it has the images as floats and as pixels */
    step->batch.gradients = step->gradients;
    step->batch.result = &step->result;
    if (step->pixels)
        step->batch.x = NULL;
    return 0;
}

static int run_step(const dlb_kernel_plan *p, const dlk_kernels *kernels, dlb_bench_step *step,
                    dlb_error *err)
{
    int status = make_step(p, kernels, step, err);
    if (status == 0)
        dlb_bench_step_run(step);
    return status;
}

static double loss_difference(double actual, double expected)
{
    double difference = fabs(actual - expected) / fmax(fabs(expected), 1e-30);
    return isnan(difference) ? INFINITY : difference;
}

/* Tensor by tensor, as small ones would drown in large ones. */
static double compare(const dlb_bench_step *actual, const dlb_bench_step *expected)
{
    const dlb_graph *graph = expected->graph;
    double worst = loss_difference(actual->result.loss_sum, expected->result.loss_sum);
    for (int i = 0; i < dlb_graph_block_count(graph); i++) {
        const dlb_block *block = dlb_graph_block(graph, i);
        const float *one = actual->gradients + block->offset;
        const float *other = expected->gradients + block->offset;
        size_t weights = (size_t)block->weights, biases = (size_t)block->biases;
        worst = fmax(worst, dlb_verify_difference(one, other, weights));
        worst = fmax(worst, dlb_verify_difference(one + weights, other + weights, biases));
    }
    return worst;
}

static int compare_with_ref(const dlb_kernel_plan *p, const mixture *m, double *error,
                            dlb_error *err)
{
    dlk_kernels ref;
    dlb_bench_step actual = {0}, expected = {0};
    int status = dlk_kernels_select(&ref, DLK_FAMILY_REF, DLK_ISA_AUTO, err);
    if (status == 0)
        status = run_step(p, &ref, &expected, err);
    if (status == 0)
        status = run_step(p, &m->kernels, &actual, err);
    if (status == 0)
        *error = compare(&actual, &expected);
    dlb_bench_step_release(&actual);
    dlb_bench_step_release(&expected);
    return status;
}

/* ---- An evaluation ---- */

static int run_evaluation(dlb_bench_step *step, dlb_error *err)
{
    dlb_pool *pool;
    dlb_pool_options options = {.threads = 1,
                                .teams = 1,
                                .scratch_floats = dlb_graph_scratch_floats(step->graph),
                                .shared_floats = dlb_graph_shared_floats(step->graph)};
    int status = dlb_pool_create(&pool, &options, err);
    if (status < 0)
        return status;
    dlb_graph_evaluate(step->graph, pool, &step->batch, NULL);
    dlb_pool_free(pool);
    return 0;
}

static int evaluate(const dlb_kernel_plan *p, const dlk_kernels *kernels, double *loss,
                    dlb_error *err)
{
    dlb_bench_step step = {0};
    int status = make_step(p, kernels, &step, err);
    if (status == 0)
        status = run_evaluation(&step, err);
    *loss = status == 0 ? step.result.loss_sum : NAN;
    dlb_bench_step_release(&step);
    return status;
}

static int compare_evaluations(const dlb_kernel_plan *p, const mixture *m, double *error,
                               dlb_error *err)
{
    dlk_kernels ref;
    double actual, expected;
    int status = dlk_kernels_select(&ref, DLK_FAMILY_REF, DLK_ISA_AUTO, err);
    if (status == 0)
        status = evaluate(p, &ref, &expected, err);
    if (status == 0)
        status = evaluate(p, &m->kernels, &actual, err);
    if (status == 0)
        *error = loss_difference(actual, expected);
    return status;
}

/* ---- An update ---- */

/* Parameters after an update with the gradients of the last step; to be freed. */
static int update(const dlb_kernel_plan *p, const dlk_kernels *kernels, float **updated,
                  dlb_error *err)
{
    size_t size = dlb_graph_size(p->own.graph);
    dlb_optimizer *optimizer;
    int status = dlb_optimizer_create(&optimizer, kernels, p->workload, size, err);
    if (status < 0)
        return status;
    *updated = dlb_alloc(size, sizeof **updated);
    memcpy(*updated, p->parameters, size * sizeof **updated);
    dlb_optimizer_begin_step(optimizer, p->workload->lr);
    dlb_optimizer_update(optimizer, 0, size, 1, p->own.gradients, *updated);
    dlb_optimizer_free(optimizer);
    return 0;
}

/* What an update has changed, beside what it should have. */
static double compare_updates(const dlb_kernel_plan *p, float *actual, float *expected)
{
    size_t size = dlb_graph_size(p->own.graph);
    for (size_t i = 0; i < size; i++) {
        actual[i] -= p->parameters[i];
        expected[i] -= p->parameters[i];
    }
    return dlb_verify_difference(actual, expected, size);
}

static int verify_update(const dlb_kernel_plan *p, double *error, dlb_error *err)
{
    dlk_kernels ref;
    float *actual = NULL, *expected = NULL;
    int status = dlk_kernels_select(&ref, DLK_FAMILY_REF, DLK_ISA_AUTO, err);
    if (status == 0)
        status = update(p, &ref, &expected, err);
    if (status == 0)
        status = update(p, &p->kernels, &actual, err);
    if (status == 0)
        *error = compare_updates(p, actual, expected);
    free(actual);
    free(expected);
    return status;
}

/* ---- A row ---- */

static bool updates(const dlb_kernel_parts *parts)
{
    return parts->operation == DLK_OP_sgd || parts->operation == DLK_OP_adam ||
           parts->operation == DLK_OP_adagrad;
}

static bool is_in_a_step(const dlb_kernel_parts *parts)
{
    return parts->whole || parts->forward || parts->backward || parts->operation != DLK_OP_COUNT;
}

int dlb_verify_row(const dlb_kernel_plan *p, const dlb_kernel_row *row, double *error,
                   dlb_error *err)
{
    mixture m;
    *error = NAN;
    if (updates(&row->parts))
        return verify_update(p, error, err);
    if (!is_in_a_step(&row->parts))
        return 0;
    int status = mix(&m, &p->kernels, &row->parts, err);
    if (status < 0)
        return status;
    return row->evaluation ? compare_evaluations(p, &m, error, err)
                           : compare_with_ref(p, &m, error, err);
}
