/* Rows of epochs.csv or ranks.csv, each with the run of runs.csv that it belongs to. */
#ifndef DLB_REPORT_JOIN_H
#define DLB_REPORT_JOIN_H

#include "record/frame.h"
#include "report/report_state.h"

typedef struct dlb_join {
    dlb_frame *frame;
    int run;          /* its column */
    size_t *run_of;   /* by code of the run's name: the run, from 1, or 0 */
    size_t *point_of; /* by run, from 0 */
} dlb_join;

/*
 * Read the wanted columns of a file beside runs.csv. 1 if it was read, 0 if there is nothing to
 * read or to join by.
 */
int dlb_join_read(dlb_join *join, const dlb_report *report, const char *file,
                  const dlb_frame_want *wants, size_t count, dlb_error *err);
void dlb_join_release(dlb_join *join);

/* The run of a row, as an index over all runs by point and repeat; false if it is not known. */
bool dlb_join_run(const dlb_join *join, size_t row, size_t *run);

#endif
