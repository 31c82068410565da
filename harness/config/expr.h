/*
 * Expressions over the parameters of a point: exact integers, reals, texts and truth values.
 *
 * The grammar and the functions are those of docs/sweeps.md, "Expressions". An expression is parsed
 * once, its names become slots of the caller, and it is evaluated for each point without any
 * allocation: some 10 ns a node.
 */
#ifndef DLB_CONFIG_EXPR_H
#define DLB_CONFIG_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

enum dlb_scalar_kind { DLB_SCALAR_INT, DLB_SCALAR_REAL, DLB_SCALAR_TEXT, DLB_SCALAR_BOOL };

typedef struct dlb_scalar {
    enum dlb_scalar_kind kind;
    union {
        int64_t integer;
        double real;
        const char *text; /* not owned */
        bool truth;
    };
} dlb_scalar;

/* Append a value as a sweep file has it: 12, 0.01, yes; a text as it is. */
void dlb_scalar_format(const dlb_scalar *value, dlb_str *out);

/* What the names of an expression stand for. */
typedef struct dlb_expr_scope {
    /* The slot of a name, or -1 if there is none of that name. */
    int (*slot)(void *arg, const char *name);
    /* A known name that is close to an unknown one, or NULL. */
    const char *(*closest)(void *arg, const char *name);
    void *arg;
} dlb_expr_scope;

/* Where and why a text is no expression, or has no value: an offset into it and a sentence. */
typedef struct dlb_expr_fault {
    size_t offset;
    char message[256];
} dlb_expr_fault;

/* Fill *fault and return DLB_BAD_INPUT. */
int dlb_expr_fail(dlb_expr_fault *fault, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

typedef struct dlb_expr dlb_expr;

/*
 * Parse the longest expression at the start of `text`, which ends before what cannot continue it;
 * *end is where, with blanks skipped. NULL after a fault. Nesting is limited to 64 levels, the size
 * to 1000 nodes.
 */
dlb_expr *dlb_expr_parse(const char *text, size_t *end, const dlb_expr_scope *scope,
                         dlb_expr_fault *fault);

/*
 * The same of a number, a name, a function or what stands in parentheses, perhaps negative, without
 * operators after it.
 */
dlb_expr *dlb_expr_parse_primary(const char *text, size_t *end, const dlb_expr_scope *scope,
                                 dlb_expr_fault *fault);
void dlb_expr_free(dlb_expr *expr);

/* The slots that it depends on, each once. */
size_t dlb_expr_slots(const dlb_expr *expr, const int **slots);

/*
 * Its value, given those of all slots. Overflow, division by zero or that leaves a remainder, a
 * real that is not finite, and operands of the wrong kind are faults; `and`, `or` and `if` do not
 * evaluate what they do not need.
 */
int dlb_expr_eval(const dlb_expr *expr, const dlb_scalar *values, dlb_scalar *result,
                  dlb_expr_fault *fault);

#endif
