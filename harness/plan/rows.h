/*
 * The points of a plan while they are being added. Points that are there already are dropped, not
 * at once but some thousands at a time: looking for one waits for memory, for many at a time
 * hardly.
 */
#ifndef DLB_PLAN_ROWS_H
#define DLB_PLAN_ROWS_H

#include "plan/draft.h"
#include "plan/identity.h"

typedef struct dlb_rows {
    dlb_plan *plan;
    dlb_identity_set seen;
    size_t united; /* points of the plan that are known to be there once */
} dlb_rows;

/* Make room for so many further points. */
void dlb_rows_reserve(dlb_rows *rows, size_t count);

/* Add the draft as a point. More points than a plan may have are DLB_BAD_INPUT. */
int dlb_rows_add(dlb_rows *rows, const dlb_draft *draft, uint32_t grid, uint64_t id,
                 dlb_error *err);

/* Drop what was added twice. */
int dlb_rows_unite(dlb_rows *rows, dlb_error *err);

void dlb_rows_release(dlb_rows *rows);

#endif
