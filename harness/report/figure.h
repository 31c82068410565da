/*
 * A figure on its way to its files: values for a script of plots/, and the data that it draws.
 *
 *     dlb_figure *figure = dlb_figure_add(&figures, "lines", "speedup", grid);
 *     dlb_figure_text(figure, "xlabel", "cores");
 *     ...
 *
 * NAME.dat and NAME.repeats.dat have tab-separated columns, and NAME.gp all that gnuplot needs to
 * draw them by hand. Texts may hold anything: they are quoted so that gnuplot neither runs nor
 * interprets them.
 */
#ifndef DLB_REPORT_FIGURE_H
#define DLB_REPORT_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

enum { DLB_FIGURE_MAX_LINES = 8 };

typedef struct dlb_figure {
    char *name;         /* of its files: letters, digits, "_" and "-" */
    const char *script; /* of plots/ that draws it */
    dlb_str values;     /* assignments for the script */
    dlb_str data;       /* NAME.dat without its head */
    dlb_str repeats;    /* NAME.repeats.dat likewise; none if empty */
    const char *head;   /* what the columns of NAME.dat are */
    int caption_columns;
    const char *study; /* what all figures are of; "" if that is not known */
} dlb_figure;

/* Start with caption_columns, the width of a caption's lines, and the study's title or "". */
typedef struct dlb_figures {
    dlb_figure *items;
    size_t count, capacity;
    int caption_columns;
    const char *study;
} dlb_figures;

void dlb_figures_release(dlb_figures *figures);

/* A new figure whose name is `name`, followed by `part` if that is not empty. */
dlb_figure *dlb_figure_add(dlb_figures *figures, const char *script, const char *name,
                           const char *part);

/* Values of the script. */
void dlb_figure_text(dlb_figure *figure, const char *variable, const char *text);
void dlb_figure_texts(dlb_figure *figure, const char *variable, const char *const *texts,
                      size_t count);
void dlb_figure_number(dlb_figure *figure, const char *variable, double number);
void dlb_figure_numbers(dlb_figure *figure, const char *variable, const double *numbers,
                        size_t count);

/* The caption, broken into lines. */
void dlb_figure_caption(dlb_figure *figure, const char *text);

/* Tics of an axis, "x" or "y", at these places only; `labels` NULL: the numbers themselves. */
void dlb_figure_tics(dlb_figure *figure, const char *axis, const double *at,
                     const char *const *labels, size_t count);

/* Append a cell of the data: a number, or "?" for NaN; a tab goes before all but the first. */
void dlb_figure_cell(dlb_str *data, bool first, double number);

/* Append the text as a string of gnuplot that it takes literally. */
void dlb_gnuplot_quote(dlb_str *out, const char *text);

/* Write the figure's data and script to the folder. */
int dlb_figure_write(const dlb_figure *figure, const char *folder, dlb_error *err);

#endif
