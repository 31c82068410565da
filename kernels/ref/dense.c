/*
 * The specification of the dense layer. Sums are in float and in index order; an image is a task,
 * or a row of the weights.
 */
#include <string.h>

#include "dlk/sum.h"
#include "loops.h"
#include "ref/dot.h"
#include "ref/ref.h"

typedef struct dense_job {
    const dlk_dense *s;
    const float *x, *weights, *bias, *dy;
    float *out; /* y, dx or dweights */
} dense_job;

static void forward_image(void *arg, int image, int thread)
{
    (void)thread;
    const dense_job *job = arg;
    size_t in = (size_t)job->s->in, out = (size_t)job->s->out;
    const float *x = job->x + (size_t)image * in;
    float *y = job->out + (size_t)image * out;
    memcpy(y, job->bias, out * sizeof *y);
    for (size_t i = 0; i < in; i++)
        dlk_axpy((int)out, x[i], job->weights + i * out, y);
}

static void backward_image(void *arg, int image, int thread)
{
    (void)thread;
    const dense_job *job = arg;
    size_t in = (size_t)job->s->in, out = (size_t)job->s->out;
    const float *dy = job->dy + (size_t)image * out;
    float *dx = job->out + (size_t)image * in;
    for (size_t i = 0; i < in; i++)
        dx[i] = dlk_dot((int)out, dy, job->weights + i * out);
}

static void weights_row(void *arg, int i, int thread)
{
    (void)thread;
    const dense_job *job = arg;
    size_t in = (size_t)job->s->in, out = (size_t)job->s->out;
    float *dweights = job->out + (size_t)i * out;
    memset(dweights, 0, out * sizeof *dweights);
    for (size_t image = 0; image < (size_t)job->s->n; image++)
        dlk_axpy((int)out, job->x[image * in + (size_t)i], job->dy + image * out, dweights);
}

void dlk_ref_dense_forward(dlk_team *team, const dlk_dense *s, const float *x, const float *weights,
                           const float *bias, float *y)
{
    dense_job job = {.s = s, .x = x, .weights = weights, .bias = bias, .out = y};
    dlk_parallel(team, s->n, forward_image, &job);
}

void dlk_ref_dense_backward_data(dlk_team *team, const dlk_dense *s, const float *dy,
                                 const float *weights, float *dx)
{
    dense_job job = {.s = s, .weights = weights, .dy = dy, .out = dx};
    dlk_parallel(team, s->n, backward_image, &job);
}

void dlk_ref_dense_backward_weights(dlk_team *team, const dlk_dense *s, const float *x,
                                    const float *dy, float *dweights, float *dbias)
{
    dense_job job = {.s = s, .x = x, .dy = dy, .out = dweights};
    dlk_parallel(team, s->in, weights_row, &job);
    dlk_sum_rows(team, s->n, (size_t)s->out, dy, (size_t)s->out, dbias);
}
