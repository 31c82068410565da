/*
 * Patterns that find a value in a line: POSIX extended regular expressions with a group around it.
 * A pattern is compiled in one way wherever it comes from, so what is accepted is what runs.
 */
#ifndef DLB_BASE_PATTERN_H
#define DLB_BASE_PATTERN_H

#include <regex.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/* regfree() it; after a failure, which is DLB_BAD_INPUT, there is nothing to free. */
int dlb_pattern_compile(regex_t *regex, const char *pattern, dlb_error *err);

/* Whether the pattern can be compiled. */
int dlb_pattern_check(const char *pattern, dlb_error *err);

/* Whether the line matches; then *value becomes what its first group has, "" if that took no part.
 */
bool dlb_pattern_find(const regex_t *regex, const char *line, dlb_str *value);

#endif
