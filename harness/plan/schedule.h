/*
 * Which run comes next.
 *
 * Order blocks: block k holds repeat k of every point, in an order of its own that follows from the
 * seed, so that what drifts on the machine hits all points alike. Order sequential: all repeats of
 * a point, then the next. A point that has `min` repeats gets further ones, in further blocks,
 * until the interval of its median is as narrow as the precision, if one is asked for, or `max` or
 * the budget is reached. It never looks at a p-value.
 *
 * Runs that are already recorded are told with dlb_schedule_done before the first
 * dlb_schedule_next: they are not run again, and the rest keeps the order that it would have had.
 */
#ifndef DLB_PLAN_SCHEDULE_H
#define DLB_PLAN_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>

#include "config/study.h"

typedef struct dlb_schedule dlb_schedule;

dlb_schedule *dlb_schedule_create(size_t points, const dlb_repeats *repeats, enum dlb_order order,
                                  uint64_t seed);
void dlb_schedule_free(dlb_schedule *schedule);

/*
 * Have a point run exactly so often, whatever holds for the others. Before any run is told or asked
 * for.
 */
void dlb_schedule_set_repeats(dlb_schedule *schedule, size_t point, int repeats);

/* Repeat 1.. of a point has ended, now or in an earlier sweep; `seconds` is NaN without a time. */
void dlb_schedule_done(dlb_schedule *schedule, size_t point, int repeat, double seconds);

/*
 * The next run, or false when there is none. `elapsed_s` of this sweep is held against the budget.
 * Every run handed out is to be told as done before the next call.
 */
bool dlb_schedule_next(dlb_schedule *schedule, double elapsed_s, size_t *point, int *repeat);

/* Runs that are certain to come; up to `max` there may be more. */
size_t dlb_schedule_left(const dlb_schedule *schedule);

#endif
