/*
 * The ranks of a run, and what they agree on outside of training steps.
 *
 * A process that no launcher has started and that has not initialised MPI is alone: rank 0 of 1,
 * and MPI is not touched. Otherwise MPI is initialised unless the caller has done so, and is
 * finalised at exit by whoever initialised it.
 *
 * Ranks are numbered so that those of a node are consecutive; rank 0 is MPI's rank 0. Every
 * function marked "collective" is called by all ranks in the same order. A collective call that
 * waits for more than hang_s fails on all ranks that are alive and names those that did not come;
 * after such a failure, or one of MPI itself, the comm is broken and every further collective
 * call fails with the same message at once.
 */
#ifndef DLB_COMM_COMM_H
#define DLB_COMM_COMM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct dlb_comm dlb_comm;

enum { DLB_HOST_NAME = 64 };

/* Where a rank runs. */
typedef struct dlb_comm_place {
    char host[DLB_HOST_NAME];
    int node;  /* 0 … nodes-1 */
    int local; /* its number on the node, from 0 */
} dlb_comm_place;

typedef struct dlb_comm_options {
    int ranks;         /* that the user expects; 0: as many as there are */
    double hang_s;     /* patience with other ranks; 0: unlimited */
    int node_ranks;    /* > 0: divide the ranks of a host into nodes of that many, to try out
                          several nodes on one host; 0: nodes are what MPI says */
    bool many_threads; /* threads other than the main one may make calls, one at a time */
} dlb_comm_options;

/*
 * Collective. Another number of ranks than the user expects is refused. `ranks` = 1 in a program
 * that has initialised MPI itself is a rank alone.
 */
int dlb_comm_create(dlb_comm **comm, const dlb_comm_options *options, dlb_error *err);
void dlb_comm_free(dlb_comm *comm); /* collective, unless the comm is broken */

int dlb_comm_rank(const dlb_comm *comm);
int dlb_comm_size(const dlb_comm *comm);
int dlb_comm_nodes(const dlb_comm *comm);
const dlb_comm_place *dlb_comm_place_of(const dlb_comm *comm, int rank);

/* Ranks of the calling rank's node. */
int dlb_comm_local_size(const dlb_comm *comm);

/*
 * Collective: did all succeed so far? `status` is the caller's own, with its *err. If any failed,
 * all return the status of the lowest rank that did, with its message; "rank 3 on node17: " stands
 * before it where that is not rank 0.
 */
int dlb_comm_agree(dlb_comm *comm, int status, dlb_error *err);

/* Collective: bytes of rank 0 to all. */
int dlb_comm_broadcast(dlb_comm *comm, void *bytes, size_t count, dlb_error *err);

/* Collective: `count` bytes of each rank, in order of ranks, to `all` on every rank. */
int dlb_comm_allgather(dlb_comm *comm, const void *mine, size_t count, void *all, dlb_error *err);

/*
 * Collective: the same for counts that differ. *all is allocated, free() it; part r begins at
 * (*starts)[r] and ends at (*starts)[r + 1].
 */
int dlb_comm_allgather_any(dlb_comm *comm, const void *mine, size_t count, char **all,
                           size_t **starts, dlb_error *err);

/* Collective: the same to rank 0 alone; *all is NULL elsewhere. */
int dlb_comm_gather_any(dlb_comm *comm, const void *mine, size_t count, char **all, size_t **starts,
                        dlb_error *err);

/*
 * Collective: element-wise sums, on every rank. Exact, and the same for every number of ranks,
 * where of each element all ranks but one give 0; no order of summation is promised otherwise.
 */
int dlb_comm_sum(dlb_comm *comm, double *values, size_t count, dlb_error *err);

/* Collective: MPI's own MPI_Allreduce of floats, in place, in any order; to compare with. */
int dlb_comm_mpi_allreduce(dlb_comm *comm, float *values, size_t count, dlb_error *err);

/*
 * Of these three, NULL asks for the last comm that this process has freed, as it was then; without
 * one, for a process alone.
 */

/* Whether a collective call has failed for good, as said above. */
bool dlb_comm_is_broken(const dlb_comm *comm);

/* Whether this rank is the one to tell people of a failure: the lowest one known to be alive. */
bool dlb_comm_speaks(const dlb_comm *comm);

/* End all ranks at once. For programs; the library never does. Returns if alone. */
void dlb_comm_abort(const dlb_comm *comm, int status);

/* What MPI gave, for people: "Open MPI 4.1.4", or "none" when alone. */
const char *dlb_comm_library(const dlb_comm *comm);

/*
 * Number of ranks that a launcher (mpirun, srun, aprun) started this process among, from its
 * environment; 0 if none did.
 */
int dlb_comm_launched(void);

#endif
