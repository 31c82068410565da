/*
 * Times of several ways to do the same thing, measured side by side by all ranks together.
 *
 * In each round every way is measured once, so that what disturbs the machine for a while disturbs
 * all ways alike, and ratios within a round mean something. The order is another one in each round,
 * so that no way always finds in the caches what the same other one has left there. A measurement
 * begins with all ranks at one point; its time is that of the slowest.
 */
#ifndef DLB_CLI_BENCH_ROUNDS_H
#define DLB_CLI_BENCH_ROUNDS_H

#include "cli/bench_progress.h"
#include "comm/comm.h"
#include "stats/spread.h"

/* A way that cannot be had on this machine has no `run`; its times are missing. */
typedef struct dlb_bench_way {
    const char *name;
    void *self;
    void (*prepare)(void *self);              /* before each measurement, untimed */
    int (*run)(void *self, dlb_error *err);   /* what is timed; by all ranks */
    int (*check)(void *self, dlb_error *err); /* after prepare and one run: was it right? */
    double *times;                            /* [rounds]: seconds of one run, NaN if missing */
} dlb_bench_way;

typedef struct dlb_bench_rounds {
    dlb_comm *comm;
    const char *what; /* is measured, for progress */
    int rounds;
    int calls; /* runs in a measurement, for those that are too short to be timed alone */
    dlb_bench_progress *progress;
} dlb_bench_rounds;

/*
 * Collective. Run and check every way once, then measure; `times` is allocated for each way, on
 * every rank, and to be released whatever the result. DLB_STOPPED if any rank was asked to stop.
 */
int dlb_bench_rounds_run(const dlb_bench_rounds *rounds, dlb_bench_way *ways, int count,
                         dlb_error *err);
void dlb_bench_ways_release(dlb_bench_way *ways, int count);

/* Of the ratios time / other's time, each within a round. */
dlb_spread dlb_bench_times_as_long(const dlb_bench_way *way, const dlb_bench_way *other,
                                   int rounds);

#endif
