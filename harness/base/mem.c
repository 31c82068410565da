#include "base/mem.h"

#include <stdint.h>

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

void *dlb_try_alloc(size_t count, size_t size)
{
    if (size && count > (SIZE_MAX - DLB_PAGE) / size)
        return NULL;
    size_t wanted = count * size;
    size_t alignment = wanted < DLB_PAGE ? DLB_CACHE_LINE : DLB_PAGE;
    size_t bytes = wanted ? round_up(wanted, alignment) : alignment;
    void *memory = aligned_alloc(alignment, bytes);
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

void *dlb_alloc(size_t count, size_t size)
{
    void *memory = dlb_try_alloc(count, size);
    if (!memory) {
        fprintf(stderr, "dlbench: out of memory (%zu items of %zu bytes)\n", count, size);
        abort();
    }
    return memory;
}

void *dlb_grow(void *items, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return items;
    size_t grown = *capacity ? *capacity * 2 : 8;
    if (grown < need)
        grown = need;
    void *larger = dlb_alloc(grown, size);
    if (items)
        memcpy(larger, items, *capacity * size);
    free(items);
    *capacity = grown;
    return larger;
}

char *dlb_strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(dlb_alloc(bytes, 1), text, bytes);
}
