/* Monotonic time, in seconds and in nanoseconds. Both readings share one origin. */
#ifndef DLB_BASE_CLOCK_H
#define DLB_BASE_CLOCK_H

#include <stdint.h>

int64_t dlb_clock_ns(void);
double dlb_clock_s(void);

enum { DLB_DATE_SIZE = 32 };

/* The date and time of the day, UTC: "2026-11-18T17:09:25Z". */
void dlb_date_now(char date[DLB_DATE_SIZE]);

#endif
