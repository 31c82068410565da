/*
 * Which events will be counted, and in which sets: the part of counting that happens once, before
 * any thread counts. A plan is read-only after dlb_counter_plan_init.
 */
#ifndef DLB_MEASURE_COUNTER_PLAN_H
#define DLB_MEASURE_COUNTER_PLAN_H

#include "measure/counter_api.h"

enum { DLB_EVENT_NAME = 128, DLB_MAX_EVENTS = 128, DLB_MAX_EVENT_SETS = 16 };

typedef struct dlb_planned_event {
    char name[DLB_EVENT_NAME];
    dlb_event_id id;
    int set;   /* index of its set, or -1: missing */
    char *why; /* the reason, or notes on how it is counted; "" if nothing is to be said */
} dlb_planned_event;

/* The events of one component; all sets run side by side. */
typedef struct dlb_planned_set {
    int component;
    bool multiplexed;
} dlb_planned_set;

typedef struct dlb_counter_plan {
    const dlb_counter_api *api;
    dlb_planned_event *events;
    size_t count;
    dlb_planned_set sets[DLB_MAX_EVENT_SETS];
    int set_count;
} dlb_counter_plan;

/* Parse, find, probe and group `names`. Fails with DLB_BAD_INPUT only. */
int dlb_counter_plan_init(dlb_counter_plan *plan, const dlb_counter_api *api, const char *names,
                          dlb_error *err);
void dlb_counter_plan_release(dlb_counter_plan *plan);

/* Open planned set `s` on the calling thread, with its events in the plan's order. */
int dlb_counter_plan_open(const dlb_counter_plan *plan, int s, int *set, dlb_error *err);

#endif
