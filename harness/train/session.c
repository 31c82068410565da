#include "train/session.h"

#include <math.h>

#include "base/clock.h"
#include "base/mem.h"
#include "dlk/tree.h"
#include "train/session_state.h"

/* Often enough that no turn of an energy meter is missed, seldom enough to cost nothing. */
enum { BATCHES_PER_POLL = 32 };

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

void dlb_session_close_window(dlb_session *s)
{
    if (!s->counting)
        return;
    s->counting = false;
    if (s->counters)
        dlb_pool_each(s->pool, stop_counters, s->counters);
    add_joules(s, dlb_energy_stop(s->energy));
}

/* ---- Training ---- */

static void make_room_for_records(dlb_session *s)
{
    size_t need = (size_t)s->record_count + (size_t)dlb_session_steps_per_epoch(s);
    if (s->hooks.steps)
        s->records = dlb_grow(s->records, &s->record_capacity, need, sizeof *s->records);
}

static void begin_epoch(dlb_session *s)
{
    if (s->step == 0) {
        s->epoch = (dlb_epoch){.number = s->epoch_count + 1};
        s->loss_sum = 0;
        s->correct = 0;
    }
    s->in_epoch = true;
    s->evaluation_due = false;
    make_room_for_records(s);
    dlb_loader_begin_epoch(s->train_loader, (uint32_t)s->epoch.number, s->step);
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
    dlb_session_close_window(s);
    note_sharing(s);
    s->in_epoch = false;
    s->step = 0;
    s->evaluation_due = true;
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

/* One worker's share of a step; returns the images of all workers in it. */
static int train_worker(dlb_session *s, int own, int *own_images)
{
    const dlb_batch *batch = next_batch(s);
    dlb_step step = {.n = batch->count,
                     .step_images = batch->step_images,
                     .x = batch->x,
                     .pixels = {.set = s->data.train.images,
                                .indices = batch->indices,
                                .scale = dlb_loader_scale(s->train_loader)},
                     .labels = batch->labels,
                     .seed = (uint32_t)s->workload.seed,
                     .epoch = (uint32_t)s->epoch.number,
                     .step = (uint32_t)batch->step,
                     .worker = (uint32_t)batch->worker,
                     .gradients = dlb_accumulator_begin(s->accumulator, own),
                     .ends_step = own == s->own_workers - 1,
                     .same_weights = own > 0,
                     .result = &s->results[own]};
    *own_images += batch->count;
    dlb_graph_train(s->graph, s->pool, &step, s->trace);
    return batch->step_images;
}

/* What all ranks have found in this step. */
static void add_arrivals(dlb_session *s, const dlb_arrival *arrivals, int images)
{
    int ranks = dlb_comm_size(s->comm);
    for (int r = 0; r < ranks; r++) {
        s->losses[r] = arrivals[r].loss_sum;
        s->correct += arrivals[r].correct;
        s->stop_agreed |= arrivals[r].stop != 0;
    }
    s->loss_sum += dlk_tree_sum_of(ranks, s->losses);
    s->images += images;
    s->epoch.train.images += images;
    s->epoch.train.loss = s->loss_sum / (double)s->epoch.train.images;
    s->epoch.train.accuracy = (double)s->correct / (double)s->epoch.train.images;
}

/* Where the time of a step went. Updates between other operations are told apart from these. */
static void add_times(dlb_session *s, dlb_step_record *record)
{
    dlb_epoch *e = &s->epoch;
    dlb_updates_times times = dlb_updates_take_times(s->updates);
    dlb_exchange_bytes bytes = dlb_exchange_take_bytes(s->exchange);
    double forward_s = dlb_graph_take_busy_s(s->graph, DLB_PHASE_FORWARD) - times.forward_between_s;
    double backward_s =
        dlb_graph_take_busy_s(s->graph, DLB_PHASE_BACKWARD) - times.backward_between_s;
    double update_s =
        dlb_graph_take_busy_s(s->graph, DLB_PHASE_UPDATE) - times.within_s + times.between_update_s;
    e->forward_s += forward_s;
    e->backward_s += backward_s;
    e->update_s += update_s;
    e->comm_exposed_s += times.exposed_s;
    e->wait_s += times.wait_s;
    e->comm_bytes += bytes.sent + bytes.received;
    s->comm_s += times.comm_s;
    s->bytes_sent += bytes.sent;
    s->bytes_received += bytes.received;
    record->compute_s = forward_s + backward_s + update_s;
    record->comm_exposed_s = times.exposed_s;
    record->wait_s = times.wait_s;
    record->comm_bytes = bytes.sent + bytes.received;
}

static void add_seconds(dlb_session *s, double seconds, dlb_step_record *record)
{
    s->epoch.train_s += seconds;
    s->time_to_solution_s += seconds;
    record->train_s = seconds;
    record->epoch = s->epoch.number;
    record->step = s->step;
    if (s->hooks.steps)
        s->records[s->record_count++] = *record;
}

/* Whether no further step of the window follows, which would wait for the parameters. */
static bool ends_window(const dlb_session *s)
{
    return s->step == dlb_session_steps_per_epoch(s) || s->stop_agreed || !isfinite(s->loss_sum);
}

/*
 * A step is timed from asking for its batch to this rank's last update, the last one of a window
 * until the parameters are whole; what the caller does is not timed.
 */
static int train_step(dlb_session *s, dlb_error *err)
{
    double start = dlb_clock_s();
    int images = 0;
    const dlb_arrival *arrivals;
    dlb_own_step mine = {.results = s->results, .stop = s->stop_wanted};
    dlb_step_record record = {0};
    s->epoch.lr = dlb_schedule_rate(&s->schedule, s->epoch.number, s->step);
    dlb_updates_begin_step(s->updates, s->epoch.lr, &mine);
    for (int own = 0; own < s->own_workers; own++)
        images = train_worker(s, own, &record.images);
    if (dlb_updates_end_step(s->updates, &arrivals, err) < 0)
        return DLB_FAIL;
    add_arrivals(s, arrivals, images);
    s->step++;
    if (ends_window(s) && dlb_updates_settle(s->updates, err) < 0)
        return DLB_FAIL;
    if (++s->steps * s->own_workers % BATCHES_PER_POLL < s->own_workers)
        dlb_energy_poll(s->energy);
    add_times(s, &record);
    add_seconds(s, dlb_clock_s() - start, &record);
    return 0;
}

static dlb_progress progress_of(const dlb_session *s)
{
    return (dlb_progress){.epoch = s->epoch.number,
                          .step = s->step,
                          .steps = dlb_session_steps_per_epoch(s),
                          .images = s->epoch.train.images,
                          .train_s = s->epoch.train_s,
                          .train = s->epoch.train};
}

int dlb_session_fail_diverged(dlb_session *s, dlb_error *err)
{
    dlb_session_close_window(s);
    s->in_epoch = false;
    s->diverged = true;
    return dlb_fail(err, DLB_DIVERGED,
                    "the loss is not finite after step %ld (epoch %d); a smaller lr may help",
                    s->steps, s->epoch.number);
}

/* Alone, a wish to stop is granted at once; else when all have heard of it. */
static bool must_stop(dlb_session *s, const dlb_progress *now)
{
    s->stop_wanted |= s->hooks.on_step && s->hooks.on_step(s->hooks.arg, now);
    bool stop = s->stop_agreed || (s->stop_wanted && dlb_comm_size(s->comm) == 1);
    if (stop)
        s->stop_wanted = s->stop_agreed = false;
    return stop;
}

int dlb_session_step(dlb_session *s, dlb_progress *progress, dlb_error *err)
{
    if (s->diverged)
        return dlb_session_fail_diverged(s, err);
    open_window(s);
    if (!s->in_epoch)
        begin_epoch(s);
    int status = train_step(s, err);
    if (status < 0)
        return status;
    if (!isfinite(s->loss_sum))
        return dlb_session_fail_diverged(s, err);
    dlb_progress now = progress_of(s);
    if (now.step == now.steps)
        end_epoch(s);
    if (progress)
        *progress = now;
    if (!must_stop(s, &now))
        return 0;
    dlb_session_close_window(s);
    return dlb_fail(err, DLB_STOPPED, "stopped in epoch %d after step %d of %d", now.epoch,
                    now.step, now.steps);
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
    dlb_schedule_end_epoch(&s->schedule, ended->number, ended->test.loss);
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

/* ---- Access ---- */

bool dlb_session_finished(const dlb_session *s)
{
    return s->epoch_count >= s->workload.epochs && !s->evaluation_due;
}

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
                         .joules = s->joules,
                         .resumed = s->resumed,
                         .untimed = *s->untimed ? s->untimed : NULL,
                         .step_count = s->record_count,
                         .step_records = s->records};
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

int dlb_session_settle(dlb_session *s, dlb_error *err)
{
    return dlb_updates_settle(s->updates, err);
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

dlb_comm *dlb_session_comm(dlb_session *s)
{
    return s->comm;
}

const char *dlb_session_comm_kind(const dlb_session *s)
{
    return dlb_exchange_kind_name(dlb_exchange_kind_of(s->exchange));
}

int dlb_session_workers(const dlb_session *s)
{
    return s->workers;
}

double dlb_session_scaled_lr(const dlb_session *s)
{
    return s->schedule.scaled_lr;
}

int dlb_session_steps_per_epoch(const dlb_session *s)
{
    return dlb_loader_steps(s->train_loader);
}
