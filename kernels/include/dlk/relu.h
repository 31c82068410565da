/* ReLU over `count` floats. y may be x; dx may be dy. A NaN stays a NaN. */
#ifndef DLK_RELU_H
#define DLK_RELU_H

#include "dlk/team.h"

typedef void dlk_relu_forward_fn(dlk_team *team, size_t count, const float *x, float *y);

/* dx = y > 0 ? dy : 0, with y the output of forward. */
typedef void dlk_relu_backward_fn(dlk_team *team, size_t count, const float *y, const float *dy,
                                  float *dx);

#endif
