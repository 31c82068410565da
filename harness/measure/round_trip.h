/*
 * How far apart two cores are: the time that a line of memory takes from one to the other and back.
 * Cores that share a cache answer each other in some fifty nanoseconds, others take several times
 * as long; in a virtual machine it may be either, and change within a second.
 */
#ifndef DLB_MEASURE_ROUND_TRIP_H
#define DLB_MEASURE_ROUND_TRIP_H

#include "measure/value.h"

/* Nanoseconds between the first two cores of this process, the least of several tries; ~5 ms. */
dlb_value dlb_round_trip_ns(void);

#endif
