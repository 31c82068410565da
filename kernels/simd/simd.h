/*
 * What simd/ exports for each instruction set, under DLK_SIMD names. table.c gathers it; family.c
 * chooses among the tables.
 */
#ifndef DLK_SIMD_SIMD_H
#define DLK_SIMD_SIMD_H

#include "dlk/dispatch.h"
#include "simd/vec.h"

/* Forward of stages. */
extern const dlk_stage_forward DLK_SIMD(winograd);         /* winograd.c: 3×3, many channels */
extern const dlk_stage_forward DLK_SIMD(winograd_windows); /* 5×5, pooled */
extern const dlk_stage_forward DLK_SIMD(winograd_rows);    /* 5 wide, pooled */
extern const dlk_stage_forward DLK_SIMD(phases);           /* phases.c: pooled, few channels */
extern const dlk_stage_forward DLK_SIMD(first);            /* first.c: 3×3 of one channel */
extern const dlk_stage_forward DLK_SIMD(direct);           /* direct.c: whole vectors of channels */

/* Forward of many images: lanes.c. */
extern const dlk_lanes DLK_SIMD(lanes);
extern const dlk_stage_forward DLK_SIMD(lanes_squares); /* 5×5, pooled */
extern const dlk_stage_forward DLK_SIMD(lanes_rows);    /* 5 wide, pooled */

/* Backward of stages. */
extern const dlk_stage_backward DLK_SIMD(sparse);          /* sparse.c: after a pool */
extern const dlk_stage_backward DLK_SIMD(first_backward);  /* first.c: 3×3 of one channel */
extern const dlk_stage_backward DLK_SIMD(direct_backward); /* direct_backward.c: a first layer */

/* Operations of the table, on whole batches. */
dlk_pixels_to_floats_fn DLK_SIMD(pixels_to_floats);
dlk_dense_forward_fn DLK_SIMD(dense_forward);
dlk_dense_backward_data_fn DLK_SIMD(dense_backward_data);
dlk_dense_backward_weights_fn DLK_SIMD(dense_backward_weights);
dlk_relu_forward_fn DLK_SIMD(relu_forward);
dlk_relu_backward_fn DLK_SIMD(relu_backward);
dlk_dropout_forward_fn DLK_SIMD(dropout_forward);
dlk_dropout_backward_fn DLK_SIMD(dropout_backward);
dlk_dropout_keep_fn DLK_SIMD(dropout_keep);
dlk_softmax_xent_fn DLK_SIMD(softmax_xent);
dlk_sgd_fn DLK_SIMD(sgd);
dlk_adam_fn DLK_SIMD(adam);
dlk_adagrad_fn DLK_SIMD(adagrad);

#endif
