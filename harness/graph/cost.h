/* What layers and models cost, from what the kernels declare (dlk/cost.h). */
#ifndef DLB_GRAPH_COST_H
#define DLB_GRAPH_COST_H

#include <stdbool.h>

#include "dlk/cost.h"
#include "graph/model.h"

/* Forward of a batch of n in evaluation or, with dropout, in training. */
dlk_cost dlb_layer_forward_cost(const dlb_layer *layer, int n);

/* Backward of a batch of n; `data` says whether the gradient of its input is wanted, too. */
dlk_cost dlb_layer_backward_cost(const dlb_layer *layer, int n, bool data);

/* Forward and backward of a whole training step, without the optimizer. */
dlk_cost dlb_model_train_cost(const dlb_model *model, int n);

/* The first layer with parameters, where gradients stop; layer_count if none has any. */
int dlb_model_first_trained(const dlb_model *model);

#endif
