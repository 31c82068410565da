/* A range of numbers, given the values of its parts: for list.c. */
#ifndef DLB_CONFIG_LIST_RANGE_H
#define DLB_CONFIG_LIST_RANGE_H

#include "config/expr.h"

typedef struct dlb_range {
    dlb_scalar first, last, step;
    bool multiplies; /* *step instead of +step */
} dlb_range;

/*
 * Calls `add` with each value, as dlb_list_eval does, and adds their number to *count, which may
 * become `limit` at most. A sum of integers that would exceed it is refused before the first
 * value. All integers if the three are; else reals, each computed from the first one and rounded to
 * 14 digits, so that 0.1..0.5 +0.1 has 0.3. A
 * fault is at `offset`.
 */
int dlb_range_eval(const dlb_range *range, size_t limit, size_t *count,
                   int (*add)(void *arg, const dlb_scalar *value, size_t offset), void *arg,
                   size_t offset, dlb_expr_fault *fault);

#endif
