/* Waiting for what another process does, without taking its CPU. */
#ifndef DLB_COMM_WAIT_H
#define DLB_COMM_WAIT_H

#include <stdint.h>

/*
 * Once around a loop that waits since `since_ns` (dlb_clock_ns): spins for some microseconds, then
 * offers the CPU to others, then sleeps for a small part of the time waited so far.
 */
void dlb_wait_pause(int64_t since_ns);

#endif
