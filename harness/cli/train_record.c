#include "cli/train_record.h"

#include <inttypes.h>
#include <unistd.h>

#include "measure/libraries.h"
#include "measure/usage.h"
#include "record/provenance.h"

static void set_key(dlb_row *row, int column, const dlb_workload *w, enum dlb_key key)
{
    dlb_str text = DLB_STR_INIT;
    dlb_workload_get(w, key, &text);
    dlb_row_set_text(row, column, text.text ? text.text : "");
    dlb_str_release(&text);
}

static void set_value(dlb_row *row, int column, const dlb_value *value)
{
    if (value->known)
        dlb_row_set_real(row, column, value->number);
}

static const char *yes_no(bool value)
{
    return value ? "yes" : "no";
}

static void record_workload(dlb_row *row, const dlb_workload *w)
{
    set_key(row, DLB_RUN_optimizer, w, DLB_KEY_optimizer);
    set_key(row, DLB_RUN_shuffle, w, DLB_KEY_shuffle);
    dlb_row_set_int(row, DLB_RUN_batch, w->batch);
    dlb_row_set_int(row, DLB_RUN_global_batch, w->batch);
    dlb_row_set_int(row, DLB_RUN_epochs, w->epochs);
    dlb_row_set_real(row, DLB_RUN_lr, w->lr);
    dlb_row_set_int(row, DLB_RUN_seed, w->seed);
    dlb_row_set_int(row, DLB_RUN_readers, w->readers);
    dlb_row_set_text(row, DLB_RUN_drop_last, yes_no(w->drop_last));
    dlb_row_set_text(row, DLB_RUN_lr_scaling, "none");
    dlb_row_set_text(row, DLB_RUN_comm, "single");
    dlb_row_set_int(row, DLB_RUN_warmup_epochs, 0);
    dlb_row_set_int(row, DLB_RUN_workers, 1);
    dlb_row_set_int(row, DLB_RUN_ranks, 1);
    dlb_row_set_int(row, DLB_RUN_nodes, 1);
}

static void record_setting(dlb_row *row, dlb_session *session)
{
    const dlb_threads *threads = dlb_session_threads(session);
    const dlk_kernels *kernels = dlb_session_kernels(session);
    const dlb_data *data = dlb_session_data(session);
    char checksum[24], host[256] = "";
    snprintf(checksum, sizeof checksum, "%016" PRIx64, data->checksum);
    gethostname(host, sizeof host - 1);
    dlb_row_set_text(row, DLB_RUN_model, dlb_session_model(session)->name);
    dlb_row_set_int(row, DLB_RUN_threads, threads->threads);
    dlb_row_set_int(row, DLB_RUN_intra_op, threads->intra_op);
    dlb_row_set_int(row, DLB_RUN_inter_op, threads->inter_op);
    dlb_row_set_text(row, DLB_RUN_kmp_blocktime, threads->blocktime);
    dlb_row_set_text(row, DLB_RUN_oversubscribed, yes_no(threads->oversubscribed));
    dlb_row_set_text(row, DLB_RUN_kernels, dlk_family_name(kernels->family));
    dlb_row_set_text(row, DLB_RUN_isa, dlk_isa_name(kernels->isa));
    dlb_row_set_text(row, DLB_RUN_openmp, dlb_openmp_runtime());
    dlb_row_set_text(row, DLB_RUN_kmp_effective, yes_no(dlb_openmp_has_kmp()));
    dlb_row_set_text(row, DLB_RUN_data, dlb_session_workload(session)->data);
    dlb_row_set_text(row, DLB_RUN_data_checksum, checksum);
    dlb_row_set_text(row, DLB_RUN_host, host);
    dlb_row_set_text(row, DLB_RUN_commit, dlb_commit());
}

static void record_learning(dlb_row *row, const dlb_outcome *outcome)
{
    if (outcome->epoch_count == 0)
        return;
    const dlb_epoch *last = &outcome->epochs[outcome->epoch_count - 1];
    dlb_row_set_real(row, DLB_RUN_train_accuracy, last->train.accuracy);
    dlb_row_set_real(row, DLB_RUN_train_loss, last->train.loss);
    if (last->test.images) {
        dlb_row_set_real(row, DLB_RUN_test_accuracy, last->test.accuracy);
        dlb_row_set_real(row, DLB_RUN_test_loss, last->test.loss);
    }
}

static void record_times(dlb_row *row, const dlb_outcome *o)
{
    dlb_row_set_real(row, DLB_RUN_time_to_solution_s, o->time_to_solution_s);
    dlb_row_set_real(row, DLB_RUN_time_to_target_s, o->time_to_target_s);
    dlb_row_set_real(row, DLB_RUN_eval_s, o->eval_s);
    dlb_row_set_real(row, DLB_RUN_images_per_s, (double)o->images / o->time_to_solution_s);
    dlb_row_set_real(row, DLB_RUN_gflops, 1e-9 * o->flops / o->time_to_solution_s);
    dlb_row_set_real(row, DLB_RUN_comm_exposed_s, 0); /* one rank has nobody to wait for */
    dlb_row_set_real(row, DLB_RUN_wait_s, 0);
    set_value(row, DLB_RUN_joules, &o->joules);
}

static void record_counters(dlb_row *row, const dlb_counters *counters, bool ok)
{
    for (size_t i = 0; counters && i < dlb_counters_count(counters); i++) {
        const char *name = dlb_counters_name(counters, i);
        long long total;
        if (!ok)
            dlb_row_miss_counter(row, name, "the run did not end ok");
        else if (dlb_counters_value(counters, i, &total))
            dlb_row_set_counter(row, name, total);
        else
            dlb_row_miss_counter(row, name, dlb_counters_why(counters, i));
    }
}

static void record_epoch(dlb_row *row, const dlb_epoch *e, bool ok)
{
    dlb_row_set_int(row, DLB_EPOCH_epoch, e->number);
    dlb_row_set_real(row, DLB_EPOCH_lr, e->lr);
    dlb_row_set_real(row, DLB_EPOCH_train_loss, e->train.loss);
    dlb_row_set_real(row, DLB_EPOCH_train_accuracy, e->train.accuracy);
    if (e->test.images) {
        dlb_row_set_real(row, DLB_EPOCH_test_loss, e->test.loss);
        dlb_row_set_real(row, DLB_EPOCH_test_accuracy, e->test.accuracy);
    }
    if (!ok)
        return;
    dlb_row_set_real(row, DLB_EPOCH_train_s, e->train_s);
    dlb_row_set_real(row, DLB_EPOCH_images_per_s, (double)e->train.images / e->train_s);
    dlb_row_set_real(row, DLB_EPOCH_input_s, e->input_s);
    dlb_row_set_real(row, DLB_EPOCH_forward_s, e->forward_s);
    dlb_row_set_real(row, DLB_EPOCH_backward_s, e->backward_s);
    dlb_row_set_real(row, DLB_EPOCH_update_s, e->update_s);
    dlb_row_set_real(row, DLB_EPOCH_eval_s, e->eval_s);
}

static void record_rank(dlb_result *result, dlb_session *session, const dlb_outcome *o,
                        const dlb_value *peak, bool ok)
{
    dlb_row *row = dlb_result_add_rank(result);
    const dlb_placement *placement = dlb_session_placement(session);
    dlb_str cpus = DLB_STR_INIT;
    dlb_cpus used = dlb_placement_cpus(placement);
    dlb_cpus_format(&used, &cpus);
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    dlb_row_set_int(row, DLB_RANK_rank, 0);
    dlb_row_set_text(row, DLB_RANK_host, host);
    dlb_row_set_text(row, DLB_RANK_cpus, cpus.text ? cpus.text : "");
    set_value(row, DLB_RANK_peak_rss_mb, peak);
    if (ok)
        dlb_row_set_real(row, DLB_RANK_compute_s, o->time_to_solution_s);
    record_counters(row, dlb_session_counters(session), ok);
    dlb_str_release(&cpus);
}

static void record_placement(dlb_result *result, dlb_session *session)
{
    const dlb_placement *placement = dlb_session_placement(session);
    for (int t = 0; t < dlb_session_threads(session)->intra_op; t++) {
        dlb_str line = DLB_STR_INIT;
        dlb_placement_describe(placement, t, &line);
        dlb_result_add_placement(result, line.text);
        dlb_str_release(&line);
    }
}

void dlb_train_record(dlb_result *result, dlb_session *session, const dlb_ending *ending)
{
    bool ok = strcmp(ending->status, "ok") == 0;
    dlb_outcome outcome = dlb_session_outcome(session);
    dlb_value peak = dlb_peak_rss_mb();
    dlb_counters *counters = dlb_session_counters(session);
    dlb_row *run = &result->run;

    dlb_row_set_text(run, DLB_RUN_status, ending->status);
    dlb_row_set_text(run, DLB_RUN_reason, ending->reason);
    dlb_row_set_real(run, DLB_RUN_wall_s, ending->wall_s);
    dlb_row_set_real(run, DLB_RUN_setup_s, outcome.setup_s);
    record_workload(run, dlb_session_workload(session));
    record_setting(run, session);
    record_learning(run, &outcome);
    set_value(run, DLB_RUN_peak_rss_mb, &peak);
    set_value(run, DLB_RUN_steal_pct, &outcome.noise.steal_pct);
    set_value(run, DLB_RUN_load, &outcome.noise.load);
    if (ok)
        record_times(run, &outcome);
    record_counters(run, counters, ok);
    if (ok && counters) {
        dlb_value ipc = dlb_counters_ipc(counters);
        set_value(run, DLB_RUN_ipc, &ipc);
    }
    for (int i = 0; i < outcome.epoch_count; i++)
        record_epoch(dlb_result_add_epoch(result), &outcome.epochs[i], ok);
    record_rank(result, session, &outcome, &peak, ok);
    record_placement(result, session);
    const dlb_notes *notes = dlb_session_notes(session);
    for (size_t i = 0; i < notes->count; i++)
        dlb_result_add_note(result, notes->texts[i]);
    result->ranks_ended = 1;
}
