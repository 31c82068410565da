/* Whether denormals are flushed in the calling thread. */
#ifndef DLB_TESTS_SUPPORT_DENORMAL_H
#define DLB_TESTS_SUPPORT_DENORMAL_H

#include <stdbool.h>

/* Computed at run time, whatever the compiler knows: half of 1e-38 is a denormal. */
static inline bool denormals_are_flushed(void)
{
    volatile float smallest = 1e-38F;
    return smallest / 2 == 0.0F;
}

#endif
