/*
 * The values that one parameter takes, each once: a point holds an index into this table.
 *
 * Index 0 is the missing value. A value is found by what an expression yielded (1 and 1.0 of a
 * learning rate are the same) and kept in its canonical form, as dlb_workload_get gives it.
 */
#ifndef DLB_PLAN_VALUES_H
#define DLB_PLAN_VALUES_H

#include "config/expr.h"
#include "config/workload.h"

typedef struct dlb_values_item {
    dlb_scalar scalar; /* of the key's type */
    char *text;        /* canonical; "" of the missing one */
    uint64_t mark;     /* what it adds to the identity of a point: plan/identity.h */
} dlb_values_item;

typedef struct dlb_values {
    int slot;
    const char *name;
    char *preset; /* the default, canonical; NULL: there is none */
    dlb_values_item *items;
    size_t count, capacity;
    struct dlb_values_entry *map; /* open addressing; a power of two */
    size_t map_size, map_used;
} dlb_values;

enum { DLB_VALUE_MISSING = 0 };

/* `defaults` is a workload of which nothing has been set. The name must outlive the table. */
void dlb_values_init(dlb_values *values, int slot, const char *name, const dlb_workload *defaults);
void dlb_values_release(dlb_values *values);

/*
 * The index of a value, added if it is new. `checker` is any workload, used to tell what a key
 * allows. A value that the parameter cannot have is DLB_BAD_INPUT.
 */
int dlb_values_intern(dlb_values *values, const dlb_scalar *raw, dlb_workload *checker,
                      uint32_t *index, dlb_error *err);

/* The same of a text that is known to be a value. */
uint32_t dlb_values_intern_text(dlb_values *values, const char *text, dlb_workload *checker);

#endif
