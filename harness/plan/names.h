/*
 * The names that a study's expressions may use, each with a slot: the keys of a workload, what is
 * known of the host, env.NAME and param.NAME as they stand in the file, and what braces of a
 * command know of a run.
 */
#ifndef DLB_PLAN_NAMES_H
#define DLB_PLAN_NAMES_H

#include <stdbool.h>

#include "config/expr.h"
#include "config/keys.h"
#include "config/study.h"

/* Slots below DLB_KEY_COUNT are the keys; those from DLB_SLOT_OWN on the file's own names. */
enum {
    DLB_SLOT_CORES = DLB_KEY_COUNT,
    DLB_SLOT_HWTHREADS,
    DLB_SLOT_SOCKETS,
    DLB_SLOT_NUMA_NODES,
    DLB_SLOT_NODES,
    DLB_SLOT_HOSTNAME,
    DLB_SLOT_REPEAT,
    DLB_SLOT_RUN_DIR,
    DLB_SLOT_MODE, /* has no name in expressions */
    DLB_SLOT_OWN
};

typedef struct dlb_names {
    const char **own; /* sorted; the texts are the study's */
    size_t own_count, own_capacity;
} dlb_names;

/* Find all of a study's own names. A malformed one is refused. */
int dlb_names_collect(dlb_names *names, const dlb_study *study, dlb_error *err);
void dlb_names_release(dlb_names *names);

size_t dlb_names_count(const dlb_names *names); /* of slots */
const char *dlb_names_of(const dlb_names *names, int slot);
int dlb_names_find(const dlb_names *names, const char *name); /* the slot, or -1 */

bool dlb_names_is_env(const char *name);
bool dlb_names_is_param(const char *name);

/* The names that have a value in a grid. */
typedef struct dlb_scope {
    const dlb_names *names;
    const bool *has;  /* [slots] */
    const char *grid; /* its name; "" without one */
    int unset;        /* a slot that was asked for in vain, or -1 */
} dlb_scope;

/* `scope` must live as long as what is returned. */
dlb_expr_scope dlb_scope_init(dlb_scope *scope, const dlb_names *names, const bool *has,
                              const char *grid);

/* Refuse the text at a place for a fault found while it was parsed within the scope. */
int dlb_scope_refuse(const dlb_scope *scope, const dlb_place *place, const dlb_expr_fault *fault,
                     dlb_error *err);

#endif
