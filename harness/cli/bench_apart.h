/*
 * Trainings at the same time that share nothing but the machine: what it allows as many cores to
 * gain, whoever uses them.
 */
#ifndef DLB_CLI_BENCH_APART_H
#define DLB_CLI_BENCH_APART_H

#include "cli/bench_training.h"

/*
 * `count` such trainings of one rank and one thread, each a process on a core of its own while
 * there are enough. Rates are sums, times means, memory is the most of one. They end when this
 * process does, or is asked to.
 */
int dlb_bench_train_apart(dlb_bench_trainings *trainings, const dlb_bench_training *training,
                          int count, dlb_bench_speed *speed, dlb_error *err);

#endif
