#include "measure/usage.h"

#include <sys/resource.h>

#include "measure/sysfile.h"

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

dlb_usage dlb_usage_now(void)
{
    struct rusage r = {0};
    getrusage(RUSAGE_SELF, &r); /* cannot fail for RUSAGE_SELF */
    return (dlb_usage){
        .user_s = seconds(r.ru_utime),
        .system_s = seconds(r.ru_stime),
        .minor_faults = r.ru_minflt,
        .major_faults = r.ru_majflt,
        .voluntary_switches = r.ru_nvcsw,
        .involuntary_switches = r.ru_nivcsw,
    };
}

dlb_usage dlb_usage_since(const dlb_usage *start)
{
    dlb_usage now = dlb_usage_now();
    return (dlb_usage){
        .user_s = now.user_s - start->user_s,
        .system_s = now.system_s - start->system_s,
        .minor_faults = now.minor_faults - start->minor_faults,
        .major_faults = now.major_faults - start->major_faults,
        .voluntary_switches = now.voluntary_switches - start->voluntary_switches,
        .involuntary_switches = now.involuntary_switches - start->involuntary_switches,
    };
}

/*
 * VmHWM begins anew with each program; ru_maxrss, which every kernel has, is inherited through
 * exec and would show a large parent's peak.
 */
dlb_value dlb_peak_rss_mb(void)
{
    dlb_str status = DLB_STR_INIT;
    double bytes = 0;
    bool found = dlb_sys_read(&status, "", "/proc/self/status") &&
                 dlb_sys_field_bytes(status.text, "VmHWM", &bytes);
    dlb_str_release(&status);
    if (found)
        return dlb_value_of(1e-6 * bytes);

    struct rusage r;
    if (getrusage(RUSAGE_SELF, &r) < 0 || r.ru_maxrss <= 0)
        return dlb_value_missing("neither /proc/self/status nor getrusage tells the peak memory");
    return dlb_value_of(1e-6 * 1024 * (double)r.ru_maxrss);
}
