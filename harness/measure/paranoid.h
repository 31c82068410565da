/* The kernel's setting that decides who may count events: perf_event_paranoid. */
#ifndef DLB_MEASURE_PARANOID_H
#define DLB_MEASURE_PARANOID_H

#include <stdbool.h>
#include <stddef.h>

/*
 * True if the setting explains why this process was refused an event; `hint` is then what to ask
 * for, ready to follow the refusal: " (perf_event_paranoid = 3: ask for 2 or less)", else "".
 * `forbidden`: the refusal itself was one of rights.
 */
bool dlb_paranoid_explains(bool forbidden, char *hint, size_t size);

#endif
