/*
 * Limits of the control groups that the process is in, version 1 or 2, all ancestors included.
 * `root` is "" for this machine, else the folder of a recorded one.
 */
#ifndef DLB_MEASURE_CGROUP_H
#define DLB_MEASURE_CGROUP_H

#include "measure/value.h"

/* CPUs' worth of time per time: 1.5 means three halves of a CPU. Missing when not limited. */
dlb_value dlb_cgroup_cpu_quota(const char *root);

/* Bytes. Missing when not limited. */
dlb_value dlb_cgroup_memory_limit(const char *root);

#endif
