/*
 * How much others disturbed a window: CPU time that the hypervisor gave to other machines (steal),
 * threads pushed off their CPU, and the load of the whole system at its end.
 *
 *     dlb_noise start = dlb_noise_now();
 *     …
 *     dlb_noise_report report = dlb_noise_since(&start);
 */
#ifndef DLB_MEASURE_NOISE_H
#define DLB_MEASURE_NOISE_H

#include "measure/cpus.h"
#include "measure/usage.h"
#include "measure/value.h"

/* Clock ticks since boot, summed over CPUs, in which anything was accounted, and those stolen. */
typedef struct dlb_cpu_ticks {
    bool known;
    uint64_t total, stolen;
} dlb_cpu_ticks;

typedef struct dlb_noise {
    dlb_cpus cpus; /* those the process may run on */
    dlb_cpu_ticks ticks;
    dlb_usage usage;
} dlb_noise;

typedef struct dlb_noise_report {
    dlb_value steal_pct; /* of the time of the CPUs allowed */
    dlb_value load;      /* tasks running or wanting to, mean of the last minute */
    long involuntary_switches;
} dlb_noise_report;

dlb_noise dlb_noise_now(void);
dlb_noise_report dlb_noise_since(const dlb_noise *start);

/* The parts, for recorded machines: `stat` is the text of /proc/stat, `loadavg` of /proc/loadavg.
 */
dlb_cpu_ticks dlb_cpu_ticks_parse(const char *stat, const dlb_cpus *cpus);
dlb_value dlb_steal_pct(dlb_cpu_ticks start, dlb_cpu_ticks end);
dlb_value dlb_load_parse(const char *loadavg);

#endif
