/*
 * Comma-separated values, RFC 4180: fields with a comma, a quote or a line break are quoted, and
 * quotes are doubled. Lines end with "\n".
 */
#ifndef DLB_BASE_CSV_H
#define DLB_BASE_CSV_H

#include "base/error.h"
#include "base/str.h"

/* Append the field of a column to a line under construction, after a comma for all but column 0. */
void dlb_csv_add(dlb_str *line, size_t column, const char *field);

/*
 * Append `row` to the CSV file at `path` in a single write, so that a reader never sees half a
 * row. A new or empty file gets `header` first. A file that already has another header is refused
 * and left untouched; a last line that lacks its newline gets it. Both texts are without the
 * closing newline.
 */
int dlb_csv_append(const char *path, const char *header, const char *row, dlb_error *err);

/* Whether such a row could be appended; the file is not created or changed. */
int dlb_csv_check(const char *path, const char *header, dlb_error *err);

#endif
