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

/* A model's own nesterov does not stand in the way of a user's other optimizer: it has no part. */
static int check_nesterov(const dlb_workload *w, dlb_error *err)
{
    bool sgd = w->optimizer == DLB_optimizer_sgd;
    if (!w->nesterov || (!sgd && !dlb_workload_is_set(w, DLB_KEY_nesterov)))
        return 0;
    if (!sgd)
        return dlb_fail(err, DLB_BAD_INPUT, "nesterov = yes needs optimizer = sgd, not %s",
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

static int check_batches(const dlb_workload *w, dlb_error *err)
{
    if (w->drop_last && w->train_images && w->batch > w->train_images)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "drop_last = yes leaves nothing to train on: batch = %lld is more than "
                        "train_images = %lld",
                        w->batch, w->train_images);
    return 0;
}

int dlb_workload_check(const dlb_workload *workload, dlb_error *err)
{
    static int (*const checks[])(const dlb_workload *, dlb_error *) = {
        check_pool, check_teams, check_nesterov, check_blocktime, check_batches,
    };
    int status = 0;
    for (size_t i = 0; status == 0 && i < sizeof checks / sizeof *checks; i++)
        status = checks[i](workload, err);
    return status;
}
