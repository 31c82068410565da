/*
 * A counting library in which a test decides how many counters there are and what fails.
 *
 * A counter counts 1 for each window and what the test adds to fake_work on that thread.
 *   FAKE_A … FAKE_D   of component 0; PAPI_TOT_CYC counts like them, PAPI_TOT_INS twice as much
 *   OTHER_A           of component 1
 *   FAKE_DEAD         can be started and stays at 0; FAKE_KERNEL does unless counted in the kernel
 *   FAKE_FORBIDDEN    cannot be added
 *   FAKE_OFF          belongs to a component that is disabled
 */
#ifndef TESTS_MEASURE_FAKE_COUNTERS_H
#define TESTS_MEASURE_FAKE_COUNTERS_H

#include <stdatomic.h>

#include "measure/counter_api.h"

extern const dlb_counter_api fake_counters;

extern _Thread_local long long fake_work;
extern _Thread_local bool fake_start_fails; /* on this thread */
extern int fake_capacity;      /* counters of a component, for sets that do not take turns */
extern bool fake_multiplexing; /* sets can take turns */
extern _Atomic int fake_open_sets;

#endif
