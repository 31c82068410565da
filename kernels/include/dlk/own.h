/*
 * A line of memory that another core has in its caches cannot be written before that core has given
 * it up. A loop that writes line after line waits for each; asked for together, they come several
 * times as fast.
 */
#ifndef DLK_OWN_H
#define DLK_OWN_H

#include <stddef.h>

/* Ask for the lines of memory that is about to be overwritten, or read and written. */
void dlk_own(const float *memory, size_t floats);

#endif
