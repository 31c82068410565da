/* Monotonic time, in seconds and in nanoseconds. Both readings share one origin. */
#ifndef DLB_BASE_CLOCK_H
#define DLB_BASE_CLOCK_H

#include <stdint.h>

int64_t dlb_clock_ns(void);
double dlb_clock_s(void);

#endif
