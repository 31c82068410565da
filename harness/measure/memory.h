/* How much memory the process can still get. */
#ifndef DLB_MEASURE_MEMORY_H
#define DLB_MEASURE_MEMORY_H

#include <stddef.h>

/* Bytes: what the system has available, at most the limit of the control groups; 0 if unknown. */
size_t dlb_memory_free(void);

#endif
