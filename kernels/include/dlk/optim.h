/*
 * Optimizer updates over `count` consecutive parameters. `grad` is the mean gradient.
 *
 * SGD is PyTorch's (velocity = momentum * velocity + grad, no dampening; Nesterov steps along
 * grad + momentum * velocity), Adam is Keras's (bias correction folded into the step size, epsilon
 * added to the uncorrected sqrt(v)), Adagrad is both's. Weight decay is added to the gradient.
 */
#ifndef DLK_OPTIM_H
#define DLK_OPTIM_H

#include "dlk/team.h"

typedef struct dlk_sgd {
    float lr, momentum, weight_decay;
    float scale; /* the gradient, weight decay included, is multiplied by it: 1 for SGD itself, the
                    layer's ratio for LARS and LARC */
    int nesterov;
} dlk_sgd;

/* velocity may be NULL when momentum is 0. */
typedef void dlk_sgd_fn(dlk_team *team, size_t count, const dlk_sgd *s, const float *grad,
                        float *weights, float *velocity);

/* w -= step_size * m / (sqrt(v) + epsilon) */
typedef struct dlk_adam {
    double beta1, beta2; /* doubles: 1 - 0.999 loses five digits as a float */
    float step_size;     /* lr * sqrt(1 - beta2^t) / (1 - beta1^t) */
    float epsilon;
    float weight_decay; /* added to the gradient */
} dlk_adam;

typedef void dlk_adam_fn(dlk_team *team, size_t count, const dlk_adam *s, const float *grad,
                         float *weights, float *m, float *v);

/* sum += grad²; w -= lr * grad / (sqrt(sum) + epsilon) */
typedef struct dlk_adagrad {
    float lr, epsilon, weight_decay;
} dlk_adagrad;

typedef void dlk_adagrad_fn(dlk_team *team, size_t count, const dlk_adagrad *s, const float *grad,
                            float *weights, float *sum);

#endif
