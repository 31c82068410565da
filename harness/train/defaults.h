/* A model's own values for keys of a workload (its `train` lines). */
#ifndef DLB_TRAIN_DEFAULTS_H
#define DLB_TRAIN_DEFAULTS_H

#include "config/workload.h"
#include "graph/model.h"

/* Set those that the user has not given. A wrong key or value is refused with its place. */
int dlb_defaults_apply(const dlb_model *model, dlb_workload *workload, dlb_error *err);

#endif
