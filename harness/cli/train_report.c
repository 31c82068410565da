#include "cli/train_report.h"

#include <math.h>

#include "cli/text.h"
#include "measure/libraries.h"
#include "measure/usage.h"

static void print_setting(FILE *out, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void print_setting(FILE *out, const char *label, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(out, "  %-12s ", label);
    vfprintf(out, format, args);
    fputc('\n', out);
    va_end(args);
}

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

/* One worker on one rank needs no words. */
static void print_workers(FILE *out, dlb_session *session)
{
    const dlb_workload *w = dlb_session_workload(session);
    dlb_comm *comm = dlb_session_comm(session);
    int workers = dlb_session_workers(session), ranks = dlb_comm_size(comm);
    int nodes = dlb_comm_nodes(comm);
    if (workers == 1)
        return;
    print_setting(out, "workers", "%d on %d rank%s, %d node%s, comm %s", workers, ranks,
                  plural(ranks), nodes, plural(nodes), dlb_session_comm_kind(session));
    if (w->warmup_epochs > 0)
        print_setting(out, "rate", "%g for all workers after %g epochs of %s warm-up",
                      dlb_session_scaled_lr(session), w->warmup_epochs,
                      dlb_key_info(DLB_KEY_warmup)->choices[w->warmup]);
    else
        print_setting(out, "rate", "%g for all workers", dlb_session_scaled_lr(session));
}

void dlb_report_start(FILE *out, dlb_session *session)
{
    const dlb_workload *w = dlb_session_workload(session);
    const dlb_model *model = dlb_session_model(session);
    const dlb_data *data = dlb_session_data(session);
    const dlk_kernels *kernels = dlb_session_kernels(session);
    const dlb_threads *t = dlb_session_threads(session);
    dlb_str optimizer = DLB_STR_INIT;
    dlb_workload_get(w, DLB_KEY_optimizer, &optimizer);

    fprintf(out, "Training %s\n", model->name);
    print_setting(out, "parameters", "%s",
                  dlb_text_count((double)dlb_model_parameters(model)).text);
    print_setting(out, "data", "%s: %s training and %s test images", w->data,
                  dlb_text_count(data->train.count).text, dlb_text_count(data->test.count).text);
    print_setting(out, "optimizer", "%s, lr %g, batch %lld, %d steps an epoch", optimizer.text,
                  w->lr, w->batch, dlb_session_steps_per_epoch(session));
    print_workers(out, session);
    print_setting(out, "kernels", "%s (%s)", dlk_family_name(kernels->family), kernels->detail);
    print_setting(out, "threads", "%d in %d team%s, %s", t->intra_op, t->inter_op,
                  plural(t->inter_op), dlb_openmp_runtime());
    fputc('\n', out);
    fflush(out);
    dlb_str_release(&optimizer);
}

static void print_phases(FILE *out, const dlb_comm *comm, const dlb_outcome *o)
{
    dlb_epoch sum = {0};
    for (int i = 0; i < o->epoch_count; i++) {
        sum.input_s += o->epochs[i].input_s;
        sum.forward_s += o->epochs[i].forward_s;
        sum.backward_s += o->epochs[i].backward_s;
        sum.update_s += o->epochs[i].update_s;
        sum.comm_exposed_s += o->epochs[i].comm_exposed_s;
        sum.wait_s += o->epochs[i].wait_s;
    }
    double percent = 100 / o->time_to_solution_s;
    double rest = o->time_to_solution_s - sum.input_s - sum.forward_s - sum.backward_s -
                  sum.update_s - sum.comm_exposed_s - sum.wait_s;
    print_setting(out, "of it",
                  "forward %.1f %%, backward %.1f %%, update %.1f %%, input %.1f %%, rest %.1f %%",
                  percent * sum.forward_s, percent * sum.backward_s, percent * sum.update_s,
                  percent * sum.input_s, percent * rest);
    if (dlb_comm_size(comm) > 1)
        print_setting(out, "", "exposed communication %.1f %%, waiting for other ranks %.1f %%",
                      percent * sum.comm_exposed_s, percent * sum.wait_s);
}

static void print_times(FILE *out, dlb_session *session, const dlb_outcome *o)
{
    double target = dlb_session_workload(session)->target_accuracy;
    print_setting(out, "training", "%s for %s images: %s images/s, %.1f GFLOP/s",
                  dlb_text_seconds(o->time_to_solution_s).text,
                  dlb_text_count((double)o->images).text,
                  dlb_text_count((double)o->images / o->time_to_solution_s).text,
                  1e-9 * o->flops / o->time_to_solution_s);
    print_phases(out, dlb_session_comm(session), o);
    if (target > 0 && isnan(o->time_to_target_s))
        print_setting(out, "target", "test accuracy %g was not reached", target);
    else if (target > 0)
        print_setting(out, "target", "test accuracy %g after %s", target,
                      dlb_text_seconds(o->time_to_target_s).text);
}

static void print_counters(FILE *out, const dlb_row *run)
{
    for (size_t i = 0; i < run->counter_count; i++)
        if (!run->counters[i].missing)
            print_setting(out, "counter", "%s %s", run->counters[i].name,
                          dlb_text_count((double)run->counters[i].value).text);
}

static void print_environment(FILE *out, const dlb_outcome *o, const dlb_ending *ending)
{
    dlb_value peak = dlb_peak_rss_mb();
    print_setting(out, "waited", "%s in all: setup %s, evaluation %s",
                  dlb_text_seconds(ending->wall_s).text, dlb_text_seconds(o->setup_s).text,
                  dlb_text_seconds(o->eval_s).text);
    if (peak.known)
        print_setting(out, "memory", "%.0f MB at most", peak.number);
    if (o->noise.steal_pct.known && o->noise.steal_pct.number >= 0.1)
        print_setting(out, "noise", "%.1f %% of CPU time went to other virtual machines",
                      o->noise.steal_pct.number);
}

enum { PLACES_SHOWN = 8 };

static void print_placement(FILE *out, const char *lines)
{
    for (int shown = 0; *lines && shown < PLACES_SHOWN; shown++) {
        int length = (int)strcspn(lines, "\n");
        print_setting(out, shown ? "" : "threads ran", "%.*s", length, lines);
        lines += length + (lines[length] == '\n');
    }
}

static void print_learned(FILE *out, const dlb_outcome *o)
{
    const dlb_epoch *last = o->epoch_count ? &o->epochs[o->epoch_count - 1] : NULL;
    if (last && last->test.images)
        print_setting(out, "test", "accuracy %.4f, loss %.4f after %d epoch%s", last->test.accuracy,
                      last->test.loss, o->epoch_count, plural(o->epoch_count));
}

void dlb_report_end(FILE *out, dlb_session *session, const dlb_rank_reports *reports,
                    const dlb_ending *ending, const dlb_result *result)
{
    dlb_outcome o = dlb_session_outcome(session);
    fputc('\n', out);
    print_learned(out, &o);
    bool ok = strcmp(ending->status, "ok") == 0;
    if (!ok)
        print_setting(out, "status", "%s", ending->status);
    if (ok && !o.untimed)
        print_times(out, session, &o);
    print_counters(out, &result->run);
    print_environment(out, &o, ending);
    print_placement(out, reports->placement);
    for (size_t i = 0; i < result->notes.count; i++)
        print_setting(out, i ? "" : "note", "%s", result->notes.texts[i]);
    fflush(out);
}
