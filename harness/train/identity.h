/* Whether all ranks do the same work: the same keys, program and data as rank 0. */
#ifndef DLB_TRAIN_IDENTITY_H
#define DLB_TRAIN_IDENTITY_H

#include <stdint.h>

#include "comm/comm.h"
#include "config/workload.h"

/*
 * Collective. `workload` as the user gave it. Refused on all ranks with a message that names the
 * rank, its host, and what is different there.
 */
int dlb_identity_check(dlb_comm *comm, const dlb_workload *workload, uint64_t data_checksum,
                       dlb_error *err);

#endif
