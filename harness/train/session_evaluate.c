#include <math.h>

#include "base/clock.h"
#include "train/session_state.h"

/*
 * The test set is cut into batches that do not depend on the ranks; each rank evaluates its share
 * of them, and sums are taken in the order of batches: the result is the same for every number of
 * ranks. The last element of test_sums counts ranks that were asked to stop.
 */

static size_t sums_count(const dlb_session *s)
{
    return 2 * (size_t)s->test_batches + 1;
}

static bool wants_stop(dlb_session *s, int done)
{
    dlb_progress progress = {.epoch = s->epoch_count, .step = done, .steps = s->own_test_batches};
    return s->hooks.on_evaluate && s->hooks.on_evaluate(s->hooks.arg, &progress);
}

static void evaluate_batch(dlb_session *s, const dlb_batch *batch, bool first)
{
    dlk_softmax_result result;
    dlb_step step = {.n = batch->count,
                     .step_images = batch->count,
                     .x = batch->x,
                     .pixels = {.set = s->data.test.images,
                                .indices = batch->indices,
                                .scale = dlb_loader_scale(s->test_loader)},
                     .labels = batch->labels,
                     .same_weights = !first,
                     .result = &result};
    dlb_graph_evaluate(s->graph, s->pool, &step, s->trace);
    s->test_sums[2 * batch->worker] = result.loss_sum;
    s->test_sums[2 * batch->worker + 1] = result.correct;
}

static void evaluate_own(dlb_session *s)
{
    int done = 0;
    bool stopped = false;
    memset(s->test_sums, 0, sums_count(s) * sizeof *s->test_sums);
    dlb_loader_begin_epoch(s->test_loader, 0, 0);
    for (const dlb_batch *batch; !stopped && (batch = dlb_loader_next(s->test_loader)) != NULL;) {
        evaluate_batch(s, batch, done == 0);
        stopped = wants_stop(s, ++done);
    }
    s->test_sums[2 * s->test_batches] = stopped;
}

static int evaluate_all(dlb_session *s, dlb_metrics *metrics, dlb_error *err)
{
    double loss_sum = 0, correct = 0;
    int status = dlb_updates_settle(s->updates, err);
    if (status < 0)
        return status;
    evaluate_own(s);
    status = dlb_comm_sum(s->comm, s->test_sums, sums_count(s), err);
    if (status < 0)
        return status;
    if (s->test_sums[2 * s->test_batches] > 0)
        return dlb_fail(err, DLB_STOPPED, "stopped during the evaluation after epoch %d",
                        s->epoch_count);
    for (int i = 0; i < s->test_batches; i++) {
        loss_sum += s->test_sums[2 * i];
        correct += s->test_sums[2 * i + 1];
    }
    double images = s->data.test.count;
    *metrics = (dlb_metrics){
        .loss = loss_sum / images, .accuracy = correct / images, .images = s->data.test.count};
    return 0;
}

int dlb_session_evaluate(dlb_session *s, dlb_metrics *metrics, dlb_error *err)
{
    dlb_session_close_window(s);
    double start = dlb_clock_s();
    dlb_metrics found = {0};
    int status = evaluate_all(s, &found, err);
    s->eval_s += dlb_clock_s() - start;
    if (status == 0 && !isfinite(found.loss))
        return dlb_session_fail_diverged(s, err);
    if (status == 0)
        *metrics = found;
    return status;
}
