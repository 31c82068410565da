/*
 * What `dlbench bench serve` and those who ask it say to each other, a line each. Programs of
 * different commits understand each other as long as their greetings are the same.
 *
 *     server    dlbench-kernels 2
 *               case conv2d_1–relu_1 forward      every operation that is served, numbered from 0
 *               ready
 *     client    calibrate 0 0.001                 how many calls of operation 0 take a millisecond?
 *     server    repeats 12
 *     client    run 0 12
 *     server    sample 1002334 0 0                ns of all calls, switches, whether it migrated
 *
 * A request that is none ends the server with status 2, the end of its input with 0.
 */
#ifndef DLB_CLI_BENCH_SERVE_H
#define DLB_CLI_BENCH_SERVE_H

#include <stdint.h>

#define DLB_SERVE_GREETING  "dlbench-kernels 2"
#define DLB_SERVE_CASE      "case "
#define DLB_SERVE_READY     "ready"
#define DLB_SERVE_CALIBRATE "calibrate %lld %lg"
#define DLB_SERVE_REPEATS   "repeats %lld"
#define DLB_SERVE_RUN       "run %lld %lld"
#define DLB_SERVE_SAMPLE    "sample %lld %ld %d"

typedef struct dlb_serve_sample {
    int64_t ns;    /* of all calls */
    long switches; /* how often somebody else was given the CPU meanwhile */
    int migrated;  /* 1: it went on on another CPU */
} dlb_serve_sample;

#endif
