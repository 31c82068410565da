/* Arrivals by messages: one allgather a step. */
#ifndef DLB_COMM_ROLLCALL_H
#define DLB_COMM_ROLLCALL_H

#include "comm/comm_state.h"
#include "comm/exchange.h"

typedef struct dlb_rollcall {
    MPI_Comm ranks; /* all; MPI_COMM_NULL for one rank */
    MPI_Request request;
    dlb_arrival mine;
    bool complete; /* the last one begun */
} dlb_rollcall;

/* Tell all ranks; their arrivals will be in `all`. */
void dlb_rollcall_begin(dlb_rollcall *call, dlb_comm *comm, const dlb_arrival *mine,
                        dlb_arrival *all);

/* Whether they are. */
bool dlb_rollcall_complete(dlb_rollcall *call, dlb_comm *comm);

#endif
