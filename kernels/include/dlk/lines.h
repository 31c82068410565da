/*
 * Asking for lines of memory that other cores have in their caches.
 *
 * A line that another core has written is brought from there; one that it has read cannot be
 * written before it has given it up. A loop that goes from line to line waits for each; asked for
 * together, they come several times as fast. Of more than a second-level cache holds, only the
 * beginning is asked for.
 */
#ifndef DLK_LINES_H
#define DLK_LINES_H

#include <stddef.h>

/* What is about to be overwritten, or read and written. */
void dlk_own(const float *memory, size_t floats);

/* What will soon be read, though not at once: no further than into the second-level cache. */
void dlk_fetch(const float *memory, size_t floats);

#endif
