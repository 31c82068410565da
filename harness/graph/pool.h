/*
 * The pool of threads that computes operations (intra_op), divided into teams (inter_op).
 *
 * Threads are those of the OpenMP runtime, so that its settings (KMP_AFFINITY, OMP_PLACES, …)
 * place them and KMP_BLOCKTIME says how long they spin between two uses. One parallel region
 * spans a whole training step; within it, teams fork and join on their own (dlk/team.h) and spin
 * as long as the runtime would. Denormals are flushed in every thread while it is in a region, and
 * each thread's floating-point mode is restored on leaving it.
 */
#ifndef DLB_GRAPH_POOL_H
#define DLB_GRAPH_POOL_H

#include "base/error.h"
#include "dlk/team.h"

typedef struct dlb_pool dlb_pool;

typedef void dlb_thread_fn(void *arg, int thread);
typedef void dlb_leader_fn(void *arg, int team_index, dlk_team *team);

typedef struct dlb_pool_options {
    int threads;             /* >= 1 */
    int teams;               /* 1 … threads */
    size_t scratch_floats;   /* for each thread */
    size_t shared_floats;    /* for each team */
    int64_t spin_ns;         /* < 0: forever */
    dlb_thread_fn *on_enter; /* if set: called on every thread when a region begins */
    void *on_enter_arg;
    dlk_between_fn *between; /* if set: called by the leaders of teams between two tasks */
    void *between_arg;
} dlb_pool_options;

/* Fails where the runtime does not give that many threads (OMP_THREAD_LIMIT). */
int dlb_pool_create(dlb_pool **pool, const dlb_pool_options *options, dlb_error *err);
void dlb_pool_free(dlb_pool *pool);

int dlb_pool_threads(const dlb_pool *pool);
int dlb_pool_teams(const dlb_pool *pool);
int64_t dlb_pool_spin_ns(const dlb_pool *pool);

/*
 * Run `fn` on the leader of every team, the other threads serving them; returns when all have.
 * Where the runtime gives fewer threads than at creation (within a parallel region of the caller),
 * one leader does all work alone.
 */
void dlb_pool_run(dlb_pool *pool, dlb_leader_fn *fn, void *arg);

/* Run `fn` once on every thread. */
void dlb_pool_each(dlb_pool *pool, dlb_thread_fn *fn, void *arg);

#endif
