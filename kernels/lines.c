#include "dlk/lines.h"

#include <stdint.h>

#include "base/mem.h"

/* What does not stay in a second-level cache is asked for in vain. */
enum { MOST_BYTES = 256 * 1024 };

/* The lines that have some of the floats: [first, end). */
typedef struct lines {
    const char *first, *end;
} lines;

static lines lines_of(const float *memory, size_t floats)
{
    size_t bytes = floats * sizeof *memory;
    const char *first = (const char *)memory;
    return (lines){first - (uintptr_t)first % DLB_CACHE_LINE,
                   first + (bytes < MOST_BYTES ? bytes : MOST_BYTES)};
}

/* Where the processor does not know the instruction, it does nothing. */
#if defined(__x86_64__)
__attribute__((target("prfchw")))
#endif
void dlk_own(const float *memory, size_t floats)
{
    lines l = lines_of(memory, floats);
    for (const char *line = l.first; line < l.end; line += DLB_CACHE_LINE)
        __builtin_prefetch(line, 1);
}

void dlk_fetch(const float *memory, size_t floats)
{
    lines l = lines_of(memory, floats);
    for (const char *line = l.first; line < l.end; line += DLB_CACHE_LINE)
        __builtin_prefetch(line, 0, 2);
}
