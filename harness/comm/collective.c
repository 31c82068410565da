#include <limits.h>

#include "base/mem.h"
#include "comm/comm_state.h"

/* MPI counts with int: more is sent in pieces. */
enum { PIECE = 1 << 30 };

static int smaller(size_t count, int most)
{
    return count < (size_t)most ? (int)count : most;
}

int dlb_comm_barrier(dlb_comm *comm, dlb_error *err)
{
    if (comm->size == 1)
        return 0;
    int status = dlb_comm_lock(comm, err);
    if (status < 0)
        return status;
    return dlb_comm_complete(comm, MPI_Ibarrier(comm->all, &comm->request), err);
}

int dlb_comm_broadcast_on(dlb_comm *comm, MPI_Comm on, int root, void *bytes, size_t count,
                          dlb_error *err)
{
    if (comm->size == 1)
        return 0;
    for (size_t done = 0; done < count; done += PIECE) {
        int status = dlb_comm_lock(comm, err);
        if (status < 0)
            return status;
        int code = MPI_Ibcast((char *)bytes + done, smaller(count - done, PIECE), MPI_BYTE, root,
                              on, &comm->request);
        status = dlb_comm_complete(comm, code, err);
        if (status < 0)
            return status;
    }
    return 0;
}

int dlb_comm_broadcast(dlb_comm *comm, void *bytes, size_t count, dlb_error *err)
{
    return dlb_comm_broadcast_on(comm, comm->all, 0, bytes, count, err);
}

int dlb_comm_sum(dlb_comm *comm, double *values, size_t count, dlb_error *err)
{
    if (comm->size == 1)
        return 0;
    for (size_t done = 0; done < count; done += PIECE) {
        int status = dlb_comm_lock(comm, err);
        if (status < 0)
            return status;
        int code = MPI_Iallreduce(MPI_IN_PLACE, values + done, smaller(count - done, PIECE),
                                  MPI_DOUBLE, MPI_SUM, comm->all, &comm->request);
        status = dlb_comm_complete(comm, code, err);
        if (status < 0)
            return status;
    }
    return 0;
}

/* One blocking call, as programs make it. */
int dlb_comm_mpi_allreduce(dlb_comm *comm, float *values, size_t count, dlb_error *err)
{
    if (comm->size == 1)
        return 0;
    if (count > INT_MAX)
        return dlb_fail(err, DLB_FAIL, "%zu numbers are too many to reduce at once", count);
    int status = dlb_comm_lock(comm, err);
    if (status < 0)
        return status;
    bool ok = dlb_comm_mpi_ok(
        comm, MPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_FLOAT, MPI_SUM, comm->all));
    dlb_comm_unlock(comm);
    return ok ? 0 : dlb_comm_failure(comm, err);
}

int dlb_comm_allgather(dlb_comm *comm, const void *mine, size_t count, void *all, dlb_error *err)
{
    if (count > INT_MAX)
        return dlb_fail(err, DLB_FAIL, "%zu bytes of each rank are too many to gather", count);
    if (comm->size == 1) {
        memcpy(all, mine, count);
        return 0;
    }
    int status = dlb_comm_lock(comm, err);
    if (status < 0)
        return status;
    int code = MPI_Iallgather(mine, (int)count, MPI_BYTE, all, (int)count, MPI_BYTE, comm->all,
                              &comm->request);
    return dlb_comm_complete(comm, code, err);
}

/* Parts of all ranks, to each or to rank 0 alone. */
static int gather_parts(dlb_comm *comm, const void *mine, const size_t *starts, char *all,
                        bool to_each, dlb_error *err)
{
    int *counts = dlb_alloc((size_t)comm->size * 2, sizeof *counts), *places = counts + comm->size;
    for (int r = 0; r < comm->size; r++) {
        counts[r] = (int)(starts[r + 1] - starts[r]);
        places[r] = (int)starts[r];
    }
    int status = dlb_comm_lock(comm, err);
    if (status == 0) {
        int own = counts[comm->rank];
        int code = to_each ? MPI_Iallgatherv(mine, own, MPI_BYTE, all, counts, places, MPI_BYTE,
                                             comm->all, &comm->request)
                           : MPI_Igatherv(mine, own, MPI_BYTE, all, counts, places, MPI_BYTE, 0,
                                          comm->all, &comm->request);
        status = dlb_comm_complete(comm, code, err);
    }
    free(counts);
    return status;
}

/* Every rank's count becomes the start of the next one's part. */
static int find_starts(dlb_comm *comm, size_t count, size_t *starts, dlb_error *err)
{
    starts[0] = 0;
    int status = dlb_comm_allgather(comm, &count, sizeof count, starts + 1, err);
    if (status < 0)
        return status;
    for (int r = 0; r < comm->size; r++)
        starts[r + 1] += starts[r];
    if (starts[comm->size] > INT_MAX)
        return dlb_fail(err, DLB_FAIL, "%zu bytes are too many to gather", starts[comm->size]);
    return 0;
}

static int gather_any(dlb_comm *comm, const void *mine, size_t count, bool to_each, char **all,
                      size_t **starts, dlb_error *err)
{
    size_t *begins = dlb_alloc((size_t)comm->size + 1, sizeof *begins);
    char *parts = NULL;
    int status = find_starts(comm, count, begins, err);
    if (status == 0) {
        if (to_each || comm->rank == 0)
            parts = dlb_alloc(begins[comm->size], 1);
        if (comm->size > 1)
            status = gather_parts(comm, mine, begins, parts, to_each, err);
        else if (count)
            memcpy(parts, mine, count);
    }
    if (status < 0) {
        free(parts);
        free(begins);
        return status;
    }
    *all = parts;
    *starts = begins;
    return 0;
}

int dlb_comm_allgather_any(dlb_comm *comm, const void *mine, size_t count, char **all,
                           size_t **starts, dlb_error *err)
{
    return gather_any(comm, mine, count, true, all, starts, err);
}

int dlb_comm_gather_any(dlb_comm *comm, const void *mine, size_t count, char **all, size_t **starts,
                        dlb_error *err)
{
    return gather_any(comm, mine, count, false, all, starts, err);
}

/* The lowest rank whose status is a failure; `size` if none is. */
static int find_failed(dlb_comm *comm, int status, int *lowest, dlb_error *err)
{
    *lowest = status < 0 ? comm->rank : comm->size;
    if (comm->size == 1)
        return 0;
    int failure = dlb_comm_lock(comm, err);
    if (failure < 0)
        return failure;
    int code = MPI_Iallreduce(MPI_IN_PLACE, lowest, 1, MPI_INT, MPI_MIN, comm->all, &comm->request);
    return dlb_comm_complete(comm, code, err);
}

int dlb_comm_agree(dlb_comm *comm, int status, dlb_error *err)
{
    int lowest, failure = find_failed(comm, status, &lowest, err);
    if (failure < 0)
        return failure;
    if (lowest == comm->size)
        return 0;
    dlb_error verdict = {.code = status};
    if (lowest == comm->rank)
        snprintf(verdict.message, sizeof verdict.message, "%s", err ? err->message : "failed");
    failure = dlb_comm_broadcast_on(comm, comm->all, lowest, &verdict, sizeof verdict, err);
    if (failure < 0)
        return failure;
    if (lowest != 0)
        dlb_error_prefix(&verdict, "rank %d on %s", lowest, comm->places[lowest].host);
    return dlb_fail(err, verdict.code, "%s", verdict.message);
}
