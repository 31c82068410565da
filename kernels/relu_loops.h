/* The loops of ReLU, one body for every instruction set that they are compiled for. */
#ifndef DLK_RELU_LOOPS_H
#define DLK_RELU_LOOPS_H

#include "loops.h"

typedef struct relu_job {
    size_t count;
    const float *y, *in;
    float *out;
} relu_job;

static void forward_chunk(void *arg, int task, int thread)
{
    (void)thread;
    const relu_job *job = arg;
    dlk_range chunk = dlk_piece(job->count, DLK_CHUNK, task);
    const float *x = job->in;
    float *y = job->out;
    DLK_INDEPENDENT
    for (size_t i = chunk.first; i < chunk.end; i++)
        y[i] = 0.0F > x[i] ? 0.0F : x[i]; /* this way round a NaN stays */
}

static void backward_chunk(void *arg, int task, int thread)
{
    (void)thread;
    const relu_job *job = arg;
    dlk_range chunk = dlk_piece(job->count, DLK_CHUNK, task);
    const float *y = job->y, *dy = job->in;
    float *dx = job->out;
    DLK_INDEPENDENT
    for (size_t i = chunk.first; i < chunk.end; i++) {
        float passed = dy[i];
        dx[i] = y[i] > 0.0F ? passed : 0.0F;
    }
}

#endif
