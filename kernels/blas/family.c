#include "family.h"

#include "blas/blas.h"
#include "dlk/gemm.h"

int dlk_blas_override(dlk_kernels *kernels, dlk_isa isa, dlb_error *err)
{
    if (isa == DLK_ISA_AUTO)
        isa = dlk_isa_best();
    int failure = dlk_gemm_load(isa, err);
    if (failure)
        return failure;
    kernels->family = DLK_FAMILY_BLAS;
    kernels->isa = isa;
    kernels->detail = dlk_gemm_detail();
    kernels->conv2d_forward = dlk_blas_conv2d_forward;
    kernels->conv2d_backward_data = dlk_blas_conv2d_backward_data;
    kernels->conv2d_backward_weights = dlk_blas_conv2d_backward_weights;
    kernels->dense_forward = dlk_blas_dense_forward;
    kernels->dense_backward_data = dlk_blas_dense_backward_data;
    kernels->dense_backward_weights = dlk_blas_dense_backward_weights;
    return 0;
}
