/*
 * A scope of expressions in which the slot of a name is its place in a list that ends with NULL.
 *
 *     static const char *const names[] = {"cores", "ranks", NULL};
 *     static const dlb_expr_scope scope = NAMED_SCOPE(names);
 */
#ifndef DLB_TESTS_SUPPORT_NAMED_SCOPE_H
#define DLB_TESTS_SUPPORT_NAMED_SCOPE_H

#include "config/expr.h"

#define NAMED_SCOPE(names)                                                                         \
    {                                                                                              \
        named_scope_slot, named_scope_closest, (void *)(names)                                     \
    }

static inline int named_scope_slot(void *arg, const char *name)
{
    const char *const *names = arg;
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static inline const char *named_scope_closest(void *arg, const char *name)
{
    const char *const *names = arg;
    size_t count = 0;
    while (names[count])
        count++;
    return dlb_closest(name, names, count);
}

#endif
