/*
 * What an operation costs: floating-point operations as if dense (a multiply-add is two), and
 * the bytes that must move if every operand is read or written once. Rates and rooflines are
 * derived from these and from nothing else.
 */
#ifndef DLK_COST_H
#define DLK_COST_H

#include "dlk/conv2d.h"
#include "dlk/dense.h"
#include "dlk/dropout.h"
#include "dlk/pool.h"

typedef struct dlk_cost {
    double flops;
    double bytes;
} dlk_cost;

dlk_cost dlk_conv2d_forward_cost(const dlk_conv2d *s);
dlk_cost dlk_conv2d_backward_data_cost(const dlk_conv2d *s);
dlk_cost dlk_conv2d_backward_weights_cost(const dlk_conv2d *s);
dlk_cost dlk_dense_forward_cost(const dlk_dense *s);
dlk_cost dlk_dense_backward_data_cost(const dlk_dense *s);
dlk_cost dlk_dense_backward_weights_cost(const dlk_dense *s);
dlk_cost dlk_maxpool_forward_cost(const dlk_pool *s);
dlk_cost dlk_maxpool_backward_cost(const dlk_pool *s);
dlk_cost dlk_relu_forward_cost(size_t count);
dlk_cost dlk_relu_backward_cost(size_t count);
dlk_cost dlk_dropout_cost(const dlk_dropout *s); /* of either direction */
dlk_cost dlk_softmax_xent_cost(int n, int classes);
dlk_cost dlk_sgd_cost(size_t count, int momentum);
dlk_cost dlk_adam_cost(size_t count);
dlk_cost dlk_adagrad_cost(size_t count);
dlk_cost dlk_square_sums_cost(size_t count);

#endif
