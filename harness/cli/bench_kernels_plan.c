#include <math.h>

#include "base/mem.h"
#include "cli/bench_kernels.h"
#include "graph/cost.h"
#include "record/whole_step.h"
#include "train/init.h"

/* ---- Life ---- */

static int make_optimizers(dlb_kernel_plan *p, size_t count, dlb_error *err)
{
    int status = dlb_optimizer_create(&p->optimizer, &p->kernels, p->workload, count, err);
    if (status == 0)
        status =
            dlb_optimizer_create(&p->blas_optimizer, &p->blas_kernels, p->workload, count, err);
    return status;
}

int dlb_kernel_plan_init(dlb_kernel_plan *p, dlb_error *err)
{
    int status = dlb_bench_step_init(&p->own, p->model, &p->kernels, p->batch, err);
    if (status == 0)
        status = dlb_bench_step_init(&p->blas, p->model, &p->blas_kernels, p->batch, err);
    if (status == 0)
        status = make_optimizers(p, dlb_graph_size(p->own.graph), err);
    if (status < 0)
        return status;
    p->parameters = dlb_alloc(dlb_graph_size(p->own.graph), sizeof *p->parameters);
    dlb_bench_step_seal(&p->own, p->parameters);
    dlb_bench_step_seal(&p->blas, p->parameters);
    dlb_init_parameters(p->own.graph, p->model->init, (uint32_t)p->workload->seed);
    return 0;
}

/* What a call works with is either part of the plan or a list of operations. */
static void release_ops(dlb_kernel_call *call)
{
    if (call->run != dlb_bench_ops_run)
        return;
    dlb_bench_ops *ops = call->self;
    free(ops->list);
    free(ops);
}

void dlb_kernel_plan_release(dlb_kernel_plan *p)
{
    for (size_t i = 0; i < p->row_count; i++) {
        release_ops(&p->rows[i].own);
        release_ops(&p->rows[i].blas);
        dlb_bench_product_free(p->rows[i].product);
        free(p->rows[i].own_s);
        free(p->rows[i].blas_s);
    }
    for (size_t i = 0; i < p->stage_count; i++)
        dlb_bench_stage_free(p->stages[i]);
    free(p->rows);
    free(p->stages);
    free(p->parameters);
    dlb_optimizer_free(p->blas_optimizer);
    dlb_optimizer_free(p->optimizer);
    dlb_bench_step_release(&p->blas);
    dlb_bench_step_release(&p->own);
}

void dlb_kernel_plan_use(dlb_kernel_plan *p, dlk_team *team)
{
    p->own.team = team ? team : &p->own.alone;
    p->blas.team = team ? team : &p->blas.alone;
}

/* ---- The optimizer ---- */

enum { UPDATE_PART = 16 * DLB_BLOCK_GRAIN };

typedef struct update_job {
    dlb_kernel_plan *plan;
    dlb_optimizer *optimizer;
} update_job;

static void update_part(void *arg, int task, int thread)
{
    const update_job *job = arg;
    dlb_kernel_plan *p = job->plan;
    size_t size = dlb_graph_size(p->own.graph), first = (size_t)task * UPDATE_PART;
    size_t count = size - first < UPDATE_PART ? size - first : UPDATE_PART;
    (void)thread;
    dlb_optimizer_update(job->optimizer, first, count, 1, p->own.gradients + first,
                         p->parameters + first);
}

static void update(dlb_kernel_plan *p, dlb_optimizer *optimizer, double lr)
{
    update_job job = {p, optimizer};
    size_t parts = (dlb_graph_size(p->own.graph) + UPDATE_PART - 1) / UPDATE_PART;
    dlb_optimizer_begin_step(optimizer, lr);
    dlk_parallel(p->own.team, (int)parts, update_part, &job);
}

void dlb_kernel_plan_train(dlb_kernel_plan *p)
{
    dlb_bench_step_run(&p->own);
    update(p, p->optimizer, p->workload->lr);
}

/* What is measured takes as long with a rate that leaves the parameters as they are. */
static void update_own(void *self)
{
    dlb_kernel_plan *p = self;
    update(p, p->optimizer, 0);
}

static void update_blas(void *self)
{
    dlb_kernel_plan *p = self;
    update(p, p->blas_optimizer, 0);
}

static void step_own(void *self)
{
    dlb_kernel_plan *p = self;
    dlb_bench_step_run(&p->own);
    update_own(p);
}

static void step_blas(void *self)
{
    dlb_kernel_plan *p = self;
    dlb_bench_step_run(&p->blas);
    update_blas(p);
}

static dlk_cost update_cost(const dlb_kernel_plan *p)
{
    size_t count = dlb_graph_size(p->own.graph);
    double state = (double)dlb_optimizer_bytes(p->workload, count);
    /* The gradient is read; parameters and state are read and written. */
    return (dlk_cost){dlb_optimizer_flops(p->optimizer, count),
                      3.0 * (double)(count * sizeof(float)) + 2 * state};
}

/* ---- Rows ---- */

/* `what` may be NULL. */
static dlb_kernel_row *add_row(dlb_kernel_plan *p, const char *layers, const char *what)
{
    p->rows = dlb_grow(p->rows, &p->row_capacity, p->row_count + 1, sizeof *p->rows);
    dlb_kernel_row *row = &p->rows[p->row_count++];
    *row =
        (dlb_kernel_row){.images = p->batch, .nonzero = NAN, .parts = {.operation = DLK_OP_COUNT}};
    snprintf(row->name, sizeof row->name, "%s%s%s", layers, what ? " " : "", what ? what : "");
    return row;
}

static dlb_kernel_call call_of_ops(dlb_bench_step *step)
{
    dlb_bench_ops *ops = dlb_alloc(1, sizeof *ops);
    ops->step = step;
    return (dlb_kernel_call){ops, dlb_bench_ops_run, dlb_bench_ops_prepare, 1};
}

static double nonzero_of(const float *values, size_t count)
{
    size_t nonzero = 0;
    for (size_t i = 0; i < count; i++)
        nonzero += values[i] != 0;
    return (double)nonzero / (double)count;
}

static size_t batch_of(const dlb_kernel_plan *p, dlb_shape shape)
{
    return (size_t)p->batch * (size_t)dlb_shape_size(shape);
}

/* The input of a layer in this batch. */
static const float *input_of(const dlb_kernel_plan *p, const dlb_layer *layer)
{
    const float *x = dlb_bench_step_node(&p->blas, layer)->x;
    return x ? x : p->blas.batch.x;
}

/* ---- Rows of stages ---- */

static void name_layers(const dlb_kernel_plan *p, const dlb_stage *stage, char *name, size_t size)
{
    const dlb_layer *layers = p->model->layers;
    if (stage->end == stage->first + 1)
        snprintf(name, size, "%s", layers[stage->first].name);
    else
        snprintf(name, size, "%s–%s", layers[stage->first].name, layers[stage->end - 1].name);
}

/* The operations of all its layers, one after the other, as they are without fusion. */
static dlb_kernel_call call_of_layers(dlb_kernel_plan *p, const dlb_stage *stage, dlb_phase phase)
{
    dlb_kernel_call call = call_of_ops(&p->blas);
    for (int i = 0; i < p->blas.op_count; i++)
        for (int k = stage->first; k < stage->end; k++)
            if (p->blas.ops[i].phase == phase &&
                dlb_bench_op_is_of(&p->blas.ops[i], &p->model->layers[k]))
                dlb_bench_ops_add(call.self, &p->blas.ops[i]);
    return call;
}

static dlb_bench_stage *make_stage(dlb_kernel_plan *p, const dlb_stage *stage)
{
    const dlb_layer *first = &p->model->layers[stage->first];
    const dlb_node *node = dlb_bench_step_node(&p->blas, first);
    const dlb_node *last = dlb_bench_step_node(&p->blas, &p->model->layers[stage->end - 1]);
    dlb_bench_stage_data data = {.images = p->batch,
                                 .weights = node->weights,
                                 .bias = node->bias,
                                 .x = input_of(p, first),
                                 .dy = last->dy,
                                 .step = &p->blas.batch,
                                 .alive = p->alive};
    p->stages =
        dlb_grow(p->stages, &p->stage_capacity, p->stage_count + 1, sizeof(dlb_bench_stage *));
    dlb_bench_stage *made = dlb_bench_stage_create(stage, p->model, &p->kernels, &data);
    p->stages[p->stage_count++] = made;
    return made;
}

static void add_keep(dlb_kernel_plan *p, const dlb_stage *plan, dlb_bench_stage *stage)
{
    int layer = plan->dropout >= 0 ? plan->dropout : plan->dropout2d;
    if (layer < 0)
        return;
    dlb_kernel_row *row = add_row(p, p->model->layers[layer].name, "keep");
    row->kernel = dlk_family_name(p->kernels.origin[DLK_OP_dropout_keep]);
    row->parts.operation = DLK_OP_dropout_keep;
    row->cost = dlb_layer_forward_cost(&p->model->layers[layer], p->batch);
    row->own = (dlb_kernel_call){stage, dlb_bench_stage_keep, NULL, 1};
}

/* `lanes`: of many images at once */
static dlb_kernel_row *add_forward(dlb_kernel_plan *p, const char *layers, const dlb_stage *plan,
                                   dlb_bench_stage *stage, bool lanes)
{
    dlb_kernel_row *row = add_row(p, layers, "forward");
    row->parts.forward = lanes ? plan->lanes : plan->forward;
    row->parts.lanes = lanes;
    row->kernel = row->parts.forward->name;
    row->cost = dlb_bench_stage_forward_cost(plan, p->batch);
    row->own = (dlb_kernel_call){
        stage, lanes ? dlb_bench_stage_forward_lanes : dlb_bench_stage_forward, NULL, 1};
    return row;
}

static void add_evaluation(dlb_kernel_plan *p, const char *layers, const dlb_stage *plan,
                           dlb_bench_stage *stage)
{
    if (!dlb_stages_in_lanes(plan, p->batch, &p->kernels))
        return;
    dlb_kernel_row *row = add_row(p, layers, "evaluation");
    row->evaluation = true;
    row->parts.forward = plan->lanes;
    row->parts.lanes = true;
    row->kernel = plan->lanes->name;
    row->cost = dlb_bench_stage_evaluation_cost(plan, p->batch);
    row->own = (dlb_kernel_call){stage, dlb_bench_stage_evaluate, NULL, 1};
}

/* The other kernels that fit the stage, on the same data; `used`: the one that the plan chose. */
static void add_alternatives(dlb_kernel_plan *p, const char *layers, const dlb_stage *plan,
                             const dlk_stage_forward *used)
{
    dlb_stage other = *plan;
    for (int i = 0; p->kernels.stage_forward[i]; i++) {
        other.forward = p->kernels.stage_forward[i];
        if (other.forward == used || other.forward->misfit(&plan->shape))
            continue;
        add_forward(p, layers, &other, make_stage(p, &other), false)->alternative = true;
    }
}

/* The same multiply-adds by sgemm. */
static void add_product(dlb_kernel_plan *p, const char *layers, const dlb_stage *plan)
{
    dlb_kernel_row *row = add_row(p, layers, "forward");
    row->kernel = DLB_KERNEL_PRODUCT;
    row->alternative = true;
    row->cost = dlb_bench_product_cost(&plan->shape.conv, p->batch);
    row->product = dlb_bench_product_create(&plan->shape.conv, p->batch);
    row->own = (dlb_kernel_call){row->product, dlb_bench_product_run, NULL, 1};
}

static void add_backward(dlb_kernel_plan *p, const char *layers, const dlb_stage *plan,
                         dlb_bench_stage *stage)
{
    dlb_kernel_row *row = add_row(p, layers, "backward");
    row->kernel = plan->backward->name;
    row->parts.backward = plan->backward;
    row->cost = dlb_bench_stage_backward_cost(plan, p->batch);
    row->nonzero = dlb_bench_stage_alive(stage);
    row->own = (dlb_kernel_call){stage, dlb_bench_stage_backward, NULL, 1};
    row->blas = call_of_layers(p, plan, DLB_PHASE_BACKWARD);
}

static void add_stage(dlb_kernel_plan *p, const dlb_stage *plan, bool lanes)
{
    char name[64];
    dlb_bench_stage *stage = make_stage(p, plan);
    name_layers(p, plan, name, sizeof name);
    dlb_kernel_row *forward = add_forward(p, name, plan, stage, lanes);
    forward->blas = call_of_layers(p, plan, DLB_PHASE_FORWARD);
    add_alternatives(p, name, plan, lanes ? plan->lanes : plan->forward);
    add_evaluation(p, name, plan, stage);
    add_product(p, name, plan);
    add_keep(p, plan, stage);
    add_backward(p, name, plan, stage);
}

/* ---- Rows of layers that are computed by themselves ---- */

/* Data and weights of one layer cost alike: its backward without data is that of the weights. */
static dlk_cost cost_of(const dlb_layer *layer, dlb_phase phase, int n)
{
    if (phase == DLB_PHASE_FORWARD)
        return dlb_layer_forward_cost(layer, n);
    return dlb_layer_backward_cost(layer, n, layer->weights == 0);
}

/* A product skips what is zero in x and, backward, in dy. */
static double nonzero_for(const dlb_kernel_plan *p, const dlb_layer *layer, dlb_phase phase)
{
    if (layer->weights == 0)
        return NAN;
    if (phase == DLB_PHASE_FORWARD)
        return nonzero_of(input_of(p, layer), batch_of(p, layer->in));
    return nonzero_of(dlb_bench_step_node(&p->blas, layer)->dy, batch_of(p, layer->out));
}

static dlb_kernel_call call_of_op(dlb_bench_step *step, const char *name)
{
    dlb_kernel_call call = call_of_ops(step);
    for (int i = 0; i < step->op_count; i++)
        if (strcmp(step->ops[i].name, name) == 0)
            dlb_bench_ops_add(call.self, &step->ops[i]);
    return call;
}

static void add_layer(dlb_kernel_plan *p, const dlb_layer *layer)
{
    for (int i = 0; i < p->own.op_count; i++) {
        const dlb_op *op = &p->own.ops[i];
        if (!dlb_bench_op_is_of(op, layer))
            continue;
        const char *what = op->name + strlen(layer->name) + 1;
        dlb_kernel_row *row = add_row(p, layer->name, what);
        row->kernel = dlk_family_name(p->kernels.origin[op->operation]);
        row->parts.operation = op->operation;
        row->cost = cost_of(layer, op->phase, p->batch);
        row->nonzero = nonzero_for(p, layer, op->phase);
        row->own = call_of_op(&p->own, op->name);
        row->blas = call_of_op(&p->blas, op->name);
    }
}

/* ---- Rows of the whole ---- */

static dlb_kernel_call call_of_step(dlb_bench_step *step)
{
    dlb_kernel_call call = call_of_ops(step);
    for (int i = 0; i < step->op_count; i++)
        dlb_bench_ops_add(call.self, &step->ops[i]);
    return call;
}

static void add_whole(dlb_kernel_plan *p)
{
    dlb_kernel_row *row = add_row(p, "all layers", "forward and backward");
    row->kernel = dlk_family_name(p->kernels.family);
    row->parts.whole = true;
    row->cost = dlb_model_train_cost(p->model, p->batch);
    row->own = call_of_step(&p->own);
    row->blas = call_of_step(&p->blas);
}

static void add_step(dlb_kernel_plan *p)
{
    dlb_kernel_row *row = add_row(p, DLB_WHOLE_STEP, NULL);
    dlk_cost layers = dlb_model_train_cost(p->model, p->batch), parameters = update_cost(p);
    row->kernel = dlk_family_name(p->kernels.family);
    row->parts.whole = true;
    row->cost = (dlk_cost){layers.flops + parameters.flops, layers.bytes + parameters.bytes};
    row->own = (dlb_kernel_call){p, step_own, NULL, 1};
    row->blas = (dlb_kernel_call){p, step_blas, NULL, 1};
}

static void add_update(dlb_kernel_plan *p)
{
    static const dlk_operation operations[] = {[DLB_optimizer_sgd] = DLK_OP_sgd,
                                               [DLB_optimizer_adam] = DLK_OP_adam,
                                               [DLB_optimizer_adagrad] = DLK_OP_adagrad,
                                               [DLB_optimizer_lars] = DLK_OP_sgd,
                                               [DLB_optimizer_larc] = DLK_OP_sgd};
    int optimizer = p->workload->optimizer;
    dlb_kernel_row *row =
        add_row(p, dlb_key_info(DLB_KEY_optimizer)->choices[optimizer], "update (a step)");
    row->images = 1;
    row->kernel = dlk_family_name(p->kernels.origin[operations[optimizer]]);
    row->parts.operation = operations[optimizer];
    row->cost = update_cost(p);
    row->own = (dlb_kernel_call){p, update_own, NULL, 1};
    row->blas = (dlb_kernel_call){p, update_blas, NULL, 1};
}

/* ---- Rows of a model ---- */

/* Operations of a trunk are those of no layer by itself. */
static bool is_of_trunk(const dlb_kernel_plan *p, const dlb_op *op)
{
    for (int i = 0; i < p->model->layer_count; i++)
        if (dlb_bench_op_is_of(op, &p->model->layers[i]))
            return false;
    return true;
}

/* All stages of a model in one pass, as a team computes them. */
static void add_convolutions(dlb_kernel_plan *p, dlb_phase phase, dlk_cost cost)
{
    if (cost.flops == 0)
        return;
    dlb_kernel_row *row = add_row(p, "all stages", dlb_phase_name(phase));
    row->kernel = dlk_family_name(p->kernels.family);
    row->parts.whole = true;
    row->cost = cost;
    row->own = call_of_ops(&p->own);
    for (int i = 0; i < p->own.op_count; i++)
        if (p->own.ops[i].phase == phase && is_of_trunk(p, &p->own.ops[i]))
            dlb_bench_ops_add(row->own.self, &p->own.ops[i]);
}

/* Adds what the stages cost to the sums of both passes. */
static void count_stages(const dlb_kernel_plan *p, const dlb_stage *stages, int count,
                         dlk_cost sums[DLB_PHASES])
{
    for (int k = 0; k < count; k++) {
        dlk_cost costs[] = {
            [DLB_PHASE_FORWARD] = dlb_bench_stage_forward_cost(&stages[k], p->batch),
            [DLB_PHASE_BACKWARD] = dlb_bench_stage_backward_cost(&stages[k], p->batch)};
        for (int phase = 0; phase < DLB_PHASE_UPDATE; phase++) {
            sums[phase].flops += costs[phase].flops;
            sums[phase].bytes += costs[phase].bytes;
        }
    }
}

/* The stages of a trunk from layer `first` on; returns the end of them. */
static int add_trunk(dlb_kernel_plan *p, int first, dlk_cost sums[DLB_PHASES])
{
    dlb_stage stages[DLB_TRUNK_STAGES];
    int count = dlb_trunk_stages(p->model, first, &p->kernels, stages);
    bool lanes = count && dlb_stages_train_in_lanes(stages, count, p->batch, &p->kernels);
    count_stages(p, stages, count, sums);
    for (int k = 0; k < count && p->threads == 1; k++)
        add_stage(p, &stages[k], lanes);
    return count ? stages[count - 1].end : first;
}

void dlb_kernel_plan_make_rows(dlb_kernel_plan *p)
{
    dlk_cost sums[DLB_PHASES] = {{0}};
    for (int i = 0; i < p->model->layer_count;) {
        int end = add_trunk(p, i, sums);
        if (end == i)
            add_layer(p, &p->model->layers[end++]);
        i = end;
    }
    for (int phase = 0; phase < DLB_PHASE_UPDATE && p->threads > 1; phase++)
        add_convolutions(p, (dlb_phase)phase, sums[phase]);
    add_whole(p);
    add_update(p);
    add_step(p);
}
