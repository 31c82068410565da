/* Initial weights, as the framework that a model comes from has them. */
#ifndef DLB_TRAIN_INIT_H
#define DLB_TRAIN_INIT_H

#include "graph/graph.h"

/*
 * glorot (Keras): weights uniform in ±√(6 / (fan_in + fan_out)), biases 0.
 * torch: weights and biases uniform in ±1/√fan_in.
 */
void dlb_init_parameters(dlb_graph *graph, dlb_init init, uint32_t seed);

#endif
