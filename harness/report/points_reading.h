/* A runs.csv on its way to points: read and grouped by one file, filled in by another. */
#ifndef DLB_REPORT_POINTS_READING_H
#define DLB_REPORT_POINTS_READING_H

#include "record/frame.h"
#include "report/points_state.h"

/* A runs.csv on its way to points. */
typedef struct dlb_points_reading {
    dlb_frame *frame;
    size_t rows;
    int point, repeat, status;
    int *columns;       /* of the parameters */
    int seed;           /* which parameter the seed is, or -1 */
    uint32_t *point_of; /* one a row */
    int *repeats;       /* one a row, from 1 */
} dlb_points_reading;

/* Whether a column is of a metric that only a foreign program knows. */
bool dlb_points_is_metric(const char *column);

/* Fill in everything but metrics, from rows that are grouped and ordered. */
void dlb_points_fill(dlb_points_reading *in, dlb_points *points);

/* Then the metrics among the columns of that name, when the frame is no longer needed. */
void dlb_points_fill_metrics(const dlb_points_reading *in, dlb_points *points, const char *path,
                             char *const *names);

#endif
