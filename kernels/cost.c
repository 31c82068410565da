#include "dlk/cost.h"

/*
 * Bias terms are left out of the FLOPs of products: they are few, and nobody counts them.
 * Comparisons, square roots, divisions and exponentials count as one each.
 */

static const double FLOAT = sizeof(float);

static double conv_flops(const dlk_conv2d *s)
{
    double outputs = (double)s->n * dlk_conv2d_oh(s) * dlk_conv2d_ow(s) * s->oc;
    return 2.0 * outputs * s->kh * s->kw * s->c;
}

static double conv_in(const dlk_conv2d *s)
{
    return (double)s->n * s->h * s->w * s->c;
}

static double conv_weights(const dlk_conv2d *s)
{
    return (double)s->kh * s->kw * s->c * s->oc;
}

static double conv_out(const dlk_conv2d *s)
{
    return (double)s->n * dlk_conv2d_oh(s) * dlk_conv2d_ow(s) * s->oc;
}

dlk_cost dlk_conv2d_forward_cost(const dlk_conv2d *s)
{
    double floats = conv_in(s) + conv_weights(s) + s->oc + conv_out(s);
    return (dlk_cost){conv_flops(s), FLOAT * floats};
}

dlk_cost dlk_conv2d_backward_data_cost(const dlk_conv2d *s)
{
    return (dlk_cost){conv_flops(s), FLOAT * (conv_out(s) + conv_weights(s) + conv_in(s))};
}

dlk_cost dlk_conv2d_backward_weights_cost(const dlk_conv2d *s)
{
    return dlk_conv2d_forward_cost(s); /* reads what forward wrote, and the other way round */
}

static double dense_flops(const dlk_dense *s)
{
    return 2.0 * s->n * s->in * s->out;
}

static double dense_floats(const dlk_dense *s)
{
    return (double)s->n * s->in + (double)s->in * s->out + (double)s->n * s->out;
}

dlk_cost dlk_dense_forward_cost(const dlk_dense *s)
{
    return (dlk_cost){dense_flops(s), FLOAT * (dense_floats(s) + s->out)};
}

dlk_cost dlk_dense_backward_data_cost(const dlk_dense *s)
{
    return (dlk_cost){dense_flops(s), FLOAT * dense_floats(s)};
}

dlk_cost dlk_dense_backward_weights_cost(const dlk_dense *s)
{
    return dlk_dense_forward_cost(s);
}

static double pool_out(const dlk_pool *s)
{
    return (double)s->n * dlk_pool_oh(s) * dlk_pool_ow(s) * s->c;
}

/* x or dx, y or dy, and a byte a winner */
static double pool_bytes(const dlk_pool *s)
{
    return FLOAT * ((double)s->n * s->h * s->w * s->c) + (FLOAT + 1) * pool_out(s);
}

dlk_cost dlk_maxpool_forward_cost(const dlk_pool *s)
{
    return (dlk_cost){pool_out(s) * (s->size * s->size - 1), pool_bytes(s)};
}

dlk_cost dlk_maxpool_backward_cost(const dlk_pool *s)
{
    return (dlk_cost){pool_out(s), pool_bytes(s)};
}

/* An elementwise operation that reads and writes `arrays` arrays of floats. */
static dlk_cost elementwise(double count, double flops, double arrays)
{
    return (dlk_cost){flops * count, FLOAT * arrays * count};
}

dlk_cost dlk_relu_forward_cost(size_t count)
{
    return elementwise((double)count, 1, 2);
}

dlk_cost dlk_relu_backward_cost(size_t count)
{
    return elementwise((double)count, 1, 3);
}

dlk_cost dlk_dropout_cost(const dlk_dropout *s)
{
    return elementwise((double)s->n * s->pixels * s->c, 1, 2);
}

/* Of a logit: maximum, difference, exponential, sum, quotient, and the gradient's two. */
dlk_cost dlk_softmax_xent_cost(int n, int classes)
{
    dlk_cost cost = elementwise((double)n * classes, 7, 2);
    cost.bytes += n * (FLOAT + 1); /* losses and labels */
    return cost;
}

/*
 * grad is read, weights and the state are read and written. Weight decay and the scale of a layer,
 * which many trainings do without, are not counted.
 */
dlk_cost dlk_sgd_cost(size_t count, int momentum)
{
    return momentum ? elementwise((double)count, 4, 5) : elementwise((double)count, 2, 3);
}

dlk_cost dlk_adam_cost(size_t count)
{
    return elementwise((double)count, 12, 7);
}

dlk_cost dlk_adagrad_cost(size_t count)
{
    return elementwise((double)count, 7, 5);
}

dlk_cost dlk_square_sums_cost(size_t count)
{
    return elementwise((double)count, 4, 2);
}
