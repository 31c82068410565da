#include "measure/paranoid.h"

#include <unistd.h>

#include "measure/sysfile.h"

/* Above this, nobody but root may count anything; from it on, not the kernel's part. */
enum { USER_MODE_ONLY = 2 };

bool dlb_paranoid_explains(bool forbidden, char *hint, size_t size)
{
    long long paranoid;
    hint[0] = '\0';
    if (geteuid() == 0 || !dlb_sys_number(&paranoid, "", "/proc/sys/kernel/perf_event_paranoid"))
        return false;
    if (paranoid <= USER_MODE_ONLY && !forbidden)
        return false;
    int enough = paranoid > USER_MODE_ONLY ? USER_MODE_ONLY : USER_MODE_ONLY - 1;
    snprintf(hint, size, " (perf_event_paranoid = %lld: ask for %d or less)", paranoid, enough);
    return true;
}
