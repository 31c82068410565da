/*
 * What a machine is and what it lets a process do: everything that `doctor` judges and that is
 * written beside results as provenance.
 *
 * A text is "" and a dlb_value missing where the system does not tell. The facts of /proc, /sys
 * and the topology can also be those of a recorded machine: a folder `root` with proc/, sys/,
 * topology.xml (hwloc) and libraries.txt (paths of loaded libraries).
 */
#ifndef DLB_MEASURE_HOST_H
#define DLB_MEASURE_HOST_H

#include "measure/cores.h"
#include "measure/libraries.h"
#include "measure/timer.h"
#include "measure/topology.h"
#include "measure/value.h"

enum { DLB_HOST_EVENTS = 20 };

/* A counter event, and whether it counts here. */
typedef struct dlb_host_event {
    const char *name;
    bool hardware; /* needs the processor's counters; else the kernel counts */
    bool works;
    char why[256]; /* if it does not; else who counts it, "" for the usual library */
} dlb_host_event;

/* "AMD EPYC, family 26 model 2 stepping 1": a hypervisor may call every processor of a maker the
 * same, but its version tells them apart. */
typedef struct dlb_cpu_name {
    char text[256];
} dlb_cpu_name;

typedef struct dlb_host {
    char name[128], kernel[128];

    char cpu[128], vendor[64];
    char cpu_version[80]; /* "family 26 model 2 stepping 1": what its name may leave open */
    char isa[160];        /* instruction sets that matter here: "sse4.2 avx avx2 fma avx512f" */
    char hypervisor[64];  /* "KVM", …; "" on bare metal */
    dlb_topology topology;
    dlb_cores cores; /* what this process may use */

    char governor[32];    /* of the CPU frequency */
    char turbo[8];        /* "on", "off" */
    char thp[16];         /* transparent huge pages: "always", "madvise", "never" */
    char clocksource[32]; /* "tsc", … */
    dlb_value memory_total, memory_available; /* bytes */
    dlb_value load;                           /* tasks, mean of the last minute */
    dlb_value steal_pct;                      /* since boot, of the CPUs allowed */

    dlb_openmp openmp;
    dlb_library_list blas_libraries; /* all that are loaded */
    struct {
        bool loaded; /* by dlk_gemm_load */
        bool threaded;
        char name[64]; /* "OpenBLAS 0.3.21" */
        char core[32]; /* the kernels in use: "SkylakeX" */
        char path[DLB_LIBRARY_PATH];
    } blas;
    char mpi[128];      /* library and version */
    char launcher[256]; /* mpirun or srun found on PATH */

    char counter_library[32];        /* "PAPI 7.0.0" */
    char counter_library_lacks[128]; /* why its perf_event component is off; "" if it is not */
    dlb_host_event events[DLB_HOST_EVENTS];
    int event_count; /* 0: not probed */
    char energy_meters[128];
    dlb_value energy; /* known if the meters can be read */

    dlb_timer timer;              /* zero: not measured */
    char best_isa[16];            /* of dlk_isa_best */
    int peak_threads;             /* 0: peaks not measured */
    dlb_value peak_one, peak_all; /* GFLOP/s of one thread and of peak_threads */
} dlb_host;

/*
 * Fill *host. For this machine (root "") this includes the libraries as loaded now: select the
 * kernels first if the BLAS shall be seen. MPI is asked for its version but not initialised.
 * Counters and peak, which take time, are left unprobed. ~20 ms.
 */
void dlb_host_probe(dlb_host *host, const char *root);

dlb_cpu_name dlb_host_cpu_name(const dlb_host *host);

/* Try the usual hardware and software events on this machine: ~5 ms an event that works. */
void dlb_host_probe_counters(dlb_host *host);

/* Measure the floating-point peak of this machine: ~0.2 s. */
void dlb_host_probe_peak(dlb_host *host);

#endif
