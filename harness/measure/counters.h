/*
 * Event counters: PAPI's, counted per thread and summed over the threads. Where PAPI's perf_event
 * component is off, as with a processor that it does not know, the kernel is asked for the
 * software and generic hardware events among them.
 *
 * Every event is probed before it is believed: added, started, made to move by known work and
 * stopped. One that fails any of this or stays at 0 is missing, with a reason, and never 0. PAPI
 * lists presets as available in virtual machines where adding them fails, and others start there
 * but do not count.
 *
 *     create → on each thread: start, stop, start, stop, … → value, why → free
 */
#ifndef DLB_MEASURE_COUNTERS_H
#define DLB_MEASURE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "measure/value.h"

typedef struct dlb_counters dlb_counters;

/*
 * Prepare to count `events` (PAPI presets or native events, separated by blanks; "" for none) on
 * threads 0 … threads-1. An event that PAPI does not know, or one named twice, is DLB_BAD_INPUT;
 * one that cannot be counted here is missing and no error. Takes some milliseconds an event.
 */
int dlb_counters_create(dlb_counters **counters, const char *events, int threads, dlb_error *err);
void dlb_counters_free(dlb_counters *c);

/*
 * Begin and end counting on the calling thread, which is number `thread`. Windows add up. May be
 * called by different threads at the same time; a thread keeps its number.
 */
void dlb_counters_start(dlb_counters *c, int thread);
void dlb_counters_stop(dlb_counters *c, int thread);

/* The events in the order they were named. All that follows is for after the last stop. */
size_t dlb_counters_count(const dlb_counters *c);
const char *dlb_counters_name(const dlb_counters *c, size_t event);

/* Sum over the threads; false if the event is missing, and *total is then untouched. */
bool dlb_counters_value(const dlb_counters *c, size_t event, long long *total);

/*
 * Why the event is missing or, if it is not, what to know of its value: a sentence that names the
 * event, "" if there is nothing to say.
 */
const char *dlb_counters_why(const dlb_counters *c, size_t event);

/* Instructions a cycle, from the totals of PAPI_TOT_INS and PAPI_TOT_CYC; NULL: not counted. */
dlb_value dlb_ipc(const long long *instructions, const long long *cycles);

/*
 * 0 if `event` counts here, and in *note who counts it if that is not PAPI (else ""); DLB_BAD_INPUT
 * (unknown) or DLB_FAIL and the reason if it does not.
 */
int dlb_counters_probe(const char *event, const char **note, dlb_error *err);

/* The library that counts: "PAPI 7.0.0"; "" if it does not start. */
const char *dlb_counters_library(void);

/* Why its component for the events of CPU and kernel, perf_event, is off; "" if it is not. */
const char *dlb_counters_library_lacks(void);

#endif
