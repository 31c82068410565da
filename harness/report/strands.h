/*
 * Lines over the cores used: the points of a family, which differ in ranks and threads only, that
 * have the same threads or the same ranks.
 */
#ifndef DLB_REPORT_STRANDS_H
#define DLB_REPORT_STRANDS_H

#include "report/series.h"

typedef struct dlb_strand {
    size_t family;  /* its number among the families */
    size_t base;    /* the family's, that speed-ups are against */
    size_t *points; /* whose cores are known, be there a time or none */
    size_t count;
    size_t timed;     /* points with a time */
    bool over_ranks;  /* ranks vary and threads are fixed, or the other way round */
    double fixed;     /* the threads or ranks that all have */
    double best;      /* speed-up, about */
    double longest_s; /* time of a run of the family */
} dlb_strand;

/* Valid when zeroed. */
typedef struct dlb_strands {
    dlb_strand *items;
    size_t count, capacity;
} dlb_strands;

void dlb_strands_release(dlb_strands *all);

/* Add a strand for each number of threads, over ranks, and one over threads for the fewest ranks;
 * none of fewer than two points, or of a family without any time. */
void dlb_strands_add(dlb_strands *all, const dlb_points *points, const dlb_series *family,
                     size_t number);

#endif
