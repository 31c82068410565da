/*
 * What the machine can do, as calls that are timed beside kernels: OpenBLAS's sgemm for what is
 * bound by arithmetic, a triad for what is bound by memory, and multiply-adds from registers as the
 * peak of all arithmetic. With a team there is a task for every thread.
 */
#ifndef DLB_CLI_BENCH_REFERENCES_H
#define DLB_CLI_BENCH_REFERENCES_H

#include "cli/bench_call.h"
#include "dlk/cost.h"
#include "dlk/dispatch.h"
#include "dlk/team.h"

typedef enum dlb_reference {
    DLB_REFERENCE_GEMM,
    DLB_REFERENCE_TRIAD,
    DLB_REFERENCE_PEAK,
    DLB_REFERENCES,
} dlb_reference;

typedef struct dlb_references_options {
    dlk_isa isa;         /* of the peak; sgemm's is OpenBLAS's own */
    int threads;         /* of the team that will run them */
    int side;            /* rows and columns of sgemm's matrices */
    size_t triad_floats; /* of an array that a call goes through; arrays are larger than caches, and
                            calls go on where the last one ended */
} dlb_references_options;

typedef struct dlb_references dlb_references;

/* OpenBLAS must have been loaded (dlk_gemm_load). */
dlb_references *dlb_references_create(const dlb_references_options *options);
void dlb_references_free(dlb_references *references);

/* "sgemm 512³", "triad", "FMA peak" */
const char *dlb_reference_name(const dlb_references *references, dlb_reference which);

/* Of a call, all threads together. The peak moves no bytes: NaN. */
dlk_cost dlb_reference_cost(const dlb_references *references, dlb_reference which);

/* On the team of the last dlb_references_use, or on the calling thread. */
dlb_kernel_call dlb_reference_call(dlb_references *references, dlb_reference which);
void dlb_references_use(dlb_references *references, dlk_team *team);

#endif
