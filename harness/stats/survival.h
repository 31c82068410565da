/*
 * Time to a target that some runs never reach. Dropping those would flatter; they are censored:
 * known to take longer than they were observed. Kaplan–Meier.
 */
#ifndef DLB_STATS_SURVIVAL_H
#define DLB_STATS_SURVIVAL_H

#include <stdbool.h>
#include <stddef.h>

/* One run: it reached the target after `time`, or had not when it ended then. */
typedef struct dlb_observation {
    double time; /* NaN: nothing is known; left out */
    bool reached;
} dlb_observation;

typedef struct dlb_survival {
    size_t count, reached;
    double median; /* the time by which half of the runs have reached it; NaN: fewer than half ever
                      do */
    double low,
        high; /* 95 % (Brookmeyer–Crowley on the log-log scale); NaN: not bounded on that side */
} dlb_survival;

/* At least one run must have reached it for a median to be known. The array is not changed. */
dlb_survival dlb_survival_of(const dlb_observation *runs, size_t count);

/* The fraction of runs that have not reached the target by `time`. */
double dlb_survival_at(const dlb_observation *runs, size_t count, double time);

#endif
