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

static void record_scale(dlb_row *row, dlb_session *session)
{
    const dlb_workload *w = dlb_session_workload(session);
    dlb_row_set_int(row, DLB_RUN_global_batch, w->batch * w->workers);
    dlb_row_set_text(row, DLB_RUN_comm, dlb_session_comm_kind(session));
    dlb_row_set_int(row, DLB_RUN_nodes, dlb_comm_nodes(dlb_session_comm(session)));
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
}

/* Means over ranks, and what all of them moved. */
static void record_comm(dlb_row *row, const dlb_rank_reports *all)
{
    double exposed_s = 0, wait_s = 0;
    long long bytes = 0;
    for (int r = 0; r < all->ranks; r++) {
        exposed_s += all->reports[r].comm_exposed_s / all->ranks;
        wait_s += all->reports[r].wait_s / all->ranks;
        bytes += all->reports[r].bytes_sent + all->reports[r].bytes_received;
    }
    dlb_row_set_real(row, DLB_RUN_comm_exposed_s, exposed_s);
    dlb_row_set_real(row, DLB_RUN_wait_s, wait_s);
    dlb_row_set_int(row, DLB_RUN_comm_bytes, bytes);
}

/* Why a run has no counters, and its ranks no times; or NULL if they may have. */
static const char *why_no_counters(const dlb_outcome *o, bool ok)
{
    if (!ok)
        return "the run did not end ok";
    return o->resumed ? "the run went on from a checkpoint, and they count this part only" : NULL;
}

/* A rank's own, or with rank = -1 the sums over all ranks, which need every rank's. */
static void record_counters(dlb_row *row, const dlb_counters *counters, const dlb_rank_reports *all,
                            int rank, const char *why_not)
{
    for (size_t i = 0; i < all->counter_count; i++) {
        const char *name = dlb_counters_name(counters, i);
        long long total = 0;
        const dlb_rank_counter *missing = NULL;
        for (int r = rank < 0 ? 0 : rank; r < (rank < 0 ? all->ranks : rank + 1); r++) {
            const dlb_rank_counter *c = &all->counters[(size_t)r * all->counter_count + i];
            total += c->value;
            if (!c->known && !missing)
                missing = c;
        }
        if (why_not || missing)
            dlb_row_miss_counter(row, name, why_not ? why_not : missing->why);
        else
            dlb_row_set_counter(row, name, total);
    }
}

void dlb_train_columns(dlb_row *row, dlb_session *session)
{
    const dlb_counters *counters = dlb_session_counters(session);
    for (size_t i = 0; counters && i < dlb_counters_count(counters); i++)
        dlb_row_miss_counter(row, dlb_counters_name(counters, i), "");
}

static const dlb_row_counter *find_counter(const dlb_row *row, const char *event)
{
    for (size_t i = 0; i < row->counter_count; i++)
        if (strcmp(row->counters[i].name, event) == 0)
            return &row->counters[i];
    return NULL;
}

static void record_ipc(dlb_result *result)
{
    const dlb_row_counter *instructions = find_counter(&result->run, "PAPI_TOT_INS");
    const dlb_row_counter *cycles = find_counter(&result->run, "PAPI_TOT_CYC");
    if (!instructions || !cycles)
        return;
    dlb_value ipc = dlb_ipc(instructions->missing ? NULL : &instructions->value,
                            cycles->missing ? NULL : &cycles->value);
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
    dlb_row_set_real(row, DLB_EPOCH_comm_exposed_s, e->comm_exposed_s);
    dlb_row_set_real(row, DLB_EPOCH_wait_s, e->wait_s);
    dlb_row_set_int(row, DLB_EPOCH_comm_bytes, e->comm_bytes);
    dlb_row_set_real(row, DLB_EPOCH_eval_s, e->eval_s);
}

static void set_cpus(dlb_row *row, int column, const dlb_cpus *cpus)
{
    dlb_str list = DLB_STR_INIT;
    dlb_cpus_format(cpus, &list);
    dlb_row_set_text(row, column, list.text ? list.text : "");
    dlb_str_release(&list);
}

static void record_rank_times(dlb_row *row, const dlb_rank_report *r)
{
    dlb_row_set_real(row, DLB_RANK_compute_s, r->compute_s);
    dlb_row_set_real(row, DLB_RANK_comm_s, r->comm_s);
    dlb_row_set_real(row, DLB_RANK_comm_exposed_s, r->comm_exposed_s);
    dlb_row_set_real(row, DLB_RANK_wait_s, r->wait_s);
    dlb_row_set_real(row, DLB_RANK_input_s, r->input_s);
    dlb_row_set_real(row, DLB_RANK_eval_s, r->eval_s);
    dlb_row_set_int(row, DLB_RANK_bytes_sent, r->bytes_sent);
    dlb_row_set_int(row, DLB_RANK_bytes_received, r->bytes_received);
}

static void record_rank(dlb_row *row, const dlb_rank_report *r, int rank, bool ok)
{
    dlb_row_set_int(row, DLB_RANK_rank, rank);
    dlb_row_set_text(row, DLB_RANK_host, r->host);
    dlb_row_set_int(row, DLB_RANK_workers, r->workers);
    dlb_row_set_int(row, DLB_RANK_threads, r->threads);
    dlb_row_set_int(row, DLB_RANK_steps, r->steps);
    set_cpus(row, DLB_RANK_cpus, &r->seen);
    set_cpus(row, DLB_RANK_cpus_allowed, &r->allowed);
    if (r->peak_rss_mb.known)
        dlb_row_set_real(row, DLB_RANK_peak_rss_mb, r->peak_rss_mb.number);
    if (ok)
        record_rank_times(row, r);
}

static void record_ranks(dlb_result *result, const dlb_counters *counters,
                         const dlb_rank_reports *all, const char *why_not_counted)
{
    for (int r = 0; r < all->ranks; r++) {
        dlb_row *row = dlb_result_add_rank(result);
        record_rank(row, &all->reports[r], r, !why_not_counted);
        record_counters(row, counters, all, r, why_not_counted);
    }
}

/* Calls `add` for each line of a text. */
static void each_line(const char *text, dlb_result *result,
                      void (*add)(dlb_result *result, const char *line))
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        dlb_str line = DLB_STR_INIT;
        dlb_str_add_bytes(&line, text, length);
        add(result, line.text);
        dlb_str_release(&line);
        text += length + (text[length] == '\n');
    }
}

/* Of the rank that needs most of it. */
static dlb_value largest_peak(const dlb_rank_reports *all)
{
    dlb_value largest = all->reports[0].peak_rss_mb;
    for (int r = 1; r < all->ranks; r++)
        if (all->reports[r].peak_rss_mb.number > largest.number)
            largest = all->reports[r].peak_rss_mb;
    return largest;
}

/* Every node has meters of its own, which all its ranks read. */
static dlb_value joules_of_nodes(const dlb_rank_reports *all)
{
    dlb_value sum = dlb_value_of(0);
    for (int r = 0; r < all->ranks && sum.known; r++) {
        if (all->reports[r].local != 0)
            continue;
        if (all->reports[r].joules.known)
            sum.number += all->reports[r].joules.number;
        else
            sum = all->reports[r].joules;
    }
    return sum;
}

/* What only a run that was ok, and ran in one setting, has. */
static void record_success(dlb_result *result, const dlb_outcome *outcome,
                           const dlb_rank_reports *all)
{
    dlb_value joules = joules_of_nodes(all);
    if (outcome->resumed)
        joules = dlb_value_missing("the run went on from a checkpoint");
    record_times(&result->run, outcome);
    if (!outcome->resumed)
        record_comm(&result->run, all);
    set_or_note(result, DLB_RUN_joules, &joules);
    record_ipc(result);
    note_missing_counters(result);
}

static void record_ending(dlb_row *row, const dlb_ending *ending)
{
    dlb_row_set_text(row, DLB_RUN_status, ending->status);
    dlb_row_set_text(row, DLB_RUN_reason, ending->reason);
    dlb_row_set_real(row, DLB_RUN_wall_s, ending->wall_s);
}

void dlb_train_record(dlb_result *result, dlb_session *session, const dlb_rank_reports *all,
                      const dlb_ending *ending)
{
    bool ok = strcmp(ending->status, "ok") == 0;
    dlb_outcome outcome = dlb_session_outcome(session);
    const char *why_no_times = ok ? outcome.untimed : "the run did not end ok";
    const char *why_not_counted = why_no_counters(&outcome, ok);
    const dlb_counters *counters = dlb_session_counters(session);
    dlb_value peak = largest_peak(all);
    const dlb_notes *notes = dlb_session_notes(session);

    dlb_result_init(result);
    for (size_t i = 0; i < notes->count; i++)
        dlb_result_add_note(result, notes->texts[i]);
    each_line(all->notes, result, dlb_result_add_note);
    record_ending(&result->run, ending);
    record_workload(result, dlb_session_workload(session));
    record_scale(&result->run, session);
    record_setting(&result->run, session);
    record_learning(&result->run, &outcome);
    dlb_row_set_real(&result->run, DLB_RUN_setup_s, outcome.setup_s);
    set_or_note(result, DLB_RUN_peak_rss_mb, &peak);
    set_or_note(result, DLB_RUN_steal_pct, &outcome.noise.steal_pct);
    set_or_note(result, DLB_RUN_load, &outcome.noise.load);
    record_counters(&result->run, counters, all, -1, why_not_counted);
    if (!why_no_times)
        record_success(result, &outcome, all);
    else if (ok)
        dlb_result_add_note(result, why_no_times);
    for (int i = 0; i < outcome.epoch_count; i++)
        record_epoch(dlb_result_add_epoch(result), &outcome.epochs[i], !why_no_times);
    record_ranks(result, counters, all, why_not_counted);
    each_line(all->placement, result, dlb_result_add_placement);
    note_cut_trace(result, dlb_session_trace(session));
    result->ranks_ended = all->ranks;
}
