/* Ascending copies: what order statistics are read from. */
#ifndef DLB_STATS_ORDER_H
#define DLB_STATS_ORDER_H

#include <stddef.h>

/* The values that are not missing (NaN), ascending; *known: how many. free() it. */
double *dlb_ascending(const double *values, size_t count, size_t *known);

#endif
