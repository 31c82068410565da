/*
 * The exchange of gradients between ranks, as part of a suite: `bench comm` in processes of its
 * own, of whose rows the sums are taken. There every way to sum takes its turn with the others and
 * with a copy of as many floats, which is what memory alone takes.
 */
#ifndef DLB_CLI_BENCH_SUITE_COMM_H
#define DLB_CLI_BENCH_SUITE_COMM_H

#include "base/error.h"
#include "stats/interval.h"

typedef struct dlb_suite_sum {
    char way[32];
    double bytes;
    dlb_interval time;  /* seconds of a sum */
    dlb_interval ratio; /* a copy's time by that, in the same round */
} dlb_suite_sum;

/* Valid when zeroed. */
typedef struct dlb_suite_comm {
    int ranks;
    size_t count, capacity;
    dlb_suite_sum *sums;
} dlb_suite_comm;

/* Measure with two ranks. `program` is this one. */
int dlb_suite_comm_run(dlb_suite_comm *comm, const char *program, dlb_error *err);
void dlb_suite_comm_release(dlb_suite_comm *comm);

/* The sums of a CSV file of `bench comm`. */
int dlb_suite_comm_read(dlb_suite_comm *comm, const char *path, dlb_error *err);

void dlb_suite_comm_print(const dlb_suite_comm *comm);

#endif
