/*
 * Which run comes next.
 *
 * Order blocks: block k holds repeat k of every point, in an order of its own that follows from the
 * seed, so that what drifts on the machine hits all points alike. Order sequential: all repeats of
 * a point, then the next. A point that has `min` repeats gets further ones, in further blocks,
 * until the interval of its median is as narrow as the precision, if one is asked for, or `max` or
 * the budget is reached. It never looks at a p-value.
 *
 * Runs that are already recorded are told with dlb_agenda_done before the first
 * dlb_agenda_next: they are not run again, and the rest keeps the order that it would have had.
 */
#ifndef DLB_PLAN_AGENDA_H
#define DLB_PLAN_AGENDA_H

#include <stdbool.h>
#include <stddef.h>

#include "config/study.h"

typedef struct dlb_agenda dlb_agenda;

dlb_agenda *dlb_agenda_create(size_t points, const dlb_repeats *repeats, enum dlb_order order,
                              uint64_t seed);
void dlb_agenda_free(dlb_agenda *agenda);

/*
 * Have a point run exactly so often, whatever holds for the others. Before any run is told or asked
 * for.
 */
void dlb_agenda_set_repeats(dlb_agenda *agenda, size_t point, int repeats);

/* Repeat 1.. of a point has ended, now or in an earlier sweep; `seconds` is NaN without a time. */
void dlb_agenda_done(dlb_agenda *agenda, size_t point, int repeat, double seconds);

/*
 * The next run, or false when there is none. `elapsed_s` of this sweep is held against the budget.
 * Every run handed out is to be told as done before the next call.
 */
bool dlb_agenda_next(dlb_agenda *agenda, double elapsed_s, size_t *point, int *repeat);

/* Points whose times are not yet as precise as asked for; 0 where no precision is. */
size_t dlb_agenda_vague(const dlb_agenda *agenda);

/* Runs that are certain to come; up to `max` there may be more. */
size_t dlb_agenda_left(const dlb_agenda *agenda);

#endif
