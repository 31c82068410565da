#include "cli/bench_kernels_training.h"

#include "cli/bench_layers.h"
#include "cli/stop.h"
#include "train/choice.h"
#include "train/defaults.h"
#include "train/fit.h"

/* ---- What is asked for ---- */

void dlb_kernel_training_init(dlb_kernel_training *t)
{
    *t = (dlb_kernel_training){0};
    dlb_workload_init(&t->workload);
}

int dlb_kernel_training_ask(dlb_kernel_training *t, const dlb_kernel_request *request,
                            dlb_error *err)
{
    const struct {
        enum dlb_key key;
        const char *text;
    } given[] = {{DLB_KEY_model, request->model},
                 {DLB_KEY_data, request->data},
                 {DLB_KEY_kernels, request->kernels},
                 {DLB_KEY_isa, request->isa},
                 {DLB_KEY_batch, request->batch}};
    int status = 0;
    for (size_t i = 0; i < sizeof given / sizeof *given && status == 0; i++)
        if (given[i].text)
            status = dlb_workload_set(&t->workload, given[i].key, given[i].text, err);
    if (status == 0 && request->layers && !request->data)
        status = dlb_workload_set(&t->workload, DLB_KEY_data, "synthetic", err);
    if (status == 0)
        status = request->layers ? dlb_bench_layers_parse(&t->model, request->layers, err)
                                 : dlb_model_load(&t->model, t->workload.model, err);
    return status < 0 ? status : dlb_defaults_apply(&t->model, &t->workload, err);
}

void dlb_kernel_training_release(dlb_kernel_training *t)
{
    dlb_kernel_plan_release(&t->plan);
    dlb_loader_free(t->loader);
    dlb_data_release(&t->data);
    dlb_model_release(&t->model);
    dlb_workload_release(&t->workload);
}

int dlb_kernel_request_check(const dlb_kernel_request *request, dlk_kernels *kernels,
                             dlb_error *err)
{
    dlb_kernel_training training;
    dlb_kernel_training_init(&training);
    int status = dlb_kernel_training_ask(&training, request, err);
    if (status == 0)
        status = dlb_choose_kernels(kernels, &training.workload, err);
    dlb_kernel_training_release(&training);
    return status;
}

/* ---- Up to a step amid training ---- */

/* Those that were asked for, and OpenBLAS with the same instruction set. */
static int choose_kernels(dlb_kernel_training *t, dlb_error *err)
{
    dlb_workload workload;
    dlb_workload_copy(&workload, &t->workload);
    int status = dlb_choose_kernels(&t->plan.kernels, &workload, err);
    workload.kernels = DLB_kernels_blas;
    if (status == 0)
        status = dlb_choose_kernels(&t->plan.blas_kernels, &workload, err);
    dlb_workload_release(&workload);
    return status;
}

/* No more than are trained on, which saves inflating the rest; a smaller set is taken whole. */
static int load_data(dlb_kernel_training *t, long long steps, dlb_error *err)
{
    const dlb_workload *w = &t->workload;
    double wanted = (double)(steps + 1) * (double)w->batch;
    int status = DLB_FAIL;
    if (wanted < INT_MAX)
        status = dlb_fit_load(&t->data, &t->model, w->data, (int)wanted, 1, err);
    if (status < 0)
        status = dlb_fit_load(&t->data, &t->model, w->data, 0, 0, err);
    if (status == 0 && t->data.train.count < w->batch)
        return dlb_fail(err, DLB_BAD_INPUT, "--batch %lld: %s has only %d images", w->batch,
                        w->data, t->data.train.count);
    return status;
}

static int make_loader(dlb_kernel_training *t, dlb_error *err)
{
    dlb_loader_options loader = {.set = &t->data.train,
                                 .batch = (int)t->workload.batch,
                                 .drop_last = true,
                                 .shuffle = DLB_SHUFFLE_GLOBAL,
                                 .mean = t->model.mean,
                                 .std = t->model.std};
    return dlb_loader_create(&t->loader, &loader, err);
}

static const dlb_batch *next_batch(dlb_kernel_training *t, long long step)
{
    long long steps = dlb_loader_steps(t->loader);
    if (step % steps == 0)
        dlb_loader_begin_epoch(t->loader, (uint32_t)(step / steps), 0);
    return dlb_loader_next(t->loader);
}

/* Train as far as was asked for; then both sides run a step with one more batch. */
static int train(dlb_kernel_training *t, long long steps, dlb_bench_progress *progress,
                 dlb_error *err)
{
    dlb_kernel_plan *p = &t->plan;
    for (long long step = 0; step <= steps; step++) {
        dlb_bench_progress_show(progress, "training: step %lld of %lld", step, steps);
        const dlb_batch *batch = next_batch(t, step);
        dlb_bench_step_take(&p->own, batch, &t->data.train, t->loader);
        dlb_bench_step_take(&p->blas, batch, &t->data.train, t->loader);
        if (dlb_stop_asked())
            return dlb_fail(err, DLB_STOPPED, "stopped before anything was measured");
        if (step < steps)
            dlb_kernel_plan_train(p);
    }
    dlb_bench_step_run(&p->own);
    dlb_bench_step_run(&p->blas);
    return 0;
}

int dlb_kernel_training_start(dlb_kernel_training *t, long long steps, double alive,
                              dlb_bench_progress *progress, dlb_error *err)
{
    dlb_kernel_plan *p = &t->plan;
    p->model = &t->model;
    p->workload = &t->workload;
    p->batch = (int)t->workload.batch;
    p->alive = alive;
    p->threads = t->threads > 0 ? t->threads : 1;
    int status = choose_kernels(t, err);
    if (status == 0)
        status = load_data(t, steps, err);
    if (status == 0)
        status = make_loader(t, err);
    if (status == 0)
        status = dlb_kernel_plan_init(p, err);
    if (status == 0)
        status = train(t, steps, progress, err);
    if (status == 0)
        dlb_kernel_plan_make_rows(p);
    return status;
}
