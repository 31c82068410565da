/*
 * A team of threads that computes one operation at a time.
 *
 * Kernels never create threads. They cut their work into tasks whose number and extent depend on
 * the shape alone, never on the size of the team, and hand them to dlk_parallel. That is what
 * makes results bit-identical for every number of threads: who computes a task may vary, what is
 * computed may not.
 *
 * One thread of a team, number 0, is its leader and calls kernels; the others serve it. A team of
 * one needs no other thread and costs nothing.
 */
#ifndef DLK_TEAM_H
#define DLK_TEAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlk/gate.h"

/* Compute task `task` on the team's thread number `thread`. */
typedef void dlk_task_fn(void *arg, int task, int thread);

/* What a leader does between two tasks, such as moving messages along. */
typedef void dlk_between_fn(void *arg);

/* What a leader does, with its team, while the others are at a job already, and whether it can. */
typedef void dlk_meanwhile_fn(void *arg);
typedef bool dlk_ready_fn(void *arg);

/*
 * The tasks that a thread takes first: an equal, consecutive share. Who has done with its own helps
 * the others. So a thread meets in cache what it computed of the same images before.
 */
typedef struct dlk_share {
    _Alignas(64) _Atomic int next;
    int end;
} dlk_share;

/* Tasks that a team is at. */
typedef struct dlk_job {
    dlk_task_fn *fn; /* NULL: go home */
    void *arg;
    dlk_share *shares; /* [size], not owned */
    dlk_gate busy;     /* servers that have not finished it */
} dlk_job;

typedef struct dlk_team {
    int size;
    int first_thread; /* its leader's number in the team that it is a part of; 0 if in none */
    dlk_between_fn *between; /* NULL: nothing; set it after init, while no task runs */
    void *between_arg;
    size_t scratch_floats; /* private scratch of each thread */
    float *scratch;        /* size * scratch_floats, not owned */
    float *shared;         /* scratch of all threads together, not owned; set it after init */
    int64_t spin_ns;       /* how long an idle thread spins before it sleeps; < 0: forever */

    dlk_meanwhile_fn *meanwhile; /* during the next job; NULL: nothing */
    dlk_ready_fn *meanwhile_ready;
    void *meanwhile_arg;
    bool open;      /* a round is, and the leader is at something else meanwhile */
    dlk_job *ahead; /* that the leader has not taken its share of; NULL: none */

    /* The jobs of this round and of the one before, which may not have ended, written by the leader
     * before it opens the round. Then one that came meanwhile, whose tasks are taken by who finds
     * no other; no fn: none. */
    dlk_job jobs[2];
    _Atomic(dlk_task_fn *) filler_fn;
    void *filler_arg;
    dlk_share filler;
    uint32_t home; /* the round that the last service ended with */

    dlk_gate round; /* counts jobs */
} dlk_team;

/* Shares that a team of so many threads needs: of two jobs. */
#define DLK_TEAM_SHARES(size) (2 * (size))

/*
 * A team of `size` threads with `scratch_floats` floats of scratch each, at `scratch`, and
 * DLK_TEAM_SHARES(size) shares. A team of one needs no shares.
 */
void dlk_team_init(dlk_team *team, int size, dlk_share *shares, float *scratch,
                   size_t scratch_floats, int64_t spin_ns);

/* Leader: run fn for every task 0 … tasks-1 on the team and return when all are done. */
void dlk_parallel(dlk_team *team, int tasks, dlk_task_fn *fn, void *arg);

/*
 * Leader: let the others begin, and return at once; its own share the leader takes when it comes to
 * the next job. Who finds no task left begins with that job, whose tasks must themselves wait for
 * what they need of these. All are done when dlk_join returns, or dlk_parallel that has had tasks
 * for the others.
 */
void dlk_parallel_ahead(dlk_team *team, int tasks, dlk_task_fn *fn, void *arg);
void dlk_join(dlk_team *team);

/*
 * Leader: the same without the others. So little work is better done where its operands are in
 * cache than taken to another core.
 */
void dlk_alone(dlk_team *team, int tasks, dlk_task_fn *fn, void *arg);

/*
 * Leader: while the others begin with the next job that has tasks for them, call fn(arg), and only
 * then take part in it. Where there is `ready`, the leader takes part until that is true, or no
 * task is left. fn may call kernels that do not touch what the job works on; the tasks of the first
 * of these that shares some out fill the gaps that the job's leave at their end. The job must leave
 * `shared` alone and keep nothing in a thread's scratch from one task to the next.
 * Returns at once. dlk_meanwhile_is_due then tells, and forgets, whether no such job has come.
 */
void dlk_meanwhile(dlk_team *team, dlk_meanwhile_fn *fn, dlk_ready_fn *ready, void *arg);
bool dlk_meanwhile_is_due(dlk_team *team);

/* The first of the tasks that are a thread's share; that of the thread behind the last: their
 * number. */
static inline int dlk_share_start(const dlk_team *team, int tasks, int thread)
{
    return (int)((long long)tasks * thread / team->size);
}

/*
 * Leader: let the servers return, and wait until they have. Threads may serve again only after
 * this call has returned.
 */
void dlk_team_dismiss(dlk_team *team);

/* Every other thread: work for the leader until it dismisses the team. */
void dlk_team_serve(dlk_team *team, int thread);

/* The private scratch of a thread of the team. */
static inline float *dlk_scratch(const dlk_team *team, int thread)
{
    return team->scratch + (size_t)thread * team->scratch_floats;
}

#endif
