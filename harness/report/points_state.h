/* What a dlb_points holds; for the files that fill it and that ask it. */
#ifndef DLB_REPORT_POINTS_STATE_H
#define DLB_REPORT_POINTS_STATE_H

#include <stdint.h>

#include "report/points.h"

/* A parameter: an index into its texts for each point, or one for all if it does not vary. */
struct parameter {
    char *name;
    char **texts;    /* by code; "" at 0 is missing */
    double *numbers; /* the texts as numbers, NaN for what is none */
    size_t text_count;
    uint32_t *codes; /* one a point; NULL if it does not vary */
    uint32_t code;   /* then that of all */
};

struct metric {
    char *name;
    double *values; /* one a run */
};

/* Runs stand by point and by repeat; those of point p are first[p] .. first[p + 1] - 1. */
struct dlb_points {
    size_t count, run_count;
    size_t *first;
    char *ids; /* one after the other, each terminated */
    size_t *id_at;
    bool *oversubscribed; /* one a point */
    dlb_point_run *runs;
    uint32_t *order; /* the row of the file that each run stands in, from 0 */
    struct parameter *parameters;
    size_t parameter_count, parameter_capacity;
    double *measures[DLB_MEASURES]; /* one a run; NULL if no run has it */
    struct metric metrics[DLB_MAX_METRICS];
    size_t metric_count;
    bool more_metrics;
    double *timeouts; /* one a run; NULL if none timed out */
    dlb_reason reasons[DLB_MAX_REASONS];
    size_t reason_count, other_reasons;
    double *missing; /* as many as the point with the most runs has */
    char **hosts, **commits;
    size_t host_count, commit_count;
};

#endif
