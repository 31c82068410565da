#include "comm/rollcall.h"

void dlb_rollcall_begin(dlb_rollcall *call, dlb_comm *comm, const dlb_arrival *mine,
                        dlb_arrival *all)
{
    call->mine = *mine;
    call->complete = call->ranks == MPI_COMM_NULL;
    if (call->complete) {
        all[0] = *mine;
        return;
    }
    if (dlb_comm_lock(comm, NULL) < 0)
        return;
    dlb_comm_mpi_ok(comm, MPI_Iallgather(&call->mine, sizeof call->mine, MPI_BYTE, all,
                                         sizeof call->mine, MPI_BYTE, call->ranks, &call->request));
    dlb_comm_unlock(comm);
}

bool dlb_rollcall_complete(dlb_rollcall *call, dlb_comm *comm)
{
    if (call->complete || dlb_comm_lock(comm, NULL) < 0)
        return call->complete;
    int ended = 0;
    call->complete =
        dlb_comm_mpi_ok(comm, MPI_Test(&call->request, &ended, MPI_STATUS_IGNORE)) && ended;
    dlb_comm_unlock(comm);
    return call->complete;
}
