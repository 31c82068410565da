#include "measure/cpus.h"

#include <sched.h>
#include <unistd.h>

void dlb_cpus_add(dlb_cpus *cpus, int cpu)
{
    if (cpu >= 0 && cpu < DLB_CPUS_MAX)
        cpus->bits[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

bool dlb_cpus_has(const dlb_cpus *cpus, int cpu)
{
    return cpu >= 0 && cpu < DLB_CPUS_MAX && (cpus->bits[cpu / 64] >> cpu % 64 & 1);
}

int dlb_cpus_count(const dlb_cpus *cpus)
{
    int count = 0;
    for (int i = 0; i < DLB_CPUS_MAX / 64; i++)
        count += __builtin_popcountll(cpus->bits[i]);
    return count;
}

int dlb_cpus_next(const dlb_cpus *cpus, int after)
{
    for (int cpu = after + 1; cpu < DLB_CPUS_MAX; cpu++) {
        uint64_t rest = cpus->bits[cpu / 64] >> cpu % 64;
        if (rest)
            return cpu + __builtin_ctzll(rest);
        cpu |= 63;
    }
    return -1;
}

int dlb_cpus_at(const dlb_cpus *cpus, int index)
{
    int cpu = -1;
    for (int i = index % dlb_cpus_count(cpus); i >= 0; i--)
        cpu = dlb_cpus_next(cpus, cpu);
    return cpu;
}

/* One "a" or "a-b" at *cursor, which advances behind it. */
static bool parse_range(const char **cursor, long *first, long *last)
{
    char *end;
    *first = *last = strtol(*cursor, &end, 10);
    if (end == *cursor)
        return false;
    if (*end == '-') {
        const char *second = end + 1;
        *last = strtol(second, &end, 10);
        if (end == second)
            return false;
    }
    *cursor = end;
    return *first >= 0 && *first <= *last && *last < DLB_CPUS_MAX;
}

bool dlb_cpus_parse(dlb_cpus *cpus, const char *list)
{
    *cpus = (dlb_cpus){{0}};
    for (long first, last; parse_range(&list, &first, &last); list++) {
        for (long cpu = first; cpu <= last; cpu++)
            dlb_cpus_add(cpus, (int)cpu);
        if (*list == '\0')
            return true;
        if (*list != ',')
            break;
    }
    *cpus = (dlb_cpus){{0}};
    return false;
}

void dlb_cpus_format(const dlb_cpus *cpus, dlb_str *list)
{
    const char *separator = "";
    for (int first = dlb_cpus_next(cpus, -1); first >= 0;) {
        int last = first;
        while (dlb_cpus_has(cpus, last + 1))
            last++;
        dlb_str_addf(list, "%s%d", separator, first);
        if (last > first)
            dlb_str_addf(list, "-%d", last);
        separator = ",";
        first = dlb_cpus_next(cpus, last);
    }
}

bool dlb_cpus_of_process(dlb_cpus *cpus)
{
    *cpus = (dlb_cpus){{0}};
    return sched_getaffinity(getpid(), sizeof cpus->bits, (cpu_set_t *)cpus->bits) == 0;
}
