/* `dlbench summary --plan`: which kernel computes which layers. */
#ifndef DLB_CLI_SUMMARY_PLAN_H
#define DLB_CLI_SUMMARY_PLAN_H

#include "dlk/dispatch.h"
#include "graph/model.h"

/* One line an operation in the order of forward, fused layers together; then what was not fused. */
void dlb_print_plan(const dlb_model *model, const dlk_kernels *kernels);

#endif
