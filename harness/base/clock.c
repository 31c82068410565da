#include "base/clock.h"

int64_t dlb_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

double dlb_clock_s(void)
{
    return 1e-9 * (double)dlb_clock_ns();
}

void dlb_date_now(char date[DLB_DATE_SIZE])
{
    struct tm utc;
    time_t now = time(NULL);
    strftime(date, DLB_DATE_SIZE, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}
