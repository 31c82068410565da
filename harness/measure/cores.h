/*
 * Which CPUs a process may use: its affinity mask (taskset, cpuset, what mpirun or srun bound it
 * to) and the share of time that control groups leave it.
 */
#ifndef DLB_MEASURE_CORES_H
#define DLB_MEASURE_CORES_H

#include "measure/cpus.h"
#include "measure/value.h"

typedef struct dlb_cores {
    dlb_cpus cpus;          /* the affinity mask */
    int count;              /* CPUs in it */
    int physical;           /* cores that they belong to: fewer than count with SMT */
    int sockets;            /* sockets that they belong to */
    dlb_value quota;        /* CPUs' worth of time, of the tightest control group; else missing */
    dlb_value memory_limit; /* bytes, likewise */
    int allowed;            /* min(count, ceil(quota)): what threads are good for */
} dlb_cores;

/* Of the machine below `root` ("" = this one). */
void dlb_cores_probe(dlb_cores *cores, const char *root);

/*
 * Of this process, as it was at the first call of any. Call once before the first parallel
 * region: an OpenMP runtime that binds its threads narrows the main thread's mask to one CPU.
 */
int dlb_cores_allowed(void);
int dlb_sockets_spanned(void);
const dlb_cores *dlb_cores_of_process(void);

/* Bind the calling thread to one CPU; false where that is refused. */
bool dlb_cpu_bind(int cpu);

/* The lowest CPU of the core that a CPU of this machine belongs to; itself where that is unknown.
 */
int dlb_core_of(int cpu);

#endif
