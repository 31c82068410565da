/* What every caption says: of how many runs the numbers are, of what, and where they ran. */
#ifndef DLB_REPORT_CAPTION_H
#define DLB_REPORT_CAPTION_H

#include "base/str.h"
#include "report/series.h"

/* Points that a figure shows. */
typedef struct dlb_shown {
    const dlb_points *points;
    const size_t *items;
    size_t count;
    const char *mark; /* of oversubscribed points; NULL: "Hollow"; "": they are not marked */
} dlb_shown;

/*
 * Append "model horovod_cnn, 32 epochs, 3 repeats (n = 3), host vm." and what of it is not the same
 * for all points; then sentences on failed, diverged and oversubscribed runs among them.
 */
void dlb_caption_add(dlb_str *caption, const dlb_shown *shown);

/* Append "Along the axis vary, too: batch. " for what follows it; nothing without. */
void dlb_caption_followers(dlb_str *caption, const dlb_points *points, const dlb_series_list *list);

#endif
