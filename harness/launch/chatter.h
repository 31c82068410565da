/*
 * What a launcher says, without the messages that nobody needs.
 *
 * A message is a line, or a box: all that stands between two lines of dashes, as Open MPI prints
 * its own. One in which any of the phrases stands is left out. What the ranks print passes through
 * line by line.
 */
#ifndef DLB_LAUNCH_CHATTER_H
#define DLB_LAUNCH_CHATTER_H

#include <stdbool.h>

#include "base/str.h"

typedef struct dlb_chatter {
    const char *const *phrases; /* ended by NULL */
    dlb_str line;               /* begun, but not ended */
    dlb_str box;                /* begun, but not ended */
} dlb_chatter;

/* Take in bytes as they come, and append to *kept what is to be shown. */
void dlb_chatter_filter(dlb_chatter *chatter, const char *bytes, size_t count, dlb_str *kept);

/* Nothing more will come: append what was held back, and release everything. */
void dlb_chatter_end(dlb_chatter *chatter, dlb_str *kept);

#endif
