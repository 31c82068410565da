#include "cli/bench_kernels_step.h"

#include "base/mem.h"

/* ---- Life ---- */

int dlb_bench_step_init(dlb_bench_step *step, const dlb_model *model, const dlk_kernels *kernels,
                        int batch, dlb_error *err)
{
    *step = (dlb_bench_step){.kernels = kernels, .pixels = dlb_graph_takes_pixels(model, kernels)};
    int status = dlb_graph_create(&step->graph, model, batch, kernels, 0, err);
    if (status < 0)
        return status;
    size_t scratch = dlb_graph_scratch_floats(step->graph);
    step->scratch = dlb_alloc(scratch, sizeof *step->scratch);
    step->gradients = dlb_alloc(dlb_graph_size(step->graph), sizeof *step->gradients);
    step->shared = dlb_alloc(dlb_graph_shared_floats(step->graph), sizeof *step->shared);
    dlk_team_init(&step->alone, 1, NULL, step->scratch, scratch, 0);
    step->alone.shared = step->shared;
    step->team = &step->alone;
    return 0;
}

void dlb_bench_step_release(dlb_bench_step *step)
{
    free(step->ops);
    free(step->gradients);
    free(step->shared);
    free(step->scratch);
    dlb_graph_free(step->graph);
    *step = (dlb_bench_step){0};
}

/* At the end of the program of a step: all its operations are there. */
static void copy_ops(void *arg, dlb_program *program, dlb_graph_place place, const dlb_block *block,
                     bool ends_step)
{
    (void)block;
    dlb_bench_step *step = arg;
    if (place != DLB_AT_END || !ends_step)
        return;
    size_t count = (size_t)program->count;
    step->op_count = program->count;
    step->ops = dlb_alloc(count, sizeof *step->ops);
    memcpy(step->ops, program->ops, count * sizeof *step->ops);
}

void dlb_bench_step_seal(dlb_bench_step *step, float *parameters)
{
    dlb_copies_init(&step->copies, parameters, dlb_graph_size(step->graph));
    dlb_graph_seal(step->graph, parameters, copy_ops, step);
}

/* ---- Running ---- */

void dlb_bench_step_take(dlb_bench_step *step, const dlb_batch *batch, const dlb_dataset *set,
                         const dlb_loader *loader)
{
    step->batch = (dlb_step){
        .n = batch->count,
        .step_images = batch->count,
        .x = step->pixels ? NULL : batch->x,
        .pixels = {set->images, batch->indices, dlb_loader_scale(loader)},
        .labels = batch->labels,
        .step = (uint32_t)batch->step,
        .gradients = step->gradients,
        .ends_step = true,
        .result = &step->result,
    };
}

static void run_op(dlb_bench_step *step, const dlb_op *op)
{
    dlb_blocks in_no_chain = {0};
    dlb_node_context context = {.kernels = step->kernels,
                                .step = &step->batch,
                                .blocks = &in_no_chain,
                                .copies = &step->copies};
    op->run(op->self, &context, step->team);
}

void dlb_bench_step_run(dlb_bench_step *step)
{
    for (int i = 0; i < step->op_count; i++)
        run_op(step, &step->ops[i]);
    step->spoilt = false;
}

/* ---- Some of its operations ---- */

bool dlb_bench_op_is_of(const dlb_op *op, const dlb_layer *layer)
{
    size_t length = strlen(layer->name);
    return strncmp(op->name, layer->name, length) == 0 && op->name[length] == ' ';
}

void dlb_bench_ops_add(dlb_bench_ops *ops, const dlb_op *op)
{
    ops->list = dlb_grow(ops->list, &ops->capacity, (size_t)ops->count + 1, sizeof(dlb_op *));
    ops->list[ops->count++] = op;
}

static bool writes(const dlb_op *op, int buffer)
{
    for (int i = 0; i < op->write_count; i++)
        if (op->writes[i] == buffer)
            return true;
    return false;
}

/* Whether some of those of the step that write a buffer are there, but not all. */
static bool has_some_writers(const dlb_bench_ops *ops, int buffer)
{
    int all = 0, some = 0;
    for (int i = 0; i < ops->step->op_count; i++)
        all += writes(&ops->step->ops[i], buffer);
    for (int i = 0; i < ops->count; i++)
        some += writes(ops->list[i], buffer);
    return some > 0 && some < all;
}

/*
 * What some of several writers leave in a buffer, as layers in place are, is no step's: dropout
 * scales again what it has scaled before; a gradient that no ReLU behind it cuts has no zeros.
 */
static bool spoils(const dlb_bench_ops *ops)
{
    for (int i = 0; i < ops->count; i++)
        for (int k = 0; k < ops->list[i]->write_count; k++)
            if (has_some_writers(ops, ops->list[i]->writes[k]))
                return true;
    return false;
}

void dlb_bench_ops_prepare(void *self)
{
    dlb_bench_ops *ops = self;
    if (ops->step->spoilt)
        dlb_bench_step_run(ops->step);
    ops->step->spoilt = spoils(ops);
}

void dlb_bench_ops_run(void *self)
{
    dlb_bench_ops *ops = self;
    for (int i = 0; i < ops->count; i++)
        run_op(ops->step, ops->list[i]);
}

const dlb_node *dlb_bench_step_node(const dlb_bench_step *step, const dlb_layer *layer)
{
    int i = 0;
    while (!dlb_bench_op_is_of(&step->ops[i], layer))
        i++;
    return step->ops[i].self;
}
