#include "ref/ref.h"
#include "relu_loops.h"

void dlk_ref_relu_forward(dlk_team *team, size_t count, const float *x, float *y)
{
    relu_job job = {count, NULL, x, y};
    dlk_parallel(team, dlk_pieces(count, DLK_CHUNK), forward_chunk, &job);
}

void dlk_ref_relu_backward(dlk_team *team, size_t count, const float *y, const float *dy, float *dx)
{
    relu_job job = {count, y, dy, dx};
    dlk_parallel(team, dlk_pieces(count, DLK_CHUNK), backward_chunk, &job);
}
