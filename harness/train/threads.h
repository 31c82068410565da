/*
 * From the keys threads, intra_op, inter_op, kmp_blocktime and kmp_affinity to what the OpenMP
 * runtime really does with them.
 */
#ifndef DLB_TRAIN_THREADS_H
#define DLB_TRAIN_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "config/workload.h"
#include "train/notes.h"

typedef struct dlb_threads {
    int threads;            /* OMP_NUM_THREADS */
    int intra_op, inter_op; /* the pool and its teams */
    int64_t spin_ns;        /* how long idle threads spin; < 0: forever */
    char blocktime[24];     /* what KMP_BLOCKTIME is in effect, in ms; "" with another runtime */
    bool oversubscribed;    /* more threads than the cores allowed */
} dlb_threads;

/*
 * The threads that the key or else OMP_NUM_THREADS asks for; 0 if neither does. Nonsense in the
 * environment is refused.
 */
int dlb_threads_given(const dlb_workload *workload, int *threads, dlb_error *err);

/*
 * Resolve the defaults, refuse what cannot be, and hand the KMP settings to the runtime. It reads
 * KMP_AFFINITY when it starts, so this must come before the first parallel region. Appends to
 * *notes what was asked for and has no effect.
 */
int dlb_threads_set_up(dlb_threads *threads, const dlb_workload *workload, dlb_notes *notes,
                       dlb_error *err);

/*
 * For each thread of the pool, which then steps onto a CPU of its own if there are just as many
 * CPUs allowed; it is not bound to it. Threads that begin on one CPU would share it for some twenty
 * milliseconds, until the kernel notices. `threads` is a dlb_threads.
 */
void dlb_threads_spread(void *threads, int thread);

#endif
