/*
 * The parts of `bench kernels`: operations of a model's plan, each as a row of its table, and what
 * they are measured beside.
 */
#ifndef DLB_CLI_BENCH_KERNELS_H
#define DLB_CLI_BENCH_KERNELS_H

#include "cli/bench_call.h"
#include "cli/bench_kernels_product.h"
#include "cli/bench_kernels_stage.h"
#include "cli/bench_kernels_step.h"
#include "cli/bench_references.h"
#include "cli/bench_rounds.h"
#include "train/optimizer.h"

/* The kernel of rows that are nothing but a convolution's product. */
#define DLB_KERNEL_PRODUCT "sgemm"

/* What a row is of: all that is not NULL, or DLK_OP_COUNT, is part of it. */
typedef struct dlb_kernel_parts {
    dlk_operation operation; /* an entry of the table */
    const dlk_stage_forward *forward;
    bool lanes; /* which takes many images at once */
    const dlk_stage_backward *backward;
    bool whole; /* all kernels of a step */
} dlb_kernel_parts;

/* An operation, by the kernels that were chosen and by those of OpenBLAS. */
typedef struct dlb_kernel_row {
    char name[112];
    const char *kernel;
    dlb_kernel_parts parts;
    bool alternative; /* the kernel could compute it, but the plan has a better one */
    bool evaluation;  /* it is no part of a training step */
    dlk_cost cost;    /* of a call, as if dense */
    int images;       /* of a call; 1: a call is a step, whatever its images */
    double nonzero;   /* share of what it multiplies by that is not zero; NaN: it does not matter */
    dlb_kernel_call own, blas;
    dlb_bench_product *product; /* what `own` is, if it is one */
    double *own_s, *blas_s;     /* seconds of a call in each round, NaN if missing */
} dlb_kernel_row;

/* ---- The rows of a plan ---- */

/* A model in training; everything is alive from create to free. */
typedef struct dlb_kernel_plan {
    const dlb_model *model;
    const dlb_workload *workload;
    int batch;
    int threads;  /* of the team that runs operations; of several, stages are no rows by themselves
                   */
    double alive; /* see dlb_bench_stage_data */
    dlk_kernels kernels, blas_kernels;
    float *parameters;
    dlb_bench_step own, blas;
    dlb_optimizer *optimizer, *blas_optimizer;

    size_t row_count, row_capacity;
    dlb_kernel_row *rows;
    size_t stage_count, stage_capacity;
    dlb_bench_stage **stages; /* of the rows */
} dlb_kernel_plan;

/* The team that runs what follows, of as many threads as the plan has; NULL: the calling thread. */
void dlb_kernel_plan_use(dlb_kernel_plan *plan, dlk_team *team);

/* Make the steps of both sides, with the parameters that training begins with. */
int dlb_kernel_plan_init(dlb_kernel_plan *plan, dlb_error *err);
void dlb_kernel_plan_release(dlb_kernel_plan *plan);

/* One step of training, with the batch that dlb_bench_step_take has given to `own`. */
void dlb_kernel_plan_train(dlb_kernel_plan *plan);

/* Make the rows, when both sides have run a step with the same batch. */
void dlb_kernel_plan_make_rows(dlb_kernel_plan *plan);

/* ---- What came of it ---- */

typedef struct dlb_kernel_result {
    const dlb_kernel_plan *plan;
    int rounds;
    const dlb_references *references;
    const double *reference_s[DLB_REFERENCES]; /* seconds of a call in each round */
} dlb_kernel_result;

/* Medians of the rounds. */
double dlb_kernel_peak_gflops(const dlb_kernel_result *result);
double dlb_kernel_triad_gbs(const dlb_kernel_result *result);
double dlb_kernel_row_gflops(const dlb_kernel_result *result, const dlb_kernel_row *row);

void dlb_kernel_print(const dlb_kernel_result *result);

/* Whether rows could be appended to the file; and one for each measurement. */
int dlb_kernel_csv_check(const char *path, dlb_error *err);
int dlb_kernel_csv_save(const dlb_kernel_result *result, const char *path, dlb_error *err);

/* Draw all operations of a step below the roofs of this machine. */
int dlb_kernel_draw_roofline(const dlb_kernel_result *result, const char *path, dlb_error *err);

#endif
