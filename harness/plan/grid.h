/*
 * A [grid] with what it takes from [workload]: parsed, zipped, put in order, not yet expanded.
 *
 * An axis is a key, or keys that are zipped. Axes stand in an order in which each depends on
 * earlier ones only; within that, in the order of the file. Conditions are asked as soon as the
 * axes that they need are set, so that they can keep a later axis from values that it could not be
 * computed for.
 */
#ifndef DLB_PLAN_GRID_H
#define DLB_PLAN_GRID_H

#include "config/list.h"
#include "config/study.h"
#include "plan/names.h"

typedef struct dlb_axis_key {
    int slot;
    const dlb_ini_entry *entry;
    bool shared; /* stands in [workload] */
    int zip;     /* the group that it is in; -1: none */
    dlb_list *list;
    uint32_t *choices; /* its values, as indices, when they have been computed */
    size_t choice_count, choice_capacity;
} dlb_axis_key;

typedef struct dlb_axis {
    dlb_axis_key *keys; /* a part of the grid's */
    size_t key_count;
    bool fixed;              /* depends on no other axis: computed once */
    size_t length, position; /* while it is being expanded */
} dlb_axis;

typedef struct dlb_condition {
    const dlb_ini_entry *entry;
    dlb_expr *expr;
    size_t depth; /* the number of axes that it needs */
} dlb_condition;

typedef struct dlb_grid {
    const char *name;
    dlb_place place;
    int repeats; /* of its points; 0: the study's */
    dlb_axis_key *keys;
    size_t key_count, key_capacity;
    dlb_axis *axes;
    size_t axis_count;
    dlb_condition *conditions; /* by depth */
    size_t condition_count, condition_capacity;
    bool *set;      /* [slots] that the file sets */
    bool *has;      /* [slots] that have a value */
    uint64_t given; /* a bit a key: set by the file or by a mode */
} dlb_grid;

/*
 * Make *grid of its section and that of the workload, each of which may be NULL. To be released
 * after an error, too.
 */
int dlb_grid_init(dlb_grid *grid, const dlb_study *study, const dlb_names *names,
                  const dlb_ini_section *workload, const dlb_ini_section *section, dlb_error *err);
void dlb_grid_release(dlb_grid *grid);

/* Order the axes; a part of dlb_grid_init. */
int dlb_grid_order(dlb_grid *grid, const dlb_study *study, const dlb_names *names, dlb_error *err);

/* The place of a slot's value, or of the grid where it does not set the slot. */
const dlb_place *dlb_grid_place(const dlb_grid *grid, int slot);

#endif
