#include "train/ranks.h"

#include <math.h>

#include "base/mem.h"
#include "measure/cores.h"
#include "measure/usage.h"
#include "train/session_state.h"

/* ---- Cores ---- */

typedef struct rank_cores {
    int threads;
    int quota; /* CPUs' worth of time that a control group leaves; 0: no limit */
    dlb_cpus cpus;
} rank_cores;

static rank_cores own_cores(int threads)
{
    const dlb_cores *own = dlb_cores_of_process();
    return (rank_cores){.threads = threads,
                        .quota = own->quota.known ? (int)fmax(1, ceil(own->quota.number)) : 0,
                        .cpus = own->cpus};
}

static void add_cpus(dlb_cpus *sum, const dlb_cpus *cpus)
{
    for (int cpu = -1; (cpu = dlb_cpus_next(cpus, cpu)) >= 0;)
        dlb_cpus_add(sum, cpu);
}

static dlb_node_cores add_up(const dlb_comm *comm, const rank_cores *all, int node)
{
    dlb_node_cores found = {0};
    dlb_cpus together = {0};
    int quota = 0;
    for (int r = 0; r < dlb_comm_size(comm); r++) {
        const dlb_comm_place *place = dlb_comm_place_of(comm, r);
        if (place->node != node)
            continue;
        snprintf(found.host, sizeof found.host, "%s", place->host);
        found.ranks++;
        found.threads += all[r].threads;
        add_cpus(&together, &all[r].cpus);
        quota = all[r].quota ? all[r].quota : quota;
    }
    int cpus = dlb_cpus_count(&together);
    found.cpus = quota && quota < cpus ? quota : cpus;
    return found;
}

static bool is_more_crowded(const dlb_node_cores *a, const dlb_node_cores *b)
{
    return (long)a->threads * b->cpus > (long)b->threads * a->cpus;
}

int dlb_ranks_cores(dlb_comm *comm, int threads, dlb_node_cores *own, dlb_node_cores *crowded,
                    dlb_error *err)
{
    rank_cores mine = own_cores(threads);
    rank_cores *all = dlb_alloc((size_t)dlb_comm_size(comm), sizeof *all);
    int status = dlb_comm_allgather(comm, &mine, sizeof mine, all, err);
    for (int node = 0; status == 0 && node < dlb_comm_nodes(comm); node++) {
        dlb_node_cores found = add_up(comm, all, node);
        if (node == 0 || is_more_crowded(&found, crowded))
            *crowded = found;
        if (node == dlb_comm_place_of(comm, dlb_comm_rank(comm))->node)
            *own = found;
    }
    free(all);
    return status;
}

/* ---- Reports ---- */

static void add_epochs(dlb_rank_report *r, const dlb_session *s)
{
    for (int i = 0; i <= s->epoch_count; i++) {
        const dlb_epoch *e = i < s->epoch_count ? &s->epochs[i] : &s->epoch;
        if (i == s->epoch_count && !s->in_epoch)
            break;
        r->compute_s += e->forward_s + e->backward_s + e->update_s;
        r->comm_exposed_s += e->comm_exposed_s;
        r->wait_s += e->wait_s;
        r->input_s += e->input_s;
    }
}

static dlb_rank_report own_report(dlb_session *s)
{
    const dlb_comm_place *place = dlb_comm_place_of(s->comm, dlb_comm_rank(s->comm));
    dlb_rank_report r = {.node = place->node,
                         .local = place->local,
                         .workers = s->own_workers,
                         .threads = s->threads.intra_op,
                         .steps = s->steps,
                         .allowed = dlb_cores_of_process()->cpus,
                         .seen = dlb_placement_cpus(s->placement),
                         .comm_s = s->comm_s,
                         .eval_s = s->eval_s,
                         .bytes_sent = s->bytes_sent,
                         .bytes_received = s->bytes_received,
                         .peak_rss_mb = dlb_peak_rss_mb(),
                         .joules = s->joules};
    snprintf(r.host, sizeof r.host, "%s", place->host);
    add_epochs(&r, s);
    return r;
}

static int gather_counters(dlb_session *s, dlb_rank_reports *all, dlb_error *err)
{
    size_t count = s->counters ? dlb_counters_count(s->counters) : 0;
    dlb_rank_counter *mine = dlb_alloc(count ? count : 1, sizeof *mine);
    for (size_t i = 0; i < count; i++) {
        const char *why = dlb_counters_why(s->counters, i);
        mine[i].known = dlb_counters_value(s->counters, i, &mine[i].value);
        if (!mine[i].known)
            snprintf(mine[i].why, sizeof mine[i].why, "%s", why ? why : "");
    }
    all->counter_count = count;
    all->counters = dlb_alloc((size_t)all->ranks * (count ? count : 1), sizeof *all->counters);
    int status = dlb_comm_allgather(s->comm, mine, count * sizeof *mine, all->counters, err);
    free(mine);
    return status;
}

static int gather_placement(dlb_session *s, dlb_rank_reports *all, dlb_error *err)
{
    dlb_str lines = DLB_STR_INIT;
    size_t *starts = NULL;
    int rank = dlb_comm_rank(s->comm);
    dlb_str_add(&lines, "");
    for (int t = 0; t < s->threads.intra_op; t++) {
        if (all->ranks > 1)
            dlb_str_addf(&lines, "rank %d on %s, ", rank, dlb_comm_place_of(s->comm, rank)->host);
        dlb_placement_describe(s->placement, t, &lines);
        dlb_str_add(&lines, "\n");
    }
    /* The last rank's ends the whole text. */
    size_t length = lines.length + (rank == all->ranks - 1);
    int status = dlb_comm_allgather_any(s->comm, lines.text, length, &all->placement, &starts, err);
    free(starts);
    dlb_str_release(&lines);
    return status;
}

static int gather_records(dlb_session *s, dlb_rank_reports *all, dlb_error *err)
{
    char *bytes = NULL;
    int status =
        dlb_comm_gather_any(s->comm, s->records, (size_t)s->record_count * sizeof *s->records,
                            &bytes, &all->record_starts, err);
    all->records = (dlb_step_record *)bytes;
    for (int r = 0; status == 0 && r <= all->ranks; r++)
        all->record_starts[r] /= sizeof *s->records;
    return status;
}

/* ---- Notes of all ranks ---- */

static bool has_line(const char *text, const char *end, const char *line, size_t length)
{
    for (; text < end; text += strcspn(text, "\n") + 1)
        if (strcspn(text, "\n") == length && memcmp(text, line, length) == 0)
            return true;
    return false;
}

/* What other ranks have to say that rank 0 has not said. */
static void add_notes(const char *notes, const size_t *starts, int ranks, dlb_str *text)
{
    for (int r = 1; r < ranks; r++)
        for (size_t at = starts[r], length; at < starts[r + 1]; at += length + 1) {
            length = strcspn(notes + at, "\n");
            if (!has_line(notes, notes + starts[1], notes + at, length))
                dlb_str_addf(text, "rank %d: %.*s\n", r, (int)length, notes + at);
        }
}

static int gather_notes(dlb_session *s, dlb_str *text, dlb_error *err)
{
    dlb_str mine = DLB_STR_INIT;
    char *notes = NULL;
    size_t *starts = NULL;
    dlb_str_add(&mine, "");
    for (size_t i = 0; i < s->notes.count; i++)
        dlb_str_addf(&mine, "%s\n", s->notes.texts[i]);
    int status = dlb_comm_allgather_any(s->comm, mine.text, mine.length, &notes, &starts, err);
    if (status == 0)
        add_notes(notes, starts, dlb_comm_size(s->comm), text);
    free(starts);
    free(notes);
    dlb_str_release(&mine);
    return status;
}

/* The core that each thread of each rank is at home on, -1 if on none. */
static int gather_homes(dlb_session *s, char **homes, size_t **starts, dlb_error *err)
{
    int threads = s->threads.intra_op;
    int *mine = dlb_alloc((size_t)threads, sizeof *mine);
    for (int t = 0; t < threads; t++) {
        int cpu = dlb_placement_home(s->placement, t);
        mine[t] = cpu < 0 ? cpu : dlb_core_of(cpu);
    }
    int status =
        dlb_comm_allgather_any(s->comm, mine, (size_t)threads * sizeof *mine, homes, starts, err);
    free(mine);
    return status;
}

static int common_home(const int *a, size_t a_count, const int *b, size_t b_count)
{
    for (size_t i = 0; i < a_count; i++)
        for (size_t k = 0; k < b_count; k++)
            if (a[i] >= 0 && a[i] == b[k])
                return a[i];
    return -1;
}

enum { PAIRS_TOLD = 4 };

static void tell_sharing(const dlb_rank_reports *all, const int *homes, const size_t *starts,
                         dlb_str *text)
{
    int pairs = 0;
    for (int a = 0; a < all->ranks; a++)
        for (int b = a + 1; b < all->ranks; b++) {
            if (strcmp(all->reports[a].host, all->reports[b].host) != 0)
                continue;
            size_t at = starts[a] / sizeof *homes, bt = starts[b] / sizeof *homes;
            size_t at_end = starts[a + 1] / sizeof *homes, bt_end = starts[b + 1] / sizeof *homes;
            int core = common_home(homes + at, at_end - at, homes + bt, bt_end - bt);
            if (core >= 0 && pairs++ < PAIRS_TOLD)
                dlb_str_addf(text, "ranks %d and %d ran on the same core, that of CPU %d of %s\n",
                             a, b, core, all->reports[a].host);
        }
    if (pairs > PAIRS_TOLD)
        dlb_str_addf(text, "%d pairs of ranks in all ran on the same core\n", pairs);
}

static int find_sharing(dlb_session *s, const dlb_rank_reports *all, dlb_str *text, dlb_error *err)
{
    char *homes = NULL;
    size_t *starts = NULL;
    int status = gather_homes(s, &homes, &starts, err);
    if (status == 0)
        tell_sharing(all, (const int *)homes, starts, text);
    free(starts);
    free(homes);
    return status;
}

static int collect_notes(dlb_session *s, dlb_rank_reports *all, dlb_error *err)
{
    dlb_str text = DLB_STR_INIT;
    dlb_str_add(&text, "");
    int status = gather_notes(s, &text, err);
    if (status == 0)
        status = find_sharing(s, all, &text, err);
    all->notes = text.text;
    return status;
}

int dlb_session_reports(dlb_session *s, dlb_rank_reports *all, dlb_error *err)
{
    *all = (dlb_rank_reports){.ranks = dlb_comm_size(s->comm)};
    all->reports = dlb_alloc((size_t)all->ranks, sizeof *all->reports);
    dlb_rank_report mine = own_report(s);
    int status = dlb_comm_allgather(s->comm, &mine, sizeof mine, all->reports, err);
    if (status == 0)
        status = gather_counters(s, all, err);
    if (status == 0)
        status = gather_placement(s, all, err);
    if (status == 0)
        status = gather_records(s, all, err);
    if (status == 0)
        status = collect_notes(s, all, err);
    if (status < 0)
        dlb_rank_reports_release(all);
    return status;
}

void dlb_rank_reports_release(dlb_rank_reports *all)
{
    free(all->records);
    free(all->record_starts);
    free(all->notes);
    free(all->placement);
    free(all->counters);
    free(all->reports);
    *all = (dlb_rank_reports){0};
}
