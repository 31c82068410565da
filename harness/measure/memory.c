#include "measure/memory.h"

#include "measure/cgroup.h"
#include "measure/sysfile.h"

size_t dlb_memory_free(void)
{
    dlb_str meminfo = DLB_STR_INIT;
    double available = 0;
    if (!dlb_sys_read(&meminfo, "", "/proc/meminfo") ||
        !dlb_sys_field_bytes(meminfo.text, "MemAvailable", &available))
        available = 0;
    dlb_str_release(&meminfo);
    dlb_value limit = dlb_cgroup_memory_limit("");
    if (limit.known && (available == 0 || limit.number < available))
        available = limit.number;
    return (size_t)available;
}
