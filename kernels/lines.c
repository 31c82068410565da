#include "dlk/lines.h"

#include <stdbool.h>
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

static bool hands_over_lines(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_is("amd");
#else
    return false;
#endif
}

/* A line is owned as soon as one of its bytes is written, be it with what it was. */
void dlk_take_over(void *memory, size_t bytes)
{
    volatile char *words = memory;
    if (!hands_over_lines())
        return;
    for (size_t i = 0; i < bytes; i += DLB_CACHE_LINE)
        words[i] = words[i];
}

void dlk_fetch(const float *memory, size_t floats)
{
    lines l = lines_of(memory, floats);
    for (const char *line = l.first; line < l.end; line += DLB_CACHE_LINE)
        __builtin_prefetch(line, 0, 2);
}
