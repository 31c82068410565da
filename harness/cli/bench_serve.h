/*
 * What `dlbench bench serve` and those who ask it say to each other, a line each. Programs of
 * different commits understand each other as long as their greetings are the same.
 *
 *     server    dlbench-kernels 2
 *               case conv2d_1–relu_1 forward      everything that is served, numbered from 0
 *               reference sgemm 512³              and what it is timed beside, numbered on
 *               ready
 *     client    calibrate 0 0.001                 how many calls of number 0 take a millisecond?
 *     server    repeats 12
 *     client    run 0 12
 *     server    sample 1002334 0 0                ns of all calls, switches, whether it migrated
 *     client    describe 0
 *     server    about kernel 64 18432000 254016 lanes 1x5
 *                                                 its role, images, FLOPs and bytes of a call (nan:
 *                                                 not known), and the kernel
 *     client    verify 0
 *     server    error 2.1e-07 0.005               how far results are from those of `ref`, and how
 *                                                 far they may be; nan: there is nothing to compare
 *     client    count 0
 *     server    counted 849713                    instructions of a call, by hardware counters
 *           or  missing PAPI_TOT_INS: …           why there are none
 *
 * The calls that `run` times, and no others, are made by dlb_serve_calls. Its name is part of the
 * protocol: valgrind's callgrind counts from where that function is entered to where it is left.
 *
 * A request that is none ends the server with status 2, the end of its input with 0.
 */
#ifndef DLB_CLI_BENCH_SERVE_H
#define DLB_CLI_BENCH_SERVE_H

#include <stdint.h>

#define DLB_SERVE_GREETING  "dlbench-kernels 2"
#define DLB_SERVE_CASE      "case "
#define DLB_SERVE_REFERENCE "reference "
#define DLB_SERVE_READY     "ready"
#define DLB_SERVE_CALIBRATE "calibrate %lld %lg"
#define DLB_SERVE_REPEATS   "repeats %lld"
#define DLB_SERVE_RUN       "run %lld %lld"
#define DLB_SERVE_SAMPLE    "sample %lld %ld %d"
#define DLB_SERVE_DESCRIBE  "describe %lld"
#define DLB_SERVE_ABOUT     "about %15s %d %lg %lg " /* and the kernel */
#define DLB_SERVE_VERIFY    "verify %lld"
#define DLB_SERVE_ERROR     "error %lg %lg"
#define DLB_SERVE_COUNT     "count %lld"
#define DLB_SERVE_COUNTED   "counted %lld"
#define DLB_SERVE_MISSING   "missing "
#define DLB_SERVE_CALLS     "dlb_serve_calls"

typedef struct dlb_serve_sample {
    int64_t ns;    /* of all calls */
    long switches; /* how often somebody else was given the CPU meanwhile */
    int migrated;  /* 1: it went on on another CPU */
} dlb_serve_sample;

struct dlb_kernel_call; /* cli/bench_kernels.h */
void dlb_serve_calls(const struct dlb_kernel_call *call, long long repeats);

#endif
