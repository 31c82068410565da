/*
 * The specification of the dense layer. Sums are in float and in index order; an image is a task,
 * or a row of the weights.
 */
#include <string.h>

#include "loops.h"
#include "ref/dot.h"
#include "ref/ref.h"
#include "shapes.h"

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

/* Some columns of a row of the weights' gradient; row number `in` is the bias's. */
static void sum_images(const dense_job *job, dlk_range images, int i, dlk_range columns,
                       float *sums)
{
    size_t in = (size_t)job->s->in, out = (size_t)job->s->out;
    int count = (int)(columns.end - columns.first);
    memset(sums, 0, (size_t)count * sizeof *sums);
    for (size_t image = images.first; image < images.end; image++) {
        float x = i < job->s->in ? job->x[image * in + (size_t)i] : 1;
        dlk_axpy(count, x, job->dy + image * out + columns.first, sums);
    }
}

static void gradient_row(const dense_job *job, int i, float *gradient)
{
    enum { PIECE = 256 };
    size_t out = (size_t)job->s->out;
    for (int piece = 0; piece < dlk_pieces(out, PIECE); piece++) {
        float others[PIECE];
        dlk_range columns = dlk_piece(out, PIECE, piece);
        sum_images(job, dlk_dense_half(job->s, 0), i, columns, gradient + columns.first);
        if (dlk_dense_halves(job->s) == 1)
            continue;
        sum_images(job, dlk_dense_half(job->s, 1), i, columns, others);
        dlk_add(columns.end - columns.first, others, gradient + columns.first);
    }
}

static void weights_row(void *arg, int i, int thread)
{
    (void)thread;
    const dense_job *job = arg;
    gradient_row(job, i, job->out + (size_t)i * (size_t)job->s->out);
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
    gradient_row(&job, s->in, dbias);
}
