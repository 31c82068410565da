/* The operations of the BLAS family, and what only its files share. */
#ifndef DLK_BLAS_H
#define DLK_BLAS_H

#include <stdbool.h>

#include "dlk/dispatch.h"

dlk_conv2d_forward_fn dlk_blas_conv2d_forward;
dlk_conv2d_backward_data_fn dlk_blas_conv2d_backward_data;
dlk_conv2d_backward_weights_fn dlk_blas_conv2d_backward_weights;
dlk_dense_forward_fn dlk_blas_dense_forward;
dlk_dense_backward_data_fn dlk_blas_dense_backward_data;
dlk_dense_backward_weights_fn dlk_blas_dense_backward_weights;

/* "OpenBLAS 0.3.21 as SkylakeX"; valid after dlk_gemm_load. */
const char *dlk_gemm_detail(void);

/*
 * Make the loaded OpenBLAS safe to call from several threads at once: each thread keeps a work
 * buffer of its own. False if this library cannot be made so.
 */
bool dlk_openblas_private_buffers(void *library);

#endif
