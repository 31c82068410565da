/* Memory that the ranks of a node share: a segment of each, mapped by all of them. */
#ifndef DLB_COMM_WINDOW_H
#define DLB_COMM_WINDOW_H

#include "comm/comm_state.h"

/* Segments begin with a page: the unit of memory that is placed near a CPU. */
typedef struct dlb_window {
    MPI_Win win;     /* MPI_WIN_NULL when alone */
    void *memory;    /* when alone */
    char **segments; /* [ranks of the node] */
} dlb_window;

/*
 * Collective among all ranks, which agree on the outcome: a segment of `bytes` of this rank, and
 * `node_bytes` of all ranks of its node. Nothing has been written to it.
 */
int dlb_window_open(dlb_window *window, dlb_comm *comm, size_t bytes, size_t node_bytes,
                    dlb_error *err);

/* Collective where `whole`; else the memory stays until the process ends. */
void dlb_window_close(dlb_window *window, bool whole);

#endif
