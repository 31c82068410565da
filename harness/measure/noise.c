#include "measure/noise.h"

#include "measure/sysfile.h"

/* user nice system idle iowait irq softirq steal; what follows is contained in user and nice. */
enum { STEAL_COLUMN = 7, COLUMNS = 8 };

/* Add the numbers of a "cpuN …" line; false if it is too short to have a steal column. */
static bool add_cpu_line(const char *numbers, dlb_cpu_ticks *ticks)
{
    char word[32];
    for (int column = 0; column < COLUMNS; column++) {
        long long value;
        if (!dlb_next_word(&numbers, word, sizeof word) || !dlb_parse_int(word, &value))
            return false;
        ticks->total += (uint64_t)value;
        if (column == STEAL_COLUMN)
            ticks->stolen += (uint64_t)value;
    }
    return true;
}

dlb_cpu_ticks dlb_cpu_ticks_parse(const char *stat, const dlb_cpus *cpus)
{
    dlb_cpu_ticks ticks = {0};
    char line[256];
    while (dlb_next_line(&stat, line, sizeof line)) {
        char *rest;
        if (strncmp(line, "cpu", 3) != 0)
            continue;
        long cpu = strtol(line + 3, &rest, 10);
        if (rest == line + 3 || !dlb_cpus_has(cpus, (int)cpu))
            continue;
        if (!add_cpu_line(rest, &ticks))
            return (dlb_cpu_ticks){0};
        ticks.known = true;
    }
    return ticks;
}

dlb_value dlb_steal_pct(dlb_cpu_ticks start, dlb_cpu_ticks end)
{
    if (!start.known || !end.known)
        return dlb_value_missing("/proc/stat does not tell the steal time of the CPUs in use");
    if (end.total <= start.total || end.stolen < start.stolen)
        return dlb_value_missing("the window is shorter than a tick of /proc/stat");
    return dlb_value_of(100.0 * (double)(end.stolen - start.stolen) /
                        (double)(end.total - start.total));
}

dlb_value dlb_load_parse(const char *loadavg)
{
    char word[32];
    double load;
    if (!dlb_next_word(&loadavg, word, sizeof word) || !dlb_parse_real(word, &load))
        return dlb_value_missing("/proc/loadavg is not readable");
    return dlb_value_of(load);
}

static dlb_cpu_ticks ticks_now(const dlb_cpus *cpus)
{
    dlb_str stat = DLB_STR_INIT;
    dlb_cpu_ticks ticks = {0};
    if (dlb_sys_read(&stat, "", "/proc/stat"))
        ticks = dlb_cpu_ticks_parse(stat.text, cpus);
    dlb_str_release(&stat);
    return ticks;
}

dlb_noise dlb_noise_now(void)
{
    dlb_noise now = {.usage = dlb_usage_now()};
    if (dlb_cpus_of_process(&now.cpus))
        now.ticks = ticks_now(&now.cpus);
    return now;
}

dlb_noise_report dlb_noise_since(const dlb_noise *start)
{
    char loadavg[128];
    dlb_sys_line(loadavg, sizeof loadavg, "", "/proc/loadavg");
    return (dlb_noise_report){
        .steal_pct = dlb_steal_pct(start->ticks, ticks_now(&start->cpus)),
        .load = dlb_load_parse(loadavg),
        .involuntary_switches = dlb_usage_since(&start->usage).involuntary_switches,
    };
}
