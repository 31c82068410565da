/*
 * A model amid its training: what `bench kernels` and `bench serve` time the
 * operations of.
 *
 * Life: init → ask → start → release. Release after an error, too.
 */
#ifndef DLB_CLI_BENCH_KERNELS_TRAINING_H
#define DLB_CLI_BENCH_KERNELS_TRAINING_H

#include "cli/bench_kernels.h"

typedef struct dlb_kernel_training {
    dlb_workload workload;
    dlb_model model;
    dlb_data data;
    dlb_loader *loader;
    int threads; /* of the team that will run operations; 0: one */
    dlb_kernel_plan plan;
} dlb_kernel_training;

/* Keys of a workload as text; NULL: not given. */
typedef struct dlb_kernel_request {
    const char *model, *data, *kernels, *isa, *batch;
    const char *layers; /* instead of a model (cli/bench_layers.h), on made-up data by default */
} dlb_kernel_request;

/*
 * Whether there is what is asked for, and which kernels it comes to: for who asks other processes,
 * so that it is refused once and clearly.
 */
int dlb_kernel_request_check(const dlb_kernel_request *request, dlk_kernels *kernels,
                             dlb_error *err);

void dlb_kernel_training_init(dlb_kernel_training *training);
void dlb_kernel_training_release(dlb_kernel_training *training);

/* Load the model, and settle what depends on it. */
int dlb_kernel_training_ask(dlb_kernel_training *training, const dlb_kernel_request *request,
                            dlb_error *err);

/* Train for so many steps, and make the rows of the plan. `alive`: see dlb_bench_stage_data. */
int dlb_kernel_training_start(dlb_kernel_training *training, long long steps, double alive,
                              dlb_bench_progress *progress, dlb_error *err);

#endif
