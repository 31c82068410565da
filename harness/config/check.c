/* Contradictions between keys that are each valid on their own. */
#include "config/workload.h"

static int check_pool(const dlb_workload *w, dlb_error *err)
{
    if (w->threads && w->intra_op > w->threads)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "intra_op = %lld is more than threads = %lld; lower it, or give 0 for all",
                        w->intra_op, w->threads);
    return 0;
}

static int check_teams(const dlb_workload *w, dlb_error *err)
{
    long long pool = w->intra_op ? w->intra_op : w->threads;
    if (pool && w->inter_op > pool)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "inter_op = %lld is more than %s = %lld; a team needs a thread at least",
                        w->inter_op, w->intra_op ? "intra_op" : "threads", pool);
    return 0;
}

static bool is_layerwise(const dlb_workload *w)
{
    return w->optimizer == DLB_optimizer_lars || w->optimizer == DLB_optimizer_larc;
}

/* A model's own nesterov does not stand in the way of a user's other optimizer: it has no part. */
static int check_nesterov(const dlb_workload *w, dlb_error *err)
{
    bool has_momentum = w->optimizer == DLB_optimizer_sgd || is_layerwise(w);
    if (!w->nesterov || (!has_momentum && !dlb_workload_is_set(w, DLB_KEY_nesterov)))
        return 0;
    if (!has_momentum)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "nesterov = yes needs optimizer = sgd, lars or larc, not %s",
                        dlb_key_info(DLB_KEY_optimizer)->choices[w->optimizer]);
    if (w->momentum == 0)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "nesterov = yes needs a momentum; give one, such as 0.9, or nesterov = no");
    return 0;
}

static int check_blocktime(const dlb_workload *w, dlb_error *err)
{
    long long ms;
    const char *text = w->kmp_blocktime;
    if (*text == '\0' || strcmp(text, "infinite") == 0 || (dlb_parse_int(text, &ms) && ms >= 0))
        return 0;
    return dlb_fail(err, DLB_BAD_INPUT,
                    "kmp_blocktime = %.80s: must be milliseconds, 0 or more, or infinite", text);
}

/* Refuse a key that the user gave although the choice made for `of` leaves it without a part. */
static int refuse_idle(const dlb_workload *w, enum dlb_key key, enum dlb_key of, const char *needed,
                       dlb_error *err)
{
    if (!dlb_workload_is_set(w, key))
        return 0;
    dlb_str value = DLB_STR_INIT, choice = DLB_STR_INIT;
    dlb_workload_get(w, key, &value);
    dlb_workload_get(w, of, &choice);
    dlb_fail(err, DLB_BAD_INPUT,
             "%s = %s has no effect with %s = %s; give %s = %s, or leave it out",
             dlb_key_info(key)->name, value.text, dlb_key_info(of)->name, choice.text,
             dlb_key_info(of)->name, needed);
    dlb_str_release(&choice);
    dlb_str_release(&value);
    return DLB_BAD_INPUT;
}

static int check_trust(const dlb_workload *w, dlb_error *err)
{
    if (is_layerwise(w))
        return 0;
    return refuse_idle(w, DLB_KEY_trust, DLB_KEY_optimizer, "lars or larc", err);
}

static int check_schedule(const dlb_workload *w, dlb_error *err)
{
    static const enum dlb_key of_falls[] = {DLB_KEY_schedule_factor, DLB_KEY_schedule_epochs};
    bool falls = w->schedule == DLB_schedule_step || w->schedule == DLB_schedule_plateau;
    int status = 0;
    for (int i = 0; !falls && status == 0 && i < 2; i++)
        status = refuse_idle(w, of_falls[i], DLB_KEY_schedule, "step or plateau", err);
    return status;
}

static int check_warmup(const dlb_workload *w, dlb_error *err)
{
    if (w->warmup_epochs <= (double)w->epochs)
        return 0;
    char warmup[32];
    dlb_format_real(w->warmup_epochs, warmup, sizeof warmup);
    return dlb_fail(err, DLB_BAD_INPUT,
                    "warmup_epochs = %s is more than epochs = %lld: the scaled rate would never be "
                    "reached; lower it to %lld at most, or train longer",
                    warmup, w->epochs, w->epochs);
}

/* The divisors of `number` next to `wanted`, which is between 1 and `number` and is none. */
typedef struct divisors {
    long long below, above;
} divisors;

static divisors divisors_next_to(long long number, long long wanted)
{
    divisors found = {wanted, wanted};
    while (number % found.below)
        found.below--;
    while (number % found.above)
        found.above++;
    return found;
}

static int check_ranks(const dlb_workload *w, dlb_error *err)
{
    if (!w->workers || !w->ranks || w->workers % w->ranks == 0)
        return 0;
    if (w->workers < w->ranks)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "workers = %lld is less than ranks = %lld, and each rank needs one; give "
                        "workers = %lld, or ranks = %lld",
                        w->workers, w->ranks, w->ranks, w->workers);
    long long fewer = w->workers - w->workers % w->ranks;
    divisors fit = divisors_next_to(w->workers, w->ranks);
    return dlb_fail(err, DLB_BAD_INPUT,
                    "workers = %lld cannot be spread evenly over ranks = %lld; take %lld or %lld "
                    "workers, or %lld or %lld ranks",
                    w->workers, w->ranks, fewer, fewer + w->ranks, fit.below, fit.above);
}

static int check_nodes(const dlb_workload *w, dlb_error *err)
{
    if (!w->ranks_per_node || !w->ranks || w->ranks % w->ranks_per_node == 0)
        return 0;
    if (w->ranks_per_node > w->ranks)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "ranks_per_node = %lld is more than ranks = %lld; lower it to %lld at most",
                        w->ranks_per_node, w->ranks, w->ranks);
    divisors fit = divisors_next_to(w->ranks, w->ranks_per_node);
    return dlb_fail(err, DLB_BAD_INPUT,
                    "ranks = %lld do not fill whole nodes with ranks_per_node = %lld; take %lld or "
                    "%lld ranks a node",
                    w->ranks, w->ranks_per_node, fit.below, fit.above);
}

static int check_comm(const dlb_workload *w, dlb_error *err)
{
    if (w->comm == DLB_comm_single && w->ranks > 1)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "comm = single is for one process, not for ranks = %lld; give comm = auto, "
                        "mpi or shm, or ranks = 1",
                        w->ranks);
    return 0;
}

/* Fewer workers whose shards would hold a batch, as many for every rank; 0 if there are none. */
static long long fewer_workers(const dlb_workload *w, const char *key, long long images)
{
    long long fit = images / w->batch;
    bool spread = w->ranks > 1 && strcmp(key, "workers") == 0;
    return spread ? fit - fit % w->ranks : fit;
}

static int refuse_batch(const dlb_workload *w, const char *key, long long workers, long long images,
                        dlb_error *err)
{
    char or_fewer[64] = "";
    long long fewer = fewer_workers(w, key, images);
    if (fewer)
        snprintf(or_fewer, sizeof or_fewer, ", or %s to %lld", key, fewer);
    return dlb_fail(err, DLB_BAD_INPUT,
                    "batch = %lld is larger than a worker's shard, %lld images of train_images = "
                    "%lld over %s = %lld; lower batch to %lld%s",
                    w->batch, images / workers, images, key, workers, images / workers, or_fewer);
}

/* One worker alone may ask for a larger batch than there is, and gets all of it. */
int dlb_workload_check_images(const dlb_workload *w, long long images, dlb_error *err)
{
    const char *key = w->workers ? "workers" : "ranks";
    long long workers = w->workers ? w->workers : w->ranks;
    if (w->drop_last && w->batch > images)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "drop_last = yes leaves nothing to train on: batch = %lld is more than "
                        "train_images = %lld",
                        w->batch, images);
    if (workers < 2)
        return 0;
    if (workers > images)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "%s = %lld is more than train_images = %lld, and each worker needs one; "
                        "lower it to %lld at most",
                        key, workers, images, images);
    return w->batch > images / workers ? refuse_batch(w, key, workers, images, err) : 0;
}

static int check_images(const dlb_workload *w, dlb_error *err)
{
    return w->train_images ? dlb_workload_check_images(w, w->train_images, err) : 0;
}

int dlb_workload_check(const dlb_workload *workload, dlb_error *err)
{
    static int (*const checks[])(const dlb_workload *, dlb_error *) = {
        check_pool,  check_teams, check_nesterov, check_trust,  check_schedule,  check_warmup,
        check_ranks, check_nodes, check_comm,     check_images, check_blocktime,
    };
    int status = 0;
    for (size_t i = 0; status == 0 && i < sizeof checks / sizeof *checks; i++)
        status = checks[i](workload, err);
    return status;
}
