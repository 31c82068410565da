#include "optim_loops.h"
#include "simd/simd.h"

void DLK_SIMD(sgd)(dlk_team *team, size_t count, const dlk_sgd *s, const float *grad,
                   float *weights, float *velocity)
{
    optim_job job = {count, s, grad, weights, velocity, NULL};
    dlk_parallel(team, dlk_pieces(count, DLK_CHUNK), sgd_chunk, &job);
}

void DLK_SIMD(adam)(dlk_team *team, size_t count, const dlk_adam *s, const float *grad,
                    float *weights, float *m, float *v)
{
    optim_job job = {count, s, grad, weights, m, v};
    dlk_parallel(team, dlk_pieces(count, DLK_CHUNK), adam_chunk, &job);
}

void DLK_SIMD(adagrad)(dlk_team *team, size_t count, const dlk_adagrad *s, const float *grad,
                       float *weights, float *sum)
{
    optim_job job = {count, s, grad, weights, sum, NULL};
    dlk_parallel(team, dlk_pieces(count, DLK_CHUNK), adagrad_chunk, &job);
}
