/* What every caption says: of how many runs the numbers are, of what, and where they ran. */
#ifndef DLB_REPORT_CAPTION_H
#define DLB_REPORT_CAPTION_H

#include "base/str.h"
#include "report/series.h"

/* The values that a figure has drawn. */
typedef struct dlb_drawn {
    size_t least, most; /* runs that one is made of; 0 if none is drawn */
    bool marked;        /* whether some are of oversubscribed points, and marked so */
} dlb_drawn;

/* Count a value in. */
void dlb_drawn_add(dlb_drawn *drawn, size_t runs, bool marked);

/* Points that a figure is about, be they drawn or without a value. */
typedef struct dlb_shown {
    const dlb_points *points;
    const size_t *items; /* each once */
    size_t count;
    dlb_drawn drawn;
    const char *mark; /* of oversubscribed points: "Hollow", "*" */
} dlb_shown;

/*
 * Append "Model horovod_cnn, epochs 32, n = 3; host vm.", with all values where the points differ,
 * n being the runs that values are made of; then sentences on failed, late and diverged runs of all
 * points, and on the mark.
 */
void dlb_caption_add(dlb_str *caption, const dlb_shown *shown);

/* Append "Along the axis vary, too: batch. " for what follows it among the points, if anything. */
void dlb_caption_followers(dlb_str *caption, const dlb_shown *shown, const dlb_series_list *list);

#endif
