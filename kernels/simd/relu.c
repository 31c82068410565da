#include "loops.h"
#include "simd/simd.h"

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
    size_t i = chunk.first;
    for (; i + V <= chunk.end; i += V)
        store(job->out + i, relu(load(job->in + i)));
    int rest = (int)(chunk.end - i);
    store_some(job->out + i, relu(load_some(job->in + i, rest)), rest);
}

static vec passed(vec y, vec dy)
{
    return choose(y > 0.0F, dy, (vec){0});
}

static void backward_chunk(void *arg, int task, int thread)
{
    (void)thread;
    const relu_job *job = arg;
    dlk_range chunk = dlk_piece(job->count, DLK_CHUNK, task);
    size_t i = chunk.first;
    for (; i + V <= chunk.end; i += V)
        store(job->out + i, passed(load(job->y + i), load(job->in + i)));
    int rest = (int)(chunk.end - i);
    store_some(job->out + i, passed(load_some(job->y + i, rest), load_some(job->in + i, rest)),
               rest);
}

void DLK_SIMD(relu_forward)(dlk_team *team, size_t count, const float *x, float *y)
{
    relu_job job = {count, NULL, x, y};
    dlk_parallel(team, dlk_pieces(count, DLK_CHUNK), forward_chunk, &job);
}

void DLK_SIMD(relu_backward)(dlk_team *team, size_t count, const float *y, const float *dy,
                             float *dx)
{
    relu_job job = {count, y, dy, dx};
    dlk_parallel(team, dlk_pieces(count, DLK_CHUNK), backward_chunk, &job);
}
