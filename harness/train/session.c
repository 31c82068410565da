#include "train/session.h"

#include <math.h>

#include "base/clock.h"
#include "base/mem.h"
#include "train/session_state.h"

/* Often enough that no turn of an energy meter is missed, seldom enough to cost nothing. */
enum { STEPS_PER_POLL = 32 };

/* ---- The window of measurement ---- */

static void start_counters(void *counters, int thread)
{
    dlb_counters_start(counters, thread);
}

static void stop_counters(void *counters, int thread)
{
    dlb_counters_stop(counters, thread);
}

static void open_window(dlb_session *s)
{
    if (s->counting)
        return;
    s->counting = true;
    dlb_energy_start(s->energy);
    if (s->counters)
        dlb_pool_each(s->pool, start_counters, s->counters);
}

static void add_joules(dlb_session *s, dlb_value window)
{
    if (window.known && s->joules.known)
        window.number += s->joules.number;
    s->joules = window;
}

static void close_window(dlb_session *s)
{
    if (!s->counting)
        return;
    s->counting = false;
    if (s->counters)
        dlb_pool_each(s->pool, stop_counters, s->counters);
    add_joules(s, dlb_energy_stop(s->energy));
}

/* ---- Training ---- */

static void begin_epoch(dlb_session *s)
{
    s->epoch = (dlb_epoch){.number = s->epoch_count + 1, .lr = s->workload.lr};
    s->loss_sum = 0;
    s->correct = 0;
    s->in_epoch = true;
    s->evaluation_due = false;
    dlb_loader_begin_epoch(s->train_loader, (uint32_t)s->epoch.number);
}

static void note_sharing(dlb_session *s)
{
    int first, second;
    if (s->sharing_noted || !dlb_placement_shared(s->placement, &first, &second))
        return;
    s->sharing_noted = true;
    dlb_notes_add(&s->notes, "threads %d and %d ran on the same CPU most of the time", first,
                  second);
}

static void end_epoch(dlb_session *s)
{
    close_window(s);
    note_sharing(s);
    s->in_epoch = false;
    s->evaluation_due = true;
    s->epoch.forward_s = dlb_graph_take_busy_s(s->graph, DLB_PHASE_FORWARD);
    s->epoch.backward_s = dlb_graph_take_busy_s(s->graph, DLB_PHASE_BACKWARD);
    s->epoch.update_s = dlb_graph_take_busy_s(s->graph, DLB_PHASE_UPDATE);
    s->epochs =
        dlb_grow(s->epochs, &s->epoch_capacity, (size_t)s->epoch_count + 1, sizeof *s->epochs);
    s->epochs[s->epoch_count++] = s->epoch;
}

static const dlb_batch *next_batch(dlb_session *s)
{
    double start = dlb_clock_s();
    const dlb_batch *batch = dlb_loader_next(s->train_loader);
    s->epoch.input_s += dlb_clock_s() - start;
    return batch;
}

static void train_on(dlb_session *s, const dlb_batch *batch)
{
    dlb_step step = {.n = batch->count,
                     .x = batch->x,
                     .labels = batch->labels,
                     .seed = (uint32_t)s->workload.seed,
                     .epoch = (uint32_t)s->epoch.number,
                     .step = (uint32_t)batch->step};
    dlb_optimizer_begin_step(s->optimizer, s->epoch.lr);
    dlk_softmax_result result = dlb_graph_train(s->graph, s->pool, &step, s->trace);
    s->loss_sum += result.loss_sum;
    s->correct += result.correct;
    s->images += batch->count;
    if (++s->steps % STEPS_PER_POLL == 0)
        dlb_energy_poll(s->energy);
    s->epoch.train.images += batch->count;
    s->epoch.train.loss = s->loss_sum / (double)s->epoch.train.images;
    s->epoch.train.accuracy = (double)s->correct / (double)s->epoch.train.images;
}

static dlb_progress progress_of(const dlb_session *s, int step)
{
    return (dlb_progress){.epoch = s->epoch.number,
                          .step = step,
                          .steps = dlb_session_steps_per_epoch(s),
                          .images = s->epoch.train.images,
                          .train_s = s->epoch.train_s,
                          .train = s->epoch.train};
}

static int fail_diverged(dlb_session *s, dlb_error *err)
{
    close_window(s);
    s->in_epoch = false;
    s->diverged = true;
    return dlb_fail(err, DLB_DIVERGED,
                    "the loss is not finite after step %ld (epoch %d); a smaller lr may help",
                    s->steps, s->epoch.number);
}

/* A step is timed from asking for its batch to its last update; what the caller does is not. */
static int train_step(dlb_session *s)
{
    double start = dlb_clock_s();
    const dlb_batch *batch = next_batch(s);
    int done = batch->step + 1;
    train_on(s, batch);
    double seconds = dlb_clock_s() - start;
    s->epoch.train_s += seconds;
    s->time_to_solution_s += seconds;
    return done;
}

int dlb_session_step(dlb_session *s, dlb_progress *progress, dlb_error *err)
{
    if (s->diverged)
        return fail_diverged(s, err);
    open_window(s);
    if (!s->in_epoch)
        begin_epoch(s);
    int done = train_step(s);
    if (!isfinite(s->loss_sum))
        return fail_diverged(s, err);
    dlb_progress now = progress_of(s, done);
    if (done == now.steps)
        end_epoch(s);
    if (progress)
        *progress = now;
    if (!s->hooks.on_step || !s->hooks.on_step(s->hooks.arg, &now))
        return 0;
    close_window(s);
    return dlb_fail(err, DLB_STOPPED, "stopped in epoch %d after step %d of %d", now.epoch, done,
                    now.steps);
}

static void note_target(dlb_session *s, double accuracy)
{
    if (s->workload.target_accuracy > 0 && isnan(s->time_to_target_s) &&
        accuracy >= s->workload.target_accuracy)
        s->time_to_target_s = s->time_to_solution_s;
}

static int evaluate_epoch(dlb_session *s, dlb_epoch *ended, dlb_error *err)
{
    double before = s->eval_s;
    int status = dlb_session_evaluate(s, &ended->test, err);
    ended->eval_s += s->eval_s - before;
    if (status < 0)
        return status;
    s->evaluation_due = false;
    note_target(s, ended->test.accuracy);
    return 0;
}

int dlb_session_epoch(dlb_session *s, dlb_epoch *epoch, dlb_error *err)
{
    int status = 0;
    while (!s->evaluation_due && status == 0)
        status = dlb_session_step(s, NULL, err);
    if (status < 0)
        return status;
    dlb_epoch *ended = &s->epochs[s->epoch_count - 1];
    status = evaluate_epoch(s, ended, err);
    if (status == 0 && epoch)
        *epoch = *ended;
    return status;
}

/* ---- Evaluation ---- */

static int evaluate_batches(dlb_session *s, dlb_metrics *metrics, dlb_error *err)
{
    double loss_sum = 0;
    long correct = 0;
    int steps = dlb_loader_steps(s->test_loader);
    long images = 0;
    dlb_loader_begin_epoch(s->test_loader, 0);
    for (const dlb_batch *batch; (batch = dlb_loader_next(s->test_loader)) != NULL;) {
        dlb_step step = {.n = batch->count, .x = batch->x, .labels = batch->labels};
        dlk_softmax_result result = dlb_graph_evaluate(s->graph, s->pool, &step, s->trace);
        loss_sum += result.loss_sum;
        correct += result.correct;
        images += batch->count;
        dlb_progress progress = {.epoch = s->epoch_count, .step = batch->step + 1, .steps = steps};
        if (s->hooks.on_evaluate && s->hooks.on_evaluate(s->hooks.arg, &progress))
            return dlb_fail(err, DLB_STOPPED, "stopped during the evaluation after epoch %d",
                            s->epoch_count);
    }
    *metrics = (dlb_metrics){.loss = loss_sum / (double)images,
                             .accuracy = (double)correct / (double)images,
                             .images = images};
    return 0;
}

int dlb_session_evaluate(dlb_session *s, dlb_metrics *metrics, dlb_error *err)
{
    close_window(s);
    double start = dlb_clock_s();
    dlb_metrics found = {0};
    int status = evaluate_batches(s, &found, err);
    s->eval_s += dlb_clock_s() - start;
    if (status == 0 && !isfinite(found.loss))
        return fail_diverged(s, err);
    if (status == 0)
        *metrics = found;
    return status;
}

/* ---- Access ---- */

dlb_outcome dlb_session_outcome(dlb_session *s)
{
    return (dlb_outcome){.epoch_count = s->epoch_count,
                         .epochs = s->epochs,
                         .setup_s = s->setup_s,
                         .time_to_solution_s = s->time_to_solution_s,
                         .time_to_target_s = s->time_to_target_s,
                         .eval_s = s->eval_s,
                         .images = s->images,
                         .steps = s->steps,
                         .flops = (double)s->images * s->flops_per_image +
                                  (double)s->steps * s->flops_per_update,
                         .noise = dlb_noise_since(&s->noise_start),
                         .joules = s->joules};
}

const dlb_workload *dlb_session_workload(const dlb_session *s)
{
    return &s->workload;
}

const dlb_model *dlb_session_model(const dlb_session *s)
{
    return &s->model;
}

const dlb_data *dlb_session_data(const dlb_session *s)
{
    return &s->data;
}

const dlk_kernels *dlb_session_kernels(const dlb_session *s)
{
    return &s->kernels;
}

const dlb_threads *dlb_session_threads(const dlb_session *s)
{
    return &s->threads;
}

const dlb_placement *dlb_session_placement(const dlb_session *s)
{
    return s->placement;
}

dlb_counters *dlb_session_counters(dlb_session *s)
{
    return s->counters;
}

dlb_graph *dlb_session_graph(dlb_session *s)
{
    return s->graph;
}

dlb_trace *dlb_session_trace(dlb_session *s)
{
    return s->trace;
}

const dlb_notes *dlb_session_notes(const dlb_session *s)
{
    return &s->notes;
}

int dlb_session_steps_per_epoch(const dlb_session *s)
{
    return dlb_loader_steps(s->train_loader);
}
