#include "simd/table.h"

#include "simd/simd.h"

void DLK_SIMD(fill)(dlk_kernels *kernels)
{
    static const dlk_stage_forward *const forward[] = {&DLK_SIMD(winograd),
                                                       &DLK_SIMD(winograd_windows),
                                                       &DLK_SIMD(winograd_rows),
                                                       &DLK_SIMD(phases),
                                                       &DLK_SIMD(first),
                                                       &DLK_SIMD(direct),
                                                       NULL};
    static const dlk_stage_backward *const backward[] = {
        &DLK_SIMD(sparse), &DLK_SIMD(first_backward), &DLK_SIMD(direct_backward), NULL};
    kernels->stage_forward = forward;
    kernels->stage_backward = backward;
    kernels->lanes = &DLK_SIMD(lanes);
    kernels->pixels_to_floats = DLK_SIMD(pixels_to_floats);
    kernels->dense_forward = DLK_SIMD(dense_forward);
    kernels->dense_backward_data = DLK_SIMD(dense_backward_data);
    kernels->dense_backward_weights = DLK_SIMD(dense_backward_weights);
    kernels->relu_forward = DLK_SIMD(relu_forward);
    kernels->relu_backward = DLK_SIMD(relu_backward);
    kernels->dropout_forward = DLK_SIMD(dropout_forward);
    kernels->dropout_backward = DLK_SIMD(dropout_backward);
    kernels->dropout_keep = DLK_SIMD(dropout_keep);
    kernels->softmax_xent = DLK_SIMD(softmax_xent);
    kernels->sgd = DLK_SIMD(sgd);
    kernels->adam = DLK_SIMD(adam);
    kernels->adagrad = DLK_SIMD(adagrad);
}
