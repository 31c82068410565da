/* Sockets, cores and caches of a machine, from hwloc. */
#ifndef DLB_MEASURE_TOPOLOGY_H
#define DLB_MEASURE_TOPOLOGY_H

#include "base/error.h"

enum { DLB_CACHES_MAX = 6 };

/* All caches of a level and kind. */
typedef struct dlb_cache {
    int level;
    const char *kind; /* "d": data, "i": instructions, "": both */
    double bytes;     /* of one */
    int count;        /* of them in the machine */
} dlb_cache;

typedef struct dlb_topology {
    int sockets, numa_nodes, cores;
    int cpus; /* hardware threads */
    dlb_cache caches[DLB_CACHES_MAX];
    int cache_count;
} dlb_topology;

/* Of this machine (root ""), or of root/topology.xml as hwloc writes it. */
int dlb_topology_probe(dlb_topology *topology, const char *root, dlb_error *err);

#endif
