/*
 * What the files of this folder know of a comm.
 *
 * MPI takes one call at a time: `mpi` is held in every call but those that create or free
 * something, during which the caller's threads make no others. No call is made on a broken comm
 * but MPI_Abort, since transfers that never ended may write to memory that is gone.
 */
#ifndef DLB_COMM_COMM_STATE_H
#define DLB_COMM_COMM_STATE_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "comm/comm.h"

struct dlb_comm {
    int rank, size, nodes, local_size;
    dlb_comm_place *places; /* [size] */
    pid_t *pids;            /* [size] */
    bool *neighbours;       /* [size]: processes that this one sees under their pids */
    double hang_s;
    char library[64];

    pthread_mutex_t mpi;
    MPI_Comm all, node;  /* MPI_COMM_NULL when alone */
    MPI_Request request; /* of the collective call under way */

    struct {
        int64_t since_ns; /* of the wait being watched */
        int64_t look_ns;  /* the last look */
        int64_t lost_ns;  /* during which this process did not run */
    } watch;

    atomic_bool broken;
    dlb_error failure; /* set before `broken` is */
    bool *alive;       /* [size]: as far as is known */
};

/* Copies the failure of a broken comm to *err and returns its code. */
int dlb_comm_failure(const dlb_comm *comm, dlb_error *err);

/* With MPI locked: the comm is broken. The first reason stays. */
void dlb_comm_break(dlb_comm *comm, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* With MPI locked: whether a call that returned `code` succeeded; else the comm is broken. */
bool dlb_comm_mpi_ok(dlb_comm *comm, int code);

/* Around calls of MPI. Locking fails with the failure of a comm that is broken. */
int dlb_comm_lock(dlb_comm *comm, dlb_error *err);
void dlb_comm_unlock(dlb_comm *comm);

/*
 * To be called again and again while waiting for other ranks since `since_ns`. Breaks the comm
 * when one of them has died, when the wait has been too long, or when another rank has found so.
 * Fails if it is broken.
 */
int dlb_comm_watch(dlb_comm *comm, int64_t since_ns);

/*
 * Ends what dlb_comm_lock began: unlocks MPI and waits for comm->request, which a non-blocking
 * call that returned `code` has begun.
 */
int dlb_comm_complete(dlb_comm *comm, int code, dlb_error *err);

/* Collective among the members of `on`: bytes of its rank `root` to all. */
int dlb_comm_broadcast_on(dlb_comm *comm, MPI_Comm on, int root, void *bytes, size_t count,
                          dlb_error *err);

/* Collective: returns when all have come. */
int dlb_comm_barrier(dlb_comm *comm, dlb_error *err);

#endif
