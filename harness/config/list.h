/*
 * The value of a key as a list: docs/sweeps.md, "Values".
 *
 * A list of numbers has expressions and ranges, one of texts has words with expressions in braces.
 * Items that depend on nothing but constants can be told from those that need a point.
 */
#ifndef DLB_CONFIG_LIST_H
#define DLB_CONFIG_LIST_H

#include "config/expr.h"

enum dlb_list_kind { DLB_LIST_NUMBERS, DLB_LIST_TEXTS };

typedef struct dlb_list dlb_list;

/* NULL after a fault, such as an empty list. */
dlb_list *dlb_list_parse(const char *text, enum dlb_list_kind kind, const dlb_expr_scope *scope,
                         dlb_expr_fault *fault);
void dlb_list_free(dlb_list *list);

/* The slots that its items depend on, each once. */
size_t dlb_list_slots(const dlb_list *list, const int **slots);

/*
 * Evaluate all items, ranges included, given the values of the slots: calls `add` with each value
 * and the offset of its item in the text; a text is good during the call only. Stops when `add`
 * returns other than 0 and returns that; faults return DLB_BAD_INPUT. At most `limit` values; more
 * are a fault.
 */
int dlb_list_eval(const dlb_list *list, const dlb_scalar *values, size_t limit,
                  int (*add)(void *arg, const dlb_scalar *value, size_t offset), void *arg,
                  dlb_expr_fault *fault);

#endif
