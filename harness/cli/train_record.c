#include "cli/train_record.h"

#include <inttypes.h>
#include <unistd.h>

#include "measure/libraries.h"
#include "measure/usage.h"
#include "record/provenance.h"

/* A counter may be told missing from the start and again at the end. */
static void note_once(dlb_result *result, const char *sentence)
{
    for (size_t i = 0; i < result->notes.count; i++)
        if (strcmp(result->notes.texts[i], sentence) == 0)
            return;
    dlb_result_add_note(result, sentence);
}

/* A column of the run, or a note why it stays empty. */
static void set_or_note(dlb_result *result, int column, const dlb_value *value)
{
    if (value->known) {
        dlb_row_set_real(&result->run, column, value->number);
        return;
    }
    dlb_str note = DLB_STR_INIT;
    dlb_str_addf(&note, "%s: %s", dlb_table_runs.columns[column].name, value->why);
    note_once(result, note.text);
    dlb_str_release(&note);
}

static const char *yes_no(bool value)
{
    return value ? "yes" : "no";
}

/* Every key as it was resolved, and in the run's row where a column has its name. */
static void record_workload(dlb_result *result, const dlb_workload *w)
{
    for (enum dlb_key key = 0; key < DLB_KEY_COUNT; key++) {
        const char *name = dlb_key_info(key)->name;
        int column = dlb_table_find(&dlb_table_runs, name);
        dlb_str value = DLB_STR_INIT;
        dlb_str_add(&value, "");
        dlb_workload_get(w, key, &value);
        dlb_result_add_setting(result, name, value.text);
        if (column >= 0)
            dlb_row_parse(&result->run, column, value.text, NULL);
        dlb_str_release(&value);
    }
}

/* One process trains alone. */
static void record_scale(dlb_row *row, const dlb_workload *w)
{
    dlb_row_set_int(row, DLB_RUN_global_batch, w->batch);
    dlb_row_set_text(row, DLB_RUN_lr_scaling, "none");
    dlb_row_set_text(row, DLB_RUN_comm, "single");
    dlb_row_set_int(row, DLB_RUN_warmup_epochs, 0);
    dlb_row_set_int(row, DLB_RUN_workers, 1);
    dlb_row_set_int(row, DLB_RUN_ranks, 1);
    dlb_row_set_int(row, DLB_RUN_nodes, 1);
}

static const char *affinity_in_effect(void)
{
    const char *affinity = getenv("KMP_AFFINITY");
    return affinity && dlb_openmp_has_kmp() ? affinity : "";
}

/* What keys that leave a choice to the program have become. */
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
    dlb_row_set_text(row, DLB_RUN_kmp_affinity, affinity_in_effect());
    dlb_row_set_text(row, DLB_RUN_oversubscribed, yes_no(threads->oversubscribed));
    dlb_row_set_text(row, DLB_RUN_kernels, dlk_family_name(kernels->family));
    dlb_row_set_text(row, DLB_RUN_isa, dlk_isa_name(kernels->isa));
    dlb_row_set_text(row, DLB_RUN_openmp, dlb_openmp_runtime());
    dlb_row_set_text(row, DLB_RUN_kmp_effective, yes_no(dlb_openmp_has_kmp()));
    dlb_row_set_int(row, DLB_RUN_train_images, data->train.count);
    dlb_row_set_int(row, DLB_RUN_test_images, data->test.count);
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

void dlb_train_columns(dlb_row *row, dlb_session *session)
{
    record_counters(row, dlb_session_counters(session), false);
}

static bool was_asked(const dlb_counters *counters, const char *event)
{
    for (size_t i = 0; i < dlb_counters_count(counters); i++)
        if (strcmp(dlb_counters_name(counters, i), event) == 0)
            return true;
    return false;
}

static void record_ipc(dlb_result *result, const dlb_counters *counters)
{
    if (!was_asked(counters, "PAPI_TOT_INS") || !was_asked(counters, "PAPI_TOT_CYC"))
        return;
    dlb_value ipc = dlb_counters_ipc(counters);
    set_or_note(result, DLB_RUN_ipc, &ipc);
}

/* Counters may be lost on the way, too. */
static void note_missing_counters(dlb_result *result)
{
    for (size_t i = 0; i < result->run.counter_count; i++)
        if (result->run.counters[i].missing)
            note_once(result, result->run.counters[i].why);
}

static void note_cut_trace(dlb_result *result, const dlb_trace *trace)
{
    long long dropped = trace ? dlb_trace_dropped(trace) : 0;
    if (dropped == 0)
        return;
    dlb_str note = DLB_STR_INIT;
    dlb_str_addf(&note, "trace: the last %lld operations are not in it, for want of room", dropped);
    dlb_result_add_note(result, note.text);
    dlb_str_release(&note);
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
    if (peak->known)
        dlb_row_set_real(row, DLB_RANK_peak_rss_mb, peak->number);
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

/* What only a run that was ok has. */
static void record_success(dlb_result *result, dlb_session *session, const dlb_outcome *outcome)
{
    const dlb_counters *counters = dlb_session_counters(session);
    record_times(&result->run, outcome);
    set_or_note(result, DLB_RUN_joules, &outcome->joules);
    if (counters)
        record_ipc(result, counters);
    note_missing_counters(result);
}

static void record_ending(dlb_row *row, const dlb_ending *ending)
{
    dlb_row_set_text(row, DLB_RUN_status, ending->status);
    dlb_row_set_text(row, DLB_RUN_reason, ending->reason);
    dlb_row_set_real(row, DLB_RUN_wall_s, ending->wall_s);
}

void dlb_train_record(dlb_result *result, dlb_session *session, const dlb_ending *ending)
{
    bool ok = strcmp(ending->status, "ok") == 0;
    dlb_outcome outcome = dlb_session_outcome(session);
    dlb_value peak = dlb_peak_rss_mb();
    const dlb_workload *workload = dlb_session_workload(session);
    const dlb_notes *notes = dlb_session_notes(session);

    dlb_result_init(result);
    for (size_t i = 0; i < notes->count; i++)
        dlb_result_add_note(result, notes->texts[i]);
    record_ending(&result->run, ending);
    record_workload(result, workload);
    record_scale(&result->run, workload);
    record_setting(&result->run, session);
    record_learning(&result->run, &outcome);
    dlb_row_set_real(&result->run, DLB_RUN_setup_s, outcome.setup_s);
    set_or_note(result, DLB_RUN_peak_rss_mb, &peak);
    set_or_note(result, DLB_RUN_steal_pct, &outcome.noise.steal_pct);
    set_or_note(result, DLB_RUN_load, &outcome.noise.load);
    record_counters(&result->run, dlb_session_counters(session), ok);
    if (ok)
        record_success(result, session, &outcome);
    for (int i = 0; i < outcome.epoch_count; i++)
        record_epoch(dlb_result_add_epoch(result), &outcome.epochs[i], ok);
    record_rank(result, session, &outcome, &peak, ok);
    record_placement(result, session);
    note_cut_trace(result, dlb_session_trace(session));
    result->ranks_ended = 1;
}
