/*
 * Numbers that a foreign program leaves behind: in its output, in JSON or in CSV files.
 *
 * Each function finds one finite number, or says why not in a sentence fit for the reason of a
 * failed run: DLB_FAIL where the run did not yield it, DLB_BAD_INPUT where the request is wrong.
 * A program that knows of a number that there is none says so with a null in JSON: that is NaN.
 */
#ifndef DLB_RECORD_METRICS_H
#define DLB_RECORD_METRICS_H

#include "base/error.h"
#include "base/str.h"

/*
 * What a pattern (base/pattern.h) finds in the last line of the file that matches. Files of any
 * size and any bytes; lines end with a line feed or, as those of a progress bar do, with a carriage
 * return, and are looked at up to 64 KB.
 */
int dlb_metric_regex(const char *path, const char *pattern, double *value, dlb_error *err);

/* A number in a JSON file: keys and, from 0, places in arrays, separated by dots; negative: from
 * the end. */
int dlb_metric_json(const char *path, const char *at, double *value, dlb_error *err);

/* The last row's value in that column of a CSV file. */
int dlb_metric_csv(const char *path, const char *column, double *value, dlb_error *err);

/*
 * Append the last lines of a file, at most `lines` and `bytes`, "\n" between, without escape
 * sequences and control bytes. Nothing if the file is not there.
 */
void dlb_log_tail(const char *path, int lines, size_t bytes, dlb_str *out);

#endif
