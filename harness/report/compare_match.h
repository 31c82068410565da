/*
 * Which point of one study is which of another: that of the same id or, without, the only one with
 * the same parameters. Parameters that are the same throughout each study do not count, so that a
 * study can be compared with one of other kernels or threads.
 */
#ifndef DLB_REPORT_COMPARE_MATCH_H
#define DLB_REPORT_COMPARE_MATCH_H

#include "report/points.h"

typedef struct dlb_match {
    size_t *b_of; /* for each point of a its partner in b, or SIZE_MAX */
    bool *taken;  /* for each point of b whether it is one's partner */
    size_t a_count, b_count;
    size_t pairs;
} dlb_match;

void dlb_match_make(dlb_match *match, const dlb_points *a, const dlb_points *b);
void dlb_match_release(dlb_match *match);

#endif
