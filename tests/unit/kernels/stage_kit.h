/* A stage (dlk/stage.h) in double, as its definition reads, and checks of kernels against it. */
#ifndef STAGE_KIT_H
#define STAGE_KIT_H

#include "dlk/dispatch.h"

typedef struct stage_options {
    bool winner;             /* forward: ask for winners, as training does */
    bool x_planes, y_planes; /* forward: how x and y lie in memory */
    double drop;             /* forward: share of outputs that dropout drops; 0: no dropout */
    double drop_planes;      /* forward: share of planes that dropout2d drops; 0: no dropout2d */
    double alive;            /* backward: share of windows that a gradient passes */
    bool data;               /* backward: dx is wanted */
    uint32_t seed;
} stage_options;

/*
 * Run the kernel on random data and compare every output with the double computation. `bound` is
 * the largest error allowed, relative to the sum of absolute products that make up the element.
 * Tensors lie in memory of exactly their size and slack.
 */
void check_stage_forward(const dlk_stage_forward *kernel, const dlk_stage *s, stage_options o,
                         double bound);
void check_stage_backward(const dlk_stage_backward *kernel, const dlk_stage *s, stage_options o,
                          double bound);

/* Check the backward kernel of that name on every instruction set that this machine has. */
typedef void backward_check_fn(const dlk_stage_backward *kernel);
void backward_on_every_isa(const char *name, backward_check_fn *check);

/* Of a kernel that fits 3×3 layers of one channel: a NaN in dy reaches its channel, and no other.
 */
void check_backward_nan(const dlk_stage_backward *kernel);

/* For tests of their own: one image, all arrays allocated with slack, random within ±1. */
typedef struct stage_data {
    float *x, *weights, *bias, *y, *dy, *dx, *dweights, *dbias;
    uint8_t *winner, *keep, *keep_planes;
    float scale;
} stage_data;

stage_data make_stage_data(const dlk_stage *s, stage_options o);
void free_stage_data(stage_data *d);

/* Prepare and run on the data, with winner, keep and keep_planes as the options say. A kernel of
 * many images has the same one in all lanes; no single output may be dropped there. */
void run_stage_forward(const dlk_stage_forward *kernel, const dlk_stage *s, stage_data *d,
                       stage_options o);
/* Prepare, run and finish: dx, dweights and dbias from x, y, dy and winner. */
void run_stage_backward(const dlk_stage_backward *kernel, const dlk_stage *s, stage_data *d,
                        stage_options o);

/* The kernel of that name in the simd family for an instruction set; NULL: not on this machine. */
const dlk_stage_forward *find_stage_forward(const char *name, dlk_isa isa);
const dlk_stage_backward *find_stage_backward(const char *name, dlk_isa isa);

#endif
