/*
 * What the process has used, all its threads together.
 *
 *     dlb_usage start = dlb_usage_now();
 *     …
 *     dlb_usage used = dlb_usage_since(&start);
 */
#ifndef DLB_MEASURE_USAGE_H
#define DLB_MEASURE_USAGE_H

#include "measure/value.h"

typedef struct dlb_usage {
    double user_s, system_s;   /* CPU seconds */
    long minor_faults;         /* page faults served from memory */
    long major_faults;         /* page faults that waited for a device */
    long voluntary_switches;   /* a thread waited */
    long involuntary_switches; /* a thread was pushed off its CPU: others wanted it */
} dlb_usage;

dlb_usage dlb_usage_now(void);
dlb_usage dlb_usage_since(const dlb_usage *start);

/* Largest resident set so far, in MB of 10^6 bytes. */
dlb_value dlb_peak_rss_mb(void);

#endif
