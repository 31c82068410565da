/* The input pipeline as calls that are timed: a batch made ready, and a data set read from disk. */
#ifndef DLB_CLI_BENCH_INPUT_H
#define DLB_CLI_BENCH_INPUT_H

#include "cli/bench_kernels_training.h"

typedef struct dlb_bench_input dlb_bench_input;

/* For the data of a training that has started, which must outlive it. */
int dlb_bench_input_create(dlb_bench_input **input, const dlb_kernel_training *training,
                           dlb_error *err);
void dlb_bench_input_free(dlb_bench_input *input);

/* The next shuffled batch as floats. */
dlb_kernel_call dlb_bench_input_batch(dlb_bench_input *input);
dlk_cost dlb_bench_input_batch_cost(const dlb_bench_input *input);

/* Whether images come from files; made-up ones do not. */
bool dlb_bench_input_has_files(const dlb_bench_input *input);

/* The images of the training again, from their files. */
dlb_kernel_call dlb_bench_input_load(dlb_bench_input *input);
dlk_cost dlb_bench_input_load_cost(const dlb_bench_input *input);
int dlb_bench_input_images(const dlb_bench_input *input);

/* 0, or why the files could not be read in one of those calls. */
int dlb_bench_input_status(const dlb_bench_input *input, dlb_error *err);

#endif
