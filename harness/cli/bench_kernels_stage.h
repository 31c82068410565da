/*
 * A fused stage on a batch, on one thread, as a trunk runs it: image by image or many images at
 * once, its input in cache, what is kept for backward in memory.
 */
#ifndef DLB_CLI_BENCH_KERNELS_STAGE_H
#define DLB_CLI_BENCH_KERNELS_STAGE_H

#include "dlk/cost.h"
#include "graph/fusion.h"
#include "graph/graph.h"

/* What a stage finds in training. */
typedef struct dlb_bench_stage_data {
    int images;
    const float *weights, *bias;
    const float *x;       /* [images][inputs] */
    const float *dy;      /* [images][outputs] */
    const dlb_step *step; /* whose dropout it is */
    double alive; /* share of the outputs that pass a gradient on; NaN: as forward finds them */
} dlb_bench_stage_data;

typedef struct dlb_bench_stage dlb_bench_stage;

/* What is pointed to in `data`, and the model and kernels, must outlive it. */
dlb_bench_stage *dlb_bench_stage_create(const dlb_stage *plan, const dlb_model *model,
                                        const dlk_kernels *kernels,
                                        const dlb_bench_stage_data *data);
void dlb_bench_stage_free(dlb_bench_stage *stage);

/* One batch: weights are prepared, masks are drawn already. */
void dlb_bench_stage_forward(void *stage);

/* One batch, where there is a kernel of many images; in training also out of lanes and, if the
 * stage is a model's first, into them. */
void dlb_bench_stage_forward_lanes(void *stage);
void dlb_bench_stage_evaluate(void *stage);

/* One batch, up to the gradients of weights and bias. */
void dlb_bench_stage_backward(void *stage);

/* Draw the masks of the dropout for one batch. */
void dlb_bench_stage_keep(void *stage);

/* Share of outputs that pass a gradient on, in backward. */
double dlb_bench_stage_alive(const dlb_bench_stage *stage);

/* What a batch costs: the convolution's FLOPs, and the bytes that enter and leave the stage. */
dlk_cost dlb_bench_stage_forward_cost(const dlb_stage *plan, int images);
dlk_cost dlb_bench_stage_evaluation_cost(const dlb_stage *plan, int images);
dlk_cost dlb_bench_stage_backward_cost(const dlb_stage *plan, int images);

#endif
