/*
 * Memory. dlb_alloc never returns NULL: the amounts that come from input are checked against
 * their limits before anything is allocated, so running out here is not a user's error and ends
 * the process with a message. Use dlb_try_alloc where the size is the input's.
 */
#ifndef DLB_BASE_MEM_H
#define DLB_BASE_MEM_H

#include <stddef.h>

enum { DLB_CACHE_LINE = 64, DLB_PAGE = 4096 };

/*
 * Zeroed memory for `count` items of `size` bytes, aligned to a cache line; free() it. A page or
 * more begins with a page: which arrays are in each other's way in a cache is then the same in
 * every process, whatever the lengths of the paths and names that were allocated before.
 */
void *dlb_alloc(size_t count, size_t size);

/* The same, or NULL when the product overflows or memory is short. */
void *dlb_try_alloc(size_t count, size_t size);

/* Grow *items so that it holds at least `need` items; *capacity follows. New items are zero. */
void *dlb_grow(void *items, size_t *capacity, size_t need, size_t size);

/* That many floats and as many more as fill the last cache line, so that no array shares one. */
static inline size_t dlb_whole_lines(size_t floats)
{
    enum { LINE = DLB_CACHE_LINE / sizeof(float) };
    return (floats + LINE - 1) / LINE * LINE;
}

/* That many bytes and as many more as fill the last page. */
static inline size_t dlb_whole_pages(size_t bytes)
{
    return (bytes + DLB_PAGE - 1) / DLB_PAGE * DLB_PAGE;
}

char *dlb_strdup(const char *text);

#endif
