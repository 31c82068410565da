#include <dlbench/trainer.h>

#include "base/mem.h"
#include "train/session.h"

/* The public codes are the internal ones. */
_Static_assert((int)DLBENCH_FAIL == (int)DLB_FAIL, "fail");
_Static_assert((int)DLBENCH_BAD_INPUT == (int)DLB_BAD_INPUT, "bad input");
_Static_assert((int)DLBENCH_DIVERGED == (int)DLB_DIVERGED, "diverged");
_Static_assert((int)DLBENCH_STOPPED == (int)DLB_STOPPED, "stopped");

struct dlbench_trainer {
    dlb_workload workload;
    dlb_session *session; /* from load on */
    dlbench_step_fn *on_step;
    void *on_step_arg;
};

static int publish(dlbench_error *err, const dlb_error *internal, int status)
{
    if (status < 0 && err) {
        err->code = status;
        snprintf(err->message, sizeof err->message, "%s", internal->message);
    }
    return status;
}

static dlbench_metrics publish_metrics(dlb_metrics m)
{
    return (dlbench_metrics){.loss = m.loss, .accuracy = m.accuracy, .images = m.images};
}

static dlbench_progress publish_progress(const dlb_progress *p)
{
    return (dlbench_progress){
        .epoch = p->epoch, .step = p->step, .steps = p->steps, .train = publish_metrics(p->train)};
}

/* The caller may look at the parameters; that they cannot be had, the next step will say. */
static int forward_step(void *arg, const dlb_progress *progress)
{
    dlbench_trainer *t = arg;
    if (!t->on_step)
        return 0;
    dlbench_progress shown = publish_progress(progress);
    dlb_session_settle(t->session, NULL);
    return t->on_step(t->on_step_arg, &shown);
}

static int needs_load(const dlbench_trainer *t, dlbench_error *err)
{
    if (t->session)
        return 0;
    dlb_error internal;
    return publish(err, &internal,
                   dlb_fail(&internal, DLB_BAD_INPUT, "call dlbench_trainer_load first"));
}

const char *dlbench_version_text(void)
{
    return DLB_VERSION;
}

dlbench_trainer *dlbench_trainer_create(void)
{
    dlbench_trainer *t = dlb_alloc(1, sizeof *t);
    dlb_workload_init(&t->workload);
    return t;
}

void dlbench_trainer_destroy(dlbench_trainer *t)
{
    if (!t)
        return;
    dlb_session_free(t->session);
    dlb_workload_release(&t->workload);
    free(t);
}

int dlbench_trainer_set(dlbench_trainer *t, const char *key, const char *value, dlbench_error *err)
{
    dlb_error internal;
    int status, found = dlb_key_find(key);
    if (t->session)
        status = dlb_fail(&internal, DLB_BAD_INPUT, "%s: keys are set before load", key);
    else if (found < 0)
        status = dlb_fail(&internal, DLB_BAD_INPUT, "there is no key '%s'", key);
    else
        status = dlb_workload_set(&t->workload, (enum dlb_key)found, value, &internal);
    return publish(err, &internal, status);
}

void dlbench_trainer_on_step(dlbench_trainer *t, dlbench_step_fn *fn, void *arg)
{
    t->on_step = fn;
    t->on_step_arg = arg;
}

int dlbench_trainer_load(dlbench_trainer *t, dlbench_error *err)
{
    dlb_error internal;
    if (t->session)
        return publish(err, &internal, dlb_fail(&internal, DLB_BAD_INPUT, "loaded already"));
    dlb_session_hooks hooks = {.on_step = forward_step, .arg = t};
    return publish(err, &internal,
                   dlb_session_create(&t->session, &t->workload, &hooks, &internal));
}

int dlbench_trainer_step(dlbench_trainer *t, dlbench_progress *progress, dlbench_error *err)
{
    if (needs_load(t, err) < 0)
        return DLBENCH_BAD_INPUT;
    dlb_error internal;
    dlb_progress p = {0};
    int status = dlb_session_step(t->session, &p, &internal);
    if (status == 0)
        status = dlb_session_settle(t->session, &internal);
    if (progress && (status == 0 || status == DLB_STOPPED))
        *progress = publish_progress(&p);
    return publish(err, &internal, status);
}

int dlbench_trainer_epoch(dlbench_trainer *t, dlbench_epoch *epoch, dlbench_error *err)
{
    if (needs_load(t, err) < 0)
        return DLBENCH_BAD_INPUT;
    dlb_error internal;
    dlb_epoch e;
    int status = dlb_session_epoch(t->session, &e, &internal);
    if (status == 0 && epoch)
        *epoch = (dlbench_epoch){.number = e.number,
                                 .lr = e.lr,
                                 .seconds = e.train_s,
                                 .train = publish_metrics(e.train),
                                 .test = publish_metrics(e.test)};
    return publish(err, &internal, status);
}

int dlbench_trainer_evaluate(dlbench_trainer *t, dlbench_metrics *metrics, dlbench_error *err)
{
    if (needs_load(t, err) < 0)
        return DLBENCH_BAD_INPUT;
    dlb_error internal;
    dlb_metrics m = {0};
    int status = dlb_session_evaluate(t->session, &m, &internal);
    if (status == 0 && metrics)
        *metrics = publish_metrics(m);
    return publish(err, &internal, status);
}

int dlbench_trainer_save(dlbench_trainer *t, const char *path, dlbench_error *err)
{
    if (needs_load(t, err) < 0)
        return DLBENCH_BAD_INPUT;
    dlb_error internal;
    return publish(err, &internal, dlb_session_checkpoint(t->session, path, &internal));
}

int dlbench_trainer_resume(dlbench_trainer *t, const char *path, dlbench_error *err)
{
    if (needs_load(t, err) < 0)
        return DLBENCH_BAD_INPUT;
    dlb_error internal;
    return publish(err, &internal, dlb_session_resume(t->session, path, &internal));
}

int dlbench_trainer_layer_count(const dlbench_trainer *t)
{
    return t->session ? dlb_graph_block_count(dlb_session_graph(t->session)) : 0;
}

dlbench_parameters dlbench_trainer_layer(dlbench_trainer *t, int index)
{
    if (index < 0 || index >= dlbench_trainer_layer_count(t))
        return (dlbench_parameters){0};
    dlb_graph *graph = dlb_session_graph(t->session);
    const dlb_block *block = dlb_graph_block(graph, index);
    float *weights = dlb_graph_lend_parameters(graph) + block->offset;
    return (dlbench_parameters){.layer = block->layer->name,
                                .weights = weights,
                                .biases = weights + block->weights,
                                .weight_count = (size_t)block->weights,
                                .bias_count = (size_t)block->biases};
}
