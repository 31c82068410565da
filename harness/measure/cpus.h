/* A set of logical CPUs, numbered 0 … DLB_CPUS_MAX-1. A zeroed set is empty. */
#ifndef DLB_MEASURE_CPUS_H
#define DLB_MEASURE_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { DLB_CPUS_MAX = 4096 };

typedef struct dlb_cpus {
    uint64_t bits[DLB_CPUS_MAX / 64];
} dlb_cpus;

/* A number out of range is left out. */
void dlb_cpus_add(dlb_cpus *cpus, int cpu);
bool dlb_cpus_has(const dlb_cpus *cpus, int cpu);
int dlb_cpus_count(const dlb_cpus *cpus);

/* The smallest CPU above `after`, or -1; begin with -1. */
int dlb_cpus_next(const dlb_cpus *cpus, int after);

/* Number `index` of the set, from 0 on; they begin again behind the last. */
int dlb_cpus_at(const dlb_cpus *cpus, int index);

/* The kernel's notation, "0-3,8"; false (and the set empty) if `list` is not in it. */
bool dlb_cpus_parse(dlb_cpus *cpus, const char *list);
void dlb_cpus_format(const dlb_cpus *cpus, dlb_str *list);

/* The CPUs that this process's main thread may run on, as the system has it now. */
bool dlb_cpus_of_process(dlb_cpus *cpus);

#endif
