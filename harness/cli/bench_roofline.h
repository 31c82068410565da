/* Operations below the roofs of a machine, as a picture. */
#ifndef DLB_CLI_BENCH_ROOFLINE_H
#define DLB_CLI_BENCH_ROOFLINE_H

#include <stddef.h>

#include "base/error.h"

typedef struct dlb_roofline_mark {
    const char *name;
    double seconds;   /* that it takes: the longest get a name in the legend; 0: never */
    double intensity; /* FLOP a byte */
    double gflops;
} dlb_roofline_mark;

typedef struct dlb_roofline {
    const char *title;
    int rounds;
    double peak, bandwidth; /* GFLOP/s, GB/s */
    size_t count;           /* at least one */
    const dlb_roofline_mark *marks;
} dlb_roofline;

/* Whether the path is one of a picture that can be drawn; and draw it. */
int dlb_roofline_check(const char *path, dlb_error *err);
int dlb_roofline_draw(const dlb_roofline *roofline, const char *path, dlb_error *err);

#endif
