/*
 * What counters.c needs of a counting library, as a table of functions: PAPI (papi.c), the kernel
 * itself (linux_perf.c), both as one (counter_library.c); and tests play machines with few, dead
 * or forbidden counters.
 *
 * Functions return 0, or a negative code and the reason in *err.
 */
#ifndef DLB_MEASURE_COUNTER_API_H
#define DLB_MEASURE_COUNTER_API_H

#include <stdbool.h>

#include "measure/counters.h"

/* An event as the library knows it. Only events of one component can share a set. */
typedef struct dlb_event_id {
    int code, component;
    const char *note; /* what to know of how it is counted; NULL if nothing */
} dlb_event_id;

typedef struct dlb_counter_api {
    /* DLB_BAD_INPUT: no such event. DLB_FAIL: it may exist, but cannot be counted here. */
    int (*find)(const char *name, dlb_event_id *id, dlb_error *err);

    /*
     * The same event, which is *id by now, counted in kernel mode, too: some software events, such
     * as context switches, happen nowhere else, and libraries count in user mode unless told
     * otherwise.
     */
    int (*find_with_kernel)(const char *name, dlb_event_id *id, dlb_error *err);

    /* Tell the library of the calling thread; before the thread's first open. */
    int (*enter_thread)(dlb_error *err);

    /* A set of events of the calling thread. Multiplexed, they take turns on the counters. */
    int (*open)(int component, bool multiplexed, int *set, dlb_error *err);
    int (*add)(int set, const dlb_event_id *id, dlb_error *err);
    int (*start)(int set, dlb_error *err);
    int (*stop)(int set, long long *values, dlb_error *err); /* in the order added, from 0 */
    void (*close)(int set);
} dlb_counter_api;

extern const dlb_counter_api dlb_papi, dlb_linux_perf;

/* PAPI, and the kernel in its place for the events that it knows while PAPI's component is off. */
extern const dlb_counter_api dlb_counter_library;

/* dlb_counters_create and dlb_counters_probe with another library. */
int dlb_counters_create_with(dlb_counters **counters, const dlb_counter_api *api,
                             const char *events, int threads, dlb_error *err);
int dlb_counters_probe_with(const dlb_counter_api *api, const char *event, const char **note,
                            dlb_error *err);

#endif
