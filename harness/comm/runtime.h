/* MPI in this process: there is one, and it begins and ends once. */
#ifndef DLB_COMM_RUNTIME_H
#define DLB_COMM_RUNTIME_H

#include <stdbool.h>

#include "base/error.h"

/* Whether MPI has been initialised and not finalised. */
bool dlb_mpi_runs(void);

/* Whether dlb_mpi_begin has initialised it, and not the program. */
bool dlb_mpi_is_ours(void);

/*
 * Initialise MPI unless it runs, and have it finalised at exit if so. Refused where MPI cannot be
 * called in the way that is asked for: by one thread at a time, or by the main thread only.
 */
int dlb_mpi_begin(bool many_threads, dlb_error *err);

/* Do not finalise it at exit: some rank will not come. */
void dlb_mpi_abandon(void);

/* Free memory, unless it is not `quiet`: then MPI may still use it, and it is kept for good. */
void dlb_mpi_release(void *memory, bool quiet);

/* "Open MPI 4.1.4" */
void dlb_mpi_name(char *name, size_t size);

#endif
