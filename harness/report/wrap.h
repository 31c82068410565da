/* Where lines of text are broken, in a terminal and in a caption. */
#ifndef DLB_REPORT_WRAP_H
#define DLB_REPORT_WRAP_H

#include <stddef.h>

/* Columns that UTF-8 takes, every character being one wide. */
int dlb_wrap_columns(const char *text);

/*
 * Bytes of `text` that go into a line of so many columns: up to the last blank that fits or, if a
 * word is longer, up to its end. A number stays with its sign, its unit or what it counts: "0.2 %",
 * "2 × 1", "n = 3", "5 runs".
 */
size_t dlb_wrap_line(const char *text, int columns);

#endif
