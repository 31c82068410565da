#include "dlk/lines.h"

#include "base/mem.h"

enum { LINE = DLB_CACHE_LINE / sizeof(float) };

/* Where the processor does not know the instruction, it does nothing. */
#if defined(__x86_64__)
__attribute__((target("prfchw")))
#endif
void dlk_own(const float *memory, size_t floats)
{
    for (size_t i = 0; i < floats; i += LINE)
        __builtin_prefetch(memory + i, 1);
}

void dlk_fetch(const float *memory, size_t floats)
{
    for (size_t i = 0; i < floats; i += LINE)
        __builtin_prefetch(memory + i, 0, 2);
}
