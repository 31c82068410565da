#include "measure/cores.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>

#include "base/mem.h"
#include "measure/cgroup.h"
#include "measure/sysfile.h"

/* The mask of this process, or the one that a recorded machine noted for its own. */
static void probe_mask(dlb_cpus *cpus, const char *root)
{
    dlb_str status = DLB_STR_INIT;
    char list[512];
    bool known = root[0] ? dlb_sys_read(&status, root, "/proc/self/status") &&
                               dlb_sys_field(status.text, "Cpus_allowed_list", list, sizeof list) &&
                               dlb_cpus_parse(cpus, list)
                         : dlb_cpus_of_process(cpus);
    dlb_str_release(&status);
    if (!known)
        dlb_cpus_add(cpus, 0); /* it runs, so it has a CPU */
}

/* How many different values the CPUs have in their topology file `key`; 0 if unreadable. */
static int distinct(const dlb_cpus *cpus, const char *root, const char *key)
{
    char(*seen)[64] = dlb_alloc((size_t)dlb_cpus_count(cpus), sizeof *seen);
    int count = 0;
    for (int cpu = dlb_cpus_next(cpus, -1); cpu >= 0; cpu = dlb_cpus_next(cpus, cpu)) {
        char value[64];
        if (!dlb_sys_line(value, sizeof value, root, "/sys/devices/system/cpu/cpu%d/topology/%s",
                          cpu, key))
            continue;
        int i = 0;
        while (i < count && strcmp(seen[i], value) != 0)
            i++;
        if (i == count)
            memcpy(seen[count++], value, sizeof value);
    }
    free(seen);
    return count;
}

void dlb_cores_probe(dlb_cores *cores, const char *root)
{
    *cores = (dlb_cores){0};
    probe_mask(&cores->cpus, root);
    cores->count = dlb_cpus_count(&cores->cpus);
    int physical = distinct(&cores->cpus, root, "thread_siblings_list");
    int sockets = distinct(&cores->cpus, root, "physical_package_id");
    cores->physical = physical ? physical : cores->count;
    cores->sockets = sockets ? sockets : 1;
    cores->quota = dlb_cgroup_cpu_quota(root);
    cores->memory_limit = dlb_cgroup_memory_limit(root);
    cores->allowed = cores->count;
    if (cores->quota.known)
        cores->allowed = (int)fmin(cores->count, fmax(1, ceil(cores->quota.number)));
}

static dlb_cores at_first_call;

static void probe_this_process(void)
{
    dlb_cores_probe(&at_first_call, "");
}

const dlb_cores *dlb_cores_of_process(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, probe_this_process);
    return &at_first_call;
}

int dlb_cores_allowed(void)
{
    return dlb_cores_of_process()->allowed;
}

int dlb_sockets_spanned(void)
{
    return dlb_cores_of_process()->sockets;
}

bool dlb_cpu_bind(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

int dlb_core_of(int cpu)
{
    char siblings[256];
    dlb_cpus core;
    if (!dlb_sys_line(siblings, sizeof siblings, "",
                      "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu) ||
        !dlb_cpus_parse(&core, siblings))
        return cpu;
    int lowest = dlb_cpus_next(&core, -1);
    return lowest < 0 ? cpu : lowest;
}
