/*
 * Live progress of a sweep: a line for each run that has ended, and on a terminal below them a bar
 * that tells what is done, failed and left, what runs now, and how long it will take.
 */
#ifndef DLB_CLI_SWEEP_DISPLAY_H
#define DLB_CLI_SWEEP_DISPLAY_H

#include <stdbool.h>
#include <stdio.h>

#include "base/str.h"
#include "record/row.h"

typedef struct dlb_sweep_display {
    FILE *out;
    bool terminal, colour;
    bool shown;        /* the bar is on the screen */
    size_t total;      /* runs that this sweep is to do; grows where a precision asks for more */
    size_t done;       /* of them */
    size_t bad;        /* of those: failed or timed out */
    double left_s;     /* expected for what is left, the run under way included; NaN unknown */
    double expected_s; /* of the run under way */
    dlb_str running;   /* its description */
} dlb_sweep_display;

void dlb_sweep_display_init(dlb_sweep_display *display, FILE *out);
void dlb_sweep_display_release(dlb_sweep_display *display);

/* A run begins. */
void dlb_sweep_display_begin(dlb_sweep_display *display, const char *description, double expected_s,
                             double left_s);

/* It has been running for so long. */
void dlb_sweep_display_tick(dlb_sweep_display *display, double elapsed_s);

/* It has ended: its row of runs. What the row says of noise is said, too. */
void dlb_sweep_display_end(dlb_sweep_display *display, const dlb_row *row);

/* Take the bar away, so that what is printed next begins on its own line. */
void dlb_sweep_display_clear(dlb_sweep_display *display);

#endif
