/*
 * Live progress of a training: on a terminal a bar with rate and time left, redrawn in place;
 * elsewhere a plain line an epoch, and one now and then while a long epoch runs.
 */
#ifndef DLB_CLI_PROGRESS_H
#define DLB_CLI_PROGRESS_H

#include <stdbool.h>

#include "train/session.h"

typedef struct dlb_display {
    FILE *out;
    bool quiet, terminal;
    int epochs;        /* of the whole training */
    double last_drawn; /* dlb_clock_s of the last redrawing or line */
    double ended_s;    /* training and evaluation time of the epochs that ended */
    int ended;
} dlb_display;

void dlb_display_init(dlb_display *display, FILE *out, bool quiet, int epochs);
void dlb_display_step(dlb_display *display, const dlb_progress *progress);
void dlb_display_evaluation(dlb_display *display, const dlb_progress *progress);
void dlb_display_epoch(dlb_display *display, const dlb_epoch *epoch);

/* Leave the bar's line as it is, so that what is printed next begins on its own. */
void dlb_display_break(dlb_display *display);

#endif
