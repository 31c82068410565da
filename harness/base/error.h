/*
 * Errors as values.
 *
 * A function that can fail returns 0, or DLB_FAIL / a more telling negative code after it has
 * filled *err with one sentence fit to print: what, where, how to fix. On success *err is left
 * untouched. Nothing in the library prints or exits.
 *
 *     dlb_error err;
 *     if (dlb_thing_open(&thing, path, &err) < 0)
 *         return dlb_error_prefix(&err, "loading %s", path);
 */
#ifndef DLB_BASE_ERROR_H
#define DLB_BASE_ERROR_H

#include <stdarg.h>

enum {
    DLB_OK = 0,
    DLB_FAIL = -1,      /* the work failed: I/O, memory, a resource that is not there */
    DLB_BAD_INPUT = -2, /* the caller's input is wrong; the program exits with 2 */
    DLB_DIVERGED = -3,  /* the loss is not finite */
    DLB_STOPPED = -4,   /* a callback asked to stop */
};

typedef struct dlb_error {
    int code;
    char message[1024];
} dlb_error;

/* Fill *err and return `code`. A NULL err is allowed. */
int dlb_fail(dlb_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "context: " before the message already in *err; returns its code, DLB_FAIL for a NULL err. */
int dlb_error_prefix(dlb_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
