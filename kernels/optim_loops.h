/* The loops of the optimizers, one body for every instruction set that they are compiled for. */
#ifndef DLK_OPTIM_LOOPS_H
#define DLK_OPTIM_LOOPS_H

#include <math.h>

#include "dlk/optim.h"
#include "loops.h"

typedef struct optim_job {
    size_t count;
    const void *s; /* dlk_sgd, dlk_adam or dlk_adagrad */
    const float *grad;
    float *weights, *state, *second; /* velocity, m or sum; v */
} optim_job;

static void sgd_plain(const dlk_sgd *s, size_t count, const float *restrict grad,
                      float *restrict weights)
{
    for (size_t i = 0; i < count; i++)
        weights[i] -= s->lr * (s->scale * (grad[i] + s->weight_decay * weights[i]));
}

static void sgd_momentum(const dlk_sgd *s, size_t count, const float *restrict grad,
                         float *restrict weights, float *restrict velocity)
{
    float along_grad = s->nesterov ? 1.0F : 0.0F;
    float along_velocity = s->nesterov ? s->momentum : 1.0F;
    for (size_t i = 0; i < count; i++) {
        float g = s->scale * (grad[i] + s->weight_decay * weights[i]);
        velocity[i] = s->momentum * velocity[i] + g;
        weights[i] -= s->lr * (along_grad * g + along_velocity * velocity[i]);
    }
}

static void adam(const dlk_adam *s, size_t count, const float *restrict grad,
                 float *restrict weights, float *restrict m, float *restrict v)
{
    float beta1 = (float)s->beta1, rest1 = (float)(1 - s->beta1);
    float beta2 = (float)s->beta2, rest2 = (float)(1 - s->beta2);
    for (size_t i = 0; i < count; i++) {
        float g = grad[i] + s->weight_decay * weights[i];
        m[i] = beta1 * m[i] + rest1 * g;
        v[i] = beta2 * v[i] + rest2 * g * g;
        weights[i] -= s->step_size * m[i] / (sqrtf(v[i]) + s->epsilon);
    }
}

static void adagrad(const dlk_adagrad *s, size_t count, const float *restrict grad,
                    float *restrict weights, float *restrict sum)
{
    for (size_t i = 0; i < count; i++) {
        float g = grad[i] + s->weight_decay * weights[i];
        sum[i] += g * g;
        weights[i] -= s->lr * g / (sqrtf(sum[i]) + s->epsilon);
    }
}

static void sgd_chunk(void *arg, int task, int thread)
{
    (void)thread;
    const optim_job *job = arg;
    dlk_range chunk = dlk_piece(job->count, DLK_CHUNK, task);
    size_t at = chunk.first, count = chunk.end - chunk.first;
    const dlk_sgd *s = job->s;
    if (s->momentum == 0.0F)
        sgd_plain(s, count, job->grad + at, job->weights + at);
    else
        sgd_momentum(s, count, job->grad + at, job->weights + at, job->state + at);
}

static void adam_chunk(void *arg, int task, int thread)
{
    (void)thread;
    const optim_job *job = arg;
    dlk_range chunk = dlk_piece(job->count, DLK_CHUNK, task);
    size_t at = chunk.first;
    adam(job->s, chunk.end - at, job->grad + at, job->weights + at, job->state + at,
         job->second + at);
}

static void adagrad_chunk(void *arg, int task, int thread)
{
    (void)thread;
    const optim_job *job = arg;
    dlk_range chunk = dlk_piece(job->count, DLK_CHUNK, task);
    size_t at = chunk.first;
    adagrad(job->s, chunk.end - at, job->grad + at, job->weights + at, job->state + at);
}

#endif
