#include "train/threads.h"

#include <limits.h>
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>

#include "measure/cores.h"
#include "measure/libraries.h"

/* Of LLVM's and Intel's runtime only, and declared in their omp.h only. */
extern void kmp_set_blocktime(int ms) __attribute__((weak)); // NOLINT(readability-redundant-*)
extern int kmp_get_blocktime(void) __attribute__((weak));    // NOLINT(readability-redundant-*)

/* How long teams spin where no KMP_BLOCKTIME is there to say it. */
enum { DEFAULT_SPIN_MS = 200 };

enum { THREADS_MAX = 4096 };

/* Of a list for nested regions, "4,2", the first counts. */
static int threads_of_environment(const char *given, int *threads, dlb_error *err)
{
    char first[16];
    long long number;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(given, ","), given);
    if (!dlb_parse_int(first, &number) || number < 1 || number > THREADS_MAX)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "OMP_NUM_THREADS = '%s' in the environment is not a number of 1 … %d; set "
                        "it right, or set threads",
                        given, THREADS_MAX);
    *threads = (int)number;
    return 0;
}

/* Without asking the OpenMP runtime, which stumbles over some values of the environment. */
int dlb_threads_given(const dlb_workload *w, int *threads, dlb_error *err)
{
    const char *given = getenv("OMP_NUM_THREADS");
    *threads = (int)w->threads;
    return w->threads || !given || !*given ? 0 : threads_of_environment(given, threads, err);
}

static int resolve_threads(dlb_threads *t, const dlb_workload *w, dlb_error *err)
{
    int status = dlb_threads_given(w, &t->threads, err);
    if (status == 0 && t->threads == 0)
        t->threads = dlb_cores_allowed();
    return status;
}

static int resolve_counts(dlb_threads *t, const dlb_workload *w, dlb_error *err)
{
    if (resolve_threads(t, w, err) < 0)
        return DLB_BAD_INPUT;
    t->intra_op = w->intra_op ? (int)w->intra_op : t->threads;
    if (t->intra_op > t->threads)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "intra_op = %d is more than threads = %d; the pool is taken from the "
                        "threads of the rank",
                        t->intra_op, t->threads);
    int sockets = dlb_sockets_spanned();
    t->inter_op = w->inter_op ? (int)w->inter_op : sockets < t->intra_op ? sockets : t->intra_op;
    if (t->inter_op > t->intra_op)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "inter_op = %d is more than intra_op = %d; every team needs a thread",
                        t->inter_op, t->intra_op);
    t->oversubscribed = t->intra_op > dlb_cores_allowed();
    return 0;
}

/* The runtime reads these once, when it starts. */
static void set_environment(const dlb_threads *t, const dlb_workload *w, dlb_notes *notes)
{
    char count[16];
    snprintf(count, sizeof count, "%d", t->threads);
    setenv("OMP_NUM_THREADS", count, 1);
    static atomic_bool started;
    bool late = atomic_exchange(&started, true);
    if (w->kmp_affinity[0]) {
        const char *now = getenv("KMP_AFFINITY");
        if (late && (!now || strcmp(now, w->kmp_affinity) != 0))
            dlb_notes_add(notes,
                          "kmp_affinity came after the OpenMP runtime had started: no effect");
        setenv("KMP_AFFINITY", w->kmp_affinity, 1);
    }
    if (w->kmp_blocktime[0])
        setenv("KMP_BLOCKTIME", w->kmp_blocktime, 1);
}

static void set_blocktime(dlb_threads *t, const dlb_workload *w)
{
    t->spin_ns = DEFAULT_SPIN_MS * 1000000LL;
    if (!kmp_set_blocktime || !kmp_get_blocktime)
        return;
    long long ms;
    if (w->kmp_blocktime[0])
        kmp_set_blocktime(dlb_parse_int(w->kmp_blocktime, &ms) && ms < INT_MAX ? (int)ms : INT_MAX);
    int in_effect = kmp_get_blocktime();
    if (in_effect == INT_MAX) {
        t->spin_ns = -1;
        snprintf(t->blocktime, sizeof t->blocktime, "infinite");
    } else {
        t->spin_ns = in_effect * 1000000LL;
        snprintf(t->blocktime, sizeof t->blocktime, "%d", in_effect);
    }
}

int dlb_threads_set_up(dlb_threads *t, const dlb_workload *w, dlb_notes *notes, dlb_error *err)
{
    *t = (dlb_threads){0};
    if (resolve_counts(t, w, err) < 0) /* before the runtime starts and binds this thread */
        return DLB_BAD_INPUT;
    set_environment(t, w, notes);
    omp_set_num_threads(t->threads);
    set_blocktime(t, w);
    if (!dlb_openmp_has_kmp() && (w->kmp_affinity[0] || w->kmp_blocktime[0]))
        dlb_notes_add(notes,
                      "kmp_blocktime and kmp_affinity were given, but KMP_* has no effect with %s",
                      dlb_openmp_runtime());
    else if (!dlb_openmp_has_kmp())
        dlb_notes_add(notes, "KMP_* has no effect with %s", dlb_openmp_runtime());
    int cores = dlb_cores_allowed();
    if (t->oversubscribed)
        dlb_notes_add(notes, "%d threads share %d core%s", t->intra_op, cores,
                      cores == 1 ? "" : "s");
    return 0;
}

void dlb_threads_spread(void *threads, int thread)
{
    const dlb_threads *t = threads;
    const dlb_cores *cores = dlb_cores_of_process();
    cpu_set_t allowed;
    if (cores->count != t->intra_op || sched_getaffinity(0, sizeof allowed, &allowed) < 0 ||
        CPU_COUNT(&allowed) != t->intra_op)
        return; /* there are fewer, or more to choose from, or the runtime has bound it */
    if (dlb_cpu_bind(dlb_cpus_at(&cores->cpus, thread)))
        sched_setaffinity(0, sizeof allowed, &allowed);
}
