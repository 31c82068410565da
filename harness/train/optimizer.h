/*
 * The optimizer: its settings and its state, for the slices of the parameters that this rank
 * updates.
 *
 * lars and larc scale the gradient g of each tensor (the weights or the biases of a layer), weight
 * decay included, by a ratio of norms before sgd's step: ratio = trust × |w| / (|g| + weight_decay
 * × |w|); larc takes min(ratio / lr, 1), so that no rate is larger than lr. A tensor of which |w|
 * or |g| is 0 is not scaled.
 */
#ifndef DLB_TRAIN_OPTIMIZER_H
#define DLB_TRAIN_OPTIMIZER_H

#include "config/workload.h"
#include "dlk/dispatch.h"

enum { DLB_OPTIMIZER_STATES = 2 };

typedef struct dlb_optimizer dlb_optimizer;

/* With a state for `count` parameters, zeroed. */
int dlb_optimizer_create(dlb_optimizer **optimizer, const dlk_kernels *kernels,
                         const dlb_workload *workload, size_t count, dlb_error *err);
void dlb_optimizer_free(dlb_optimizer *optimizer);

/* Before every step: the learning rate, and what follows from the number of the step. */
void dlb_optimizer_begin_step(dlb_optimizer *optimizer, double lr);

/*
 * Update `count` parameters, whose state begins at `state`, on the calling thread. Any thread may
 * do so, for parameters that do not overlap. `ratio` is 1 for optimizers without norms.
 */
void dlb_optimizer_update(dlb_optimizer *optimizer, size_t state, size_t count, float ratio,
                          const float *gradients, float *parameters);

/* Whether a tensor's ratio is needed before it is updated; and that, from its squared norms. */
bool dlb_optimizer_needs_norms(const dlb_workload *workload);
float dlb_optimizer_ratio(const dlb_optimizer *optimizer, double weights_squared,
                          double gradients_squared);

/* The arrays of the state, `count` floats each, and the number of steps so far. */
int dlb_optimizer_states(const dlb_optimizer *optimizer);
float *dlb_optimizer_state(dlb_optimizer *optimizer, int index);
long long dlb_optimizer_steps(const dlb_optimizer *optimizer);
void dlb_optimizer_set_steps(dlb_optimizer *optimizer, long long steps);

/* Bytes of state that an optimizer keeps for that many parameters. */
size_t dlb_optimizer_bytes(const dlb_workload *workload, size_t parameters);

/* FLOPs of one update of that many parameters. */
double dlb_optimizer_flops(const dlb_optimizer *optimizer, size_t parameters);

#endif
