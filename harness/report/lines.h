/*
 * A figure of lines over an axis, in one panel or two: rows are added in any order, then written.
 * However many rows there are, the data stays small: long lines and many dots are thinned evenly.
 */
#ifndef DLB_REPORT_LINES_H
#define DLB_REPORT_LINES_H

#include "report/caption.h"
#include "report/figure.h"
#include "stats/interval.h"

enum dlb_axis_kind {
    DLB_AXIS_LINEAR,
    DLB_AXIS_FROM_ZERO,
    DLB_AXIS_LOG2,      /* of y: if the values span a factor of 4, else as FROM_ZERO */
    DLB_AXIS_LOG10,     /* y only */
    DLB_AXIS_PERCENT,   /* accuracies in percent: 0 to 100, or what of it is of interest */
    DLB_AXIS_CATEGORIES /* x only: 1, 2, ... with labels */
};

enum { DLB_MAX_PANELS = 2 };

typedef struct dlb_line_row {
    size_t panel, line;
    double x;
    dlb_interval y;
    bool hollow; /* oversubscribed */
    size_t lost; /* runs without a value, because they diverged or never came to it */
} dlb_line_row;

typedef struct dlb_line_dot {
    size_t panel, line;
    double x, y;
} dlb_line_dot;

typedef struct dlb_lines {
    size_t panels, count;
    enum dlb_axis_kind x, y[DLB_MAX_PANELS];
    double ideal; /* 0: none; at x ideal * x, or the same everywhere if `level` */
    bool level;
    bool single; /* places that have no order: points without a line between them */
    bool apart;  /* move lines a little sideways, that intervals do not cover each other */
    char *titles[DLB_FIGURE_MAX_LINES];
    dlb_line_row *rows;
    size_t row_count, row_capacity;
    dlb_line_dot *dots;
    size_t dot_count, dot_capacity;
} dlb_lines;

/* A new line; takes the title. Returns its number, from 0. */
size_t dlb_lines_add(dlb_lines *lines, char *title);
void dlb_lines_row(dlb_lines *lines, dlb_line_row row);
void dlb_lines_dots(dlb_lines *lines, size_t panel, size_t line, double x, double scale,
                    const double *values, size_t count);

/* Whether some line has values at two places at least. */
bool dlb_lines_tell(const dlb_lines *lines);

/* What captions say of the rows. */
dlb_drawn dlb_lines_drawn(const dlb_lines *lines);

/* Whether accuracies are drawn by the logarithm of the error, as a caption must say. */
bool dlb_lines_by_error(const dlb_lines *lines);

/*
 * Write rows, ranges and tics to the figure. `labels`: of the places 1, 2, ... of an axis of
 * CATEGORIES, else NULL.
 */
void dlb_lines_finish(const dlb_lines *lines, dlb_figure *figure, const char *const *labels);
void dlb_lines_release(dlb_lines *lines);

#endif
