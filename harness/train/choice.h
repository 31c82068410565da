/* The kernels that a workload asks for with its keys `kernels` and `isa`. */
#ifndef DLB_TRAIN_CHOICE_H
#define DLB_TRAIN_CHOICE_H

#include "config/workload.h"
#include "dlk/dispatch.h"

int dlb_choose_kernels(dlk_kernels *kernels, const dlb_workload *workload, dlb_error *err);

#endif
