/*
 * Figures and tables from the CSV files of a study, and from nothing else.
 *
 * DIR is a study's folder, or a runs.csv copied from elsewhere: what stands beside it (epochs.csv,
 * ranks.csv, host.json) is used where it is there. A run that is not ok has no time in any figure;
 * a diverged one is marked in figures of accuracy. Times are medians over repeats with 95 %
 * intervals; speed-ups are of pairs within a block.
 */
#ifndef DLB_REPORT_REPORT_H
#define DLB_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

typedef struct dlb_report dlb_report;

/* Read and reduce. What is no runs.csv is DLB_BAD_INPUT. */
int dlb_report_read(dlb_report **report, const char *path, dlb_error *err);
void dlb_report_free(dlb_report *report);

/* Append the summary for a terminal of `width` columns: counts, points, best setting, causes. */
void dlb_report_summary(const dlb_report *report, int width, bool colour, dlb_str *out);

/* How figures are made. */
typedef struct dlb_figure_options {
    const char *folder; /* that gets data, scripts and pictures; created */
    bool among_others;  /* figures that are in the folder already stay there */
    bool terminal;      /* no files: what is drawn is text */
    int width;          /* of the terminal, in columns */
    bool colour;        /* it obeys ANSI colours */
    dlb_str *drawn;     /* gets the text or, of files, the formats: "SVG, PNG and PDF"; of files it
                           may be NULL */
} dlb_figure_options;

/*
 * Make every figure that the data has something to say for. *count: how many. Without gnuplot the
 * data and scripts are written and DLB_FAIL says which package is missing.
 */
int dlb_report_figures(const dlb_report *report, const dlb_figure_options *options, size_t *count,
                       dlb_error *err);

/* Append two studies side by side: points matched, ratios with intervals, provenance that differs.
 */
int dlb_report_compare(const char *a, const char *b, int width, bool colour, dlb_str *out,
                       dlb_error *err);

#endif
