/* The measurements of `bench comm`, made by all ranks together; rank 0 prints a table of each. */
#ifndef DLB_CLI_BENCH_COMM_H
#define DLB_CLI_BENCH_COMM_H

#include "cli/bench_ways.h"
#include "train/notes.h"

enum { DLB_FLOATS_A_KB = 1024 / sizeof(float) };

typedef struct dlb_comm_bench {
    dlb_comm *comm;
    dlb_workload workload; /* buckets, pieces and radix by default, and adam */
    dlk_kernels kernels;
    int rounds;
    size_t largest;  /* bytes */
    const char *csv; /* a row a measurement; NULL: none */
    bool speaks;     /* the rank that prints and writes */
    dlb_bench_progress progress;
    dlb_notes notes; /* on what cannot be had here */
} dlb_comm_bench;

/* Collective. The sum of all ranks' floats on every rank, from 1 KB to `largest`. */
int dlb_comm_bench_sizes(dlb_comm_bench *bench, dlb_error *err);

/* Collective. Reduce, update and share the parameters of keras_cnn. */
int dlb_comm_bench_step(dlb_comm_bench *bench, dlb_error *err);

/* Collective. The same for choices of comm_bucket_kb and comm_piece_kb. */
int dlb_comm_bench_choices(dlb_comm_bench *bench, dlb_error *err);

/* ---- What the three are made of ---- */

#define DLB_COMM_BENCH_MODEL "keras_cnn"

/* Sum as many gradients as the model has parameters, and update those. */
int dlb_comm_bench_task(const dlb_comm_bench *bench, dlb_bench_task *task, dlb_error *err);

/* Collective. *exchange is NULL, and the reason noted, if this machine does not have it. */
int dlb_comm_bench_open(dlb_comm_bench *bench, const dlb_bench_task *task, dlb_exchange_kind kind,
                        long long bucket_kb, dlb_bench_exchange **exchange, dlb_error *err);

/* Collective. Measure `count` ways; each call of theirs is repeated `calls` times. */
int dlb_comm_bench_measure(dlb_comm_bench *bench, const char *what, int calls, dlb_bench_way *ways,
                           int count, dlb_error *err);

/* Of all rounds of a way. */
dlb_spread dlb_comm_bench_spread(const dlb_comm_bench *bench, const dlb_bench_way *way);

/* On rank 0: what the table that follows shows. */
void dlb_comm_bench_title(dlb_comm_bench *bench, const char *title);

/* ---- Raw measurements ---- */

/* Which measurement a row is of. */
typedef struct dlb_comm_row {
    const char *part; /* "sum", "step" or "choice" */
    size_t bytes;
    long long bucket_kb, piece_kb; /* 0: has none */
    int calls;
} dlb_comm_row;

/* On rank 0: whether rows could be appended to the file of `csv`. */
int dlb_comm_bench_check_csv(const dlb_comm_bench *bench, dlb_error *err);

/* Collective. Append a row a round of the way, where a file is wanted. */
int dlb_comm_bench_save(const dlb_comm_bench *bench, const dlb_comm_row *row,
                        const dlb_bench_way *way, dlb_error *err);

#endif
