/*
 * Where each thread really ran, from samples that the threads take themselves.
 *
 * Each thread has its own memory: dlb_placement_sample may be called by different threads at the
 * same time, each with its own number. The other functions are for after the threads are done.
 */
#ifndef DLB_MEASURE_PLACEMENT_H
#define DLB_MEASURE_PLACEMENT_H

#include <stdbool.h>

#include "base/str.h"
#include "measure/cpus.h"

typedef struct dlb_placement dlb_placement;

dlb_placement *dlb_placement_create(int threads);
void dlb_placement_free(dlb_placement *p);

/* Note the CPU and NUMA node that the calling thread, number `thread`, runs on now: ~50 ns. */
void dlb_placement_sample(dlb_placement *p, int thread);

/* What sample does, with a place that the caller knows. */
void dlb_placement_note(dlb_placement *p, int thread, int cpu, int node);

/*
 * Append where a thread was, most visited first: "0: cpu 1 (node 0) 100 %", or
 * "0: cpu 1 (node 0) 75 %, cpu 0 (node 0) 25 %", or "0: never sampled".
 */
void dlb_placement_describe(const dlb_placement *p, int thread, dlb_str *text);

/* All CPUs that any thread was seen on. */
dlb_cpus dlb_placement_cpus(const dlb_placement *p);

/*
 * The CPU where a thread spent nine tenths of its samples, or -1. A mere majority is no home: two
 * threads that keep changing places are each on CPU 0 half of the time, and never together.
 */
int dlb_placement_home(const dlb_placement *p, int thread);

/* True if two threads have the same home; *first < *second are then such a pair. */
bool dlb_placement_shared(const dlb_placement *p, int *first, int *second);

#endif
