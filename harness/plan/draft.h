/*
 * A point under construction, and what of it changed: a step of the expansion sets the slots of one
 * axis, and all the rest stays.
 */
#ifndef DLB_PLAN_DRAFT_H
#define DLB_PLAN_DRAFT_H

#include "plan/plan_state.h"

enum { DLB_DRAFT_OVERRIDES = 4 };

typedef struct dlb_draft {
    dlb_plan *plan;
    const dlb_grid *grid;
    uint32_t *index;    /* [slots] into their values */
    dlb_scalar *values; /* [slots] */
    uint64_t sum;       /* of the marks of all slots and of the base */

    dlb_workload workload; /* as of the last dlb_draft_workload */
    uint64_t changed;      /* a bit a key since then */

    struct {
        int slot;
        uint32_t index;
    } overridden[DLB_DRAFT_OVERRIDES];
    int override_count;
} dlb_draft;

/*
 * Keys that the grid does not set have their default, those that a model may have a value for as
 * soon as the model is known. To be released after an error, too.
 */
int dlb_draft_init(dlb_draft *draft, dlb_plan *plan, const dlb_grid *grid, uint64_t base,
                   dlb_error *err);
void dlb_draft_release(dlb_draft *draft);

/* Set a slot to a value of its table, and with it what follows from it where it is not set. */
int dlb_draft_set(dlb_draft *draft, int slot, uint32_t index, dlb_error *err);

/* Set a slot for this point only. A value that its key does not allow is DLB_BAD_INPUT. */
int dlb_draft_override(dlb_draft *draft, int slot, const dlb_scalar *value, dlb_error *err);

/* Take all of that back. */
void dlb_draft_restore(dlb_draft *draft);

/* A slot's value in its canonical form. */
const char *dlb_draft_text(const dlb_draft *draft, int slot);

/* The point as a workload, of which the grid's keys are given. */
const dlb_workload *dlb_draft_workload(dlb_draft *draft);

#endif
