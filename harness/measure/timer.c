#include "measure/timer.h"

#include <time.h>

#include "base/clock.h"

enum { READINGS = 20000 };

dlb_timer dlb_timer_measure(void)
{
    struct timespec resolution = {0};
    clock_getres(CLOCK_MONOTONIC, &resolution);

    int64_t first = dlb_clock_ns(), last = first, step = INT64_MAX;
    int readings = 0;
    for (; readings < READINGS || step == INT64_MAX; readings++) {
        int64_t now = dlb_clock_ns();
        if (now > last && now - last < step)
            step = now - last;
        last = now;
    }
    return (dlb_timer){
        .claimed_ns = 1e9 * (double)resolution.tv_sec + (double)resolution.tv_nsec,
        .step_ns = (double)step,
        .cost_ns = (double)(last - first) / readings,
    };
}
