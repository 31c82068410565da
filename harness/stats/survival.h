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

/*
 * The median is the time by which half of the runs have reached the target. Where exactly half have
 * from one time to the next, it is in the middle between the two: without censored runs it is the
 * plain median. The interval is that of Brookmeyer and Crowley on the log-log scale.
 */
typedef struct dlb_survival {
    size_t count, reached;
    double median;    /* NaN: fewer than half ever do */
    double low, high; /* 95 %; NaN: not bounded on that side */
} dlb_survival;

/* The array is not changed. */
dlb_survival dlb_survival_of(const dlb_observation *runs, size_t count);

/*
 * The fraction of runs that have not reached the target by `time`; after the last run's end, that
 * by its end. NaN without runs.
 */
double dlb_survival_at(const dlb_observation *runs, size_t count, double time);

#endif
