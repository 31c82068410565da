/* The files that a command is asked to write. */
#ifndef DLB_CLI_OUTPUTS_H
#define DLB_CLI_OUTPUTS_H

#include <stddef.h>

#include "base/error.h"

typedef struct dlb_output {
    const char *flag, *path; /* path NULL: not asked for */
} dlb_output;

/* Refuse names that are empty, and two that lead to one file: one would replace the other. */
int dlb_outputs_check(const dlb_output *outputs, size_t count, dlb_error *err);

#endif
