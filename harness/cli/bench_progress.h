/* How far a measurement is: on a terminal one line, rewritten; elsewhere a plain line now and then.
 */
#ifndef DLB_CLI_BENCH_PROGRESS_H
#define DLB_CLI_BENCH_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

/* A zeroed one shows nothing. */
typedef struct dlb_bench_progress {
    FILE *out;
    bool terminal;
    double last_shown; /* dlb_clock_s; 0: nothing yet */
    double began; /* dlb_clock_s, when parts of the work began to be counted; 0: they are not */
    double share; /* of the work that is done, since then */
} dlb_bench_progress;

void dlb_bench_progress_init(dlb_bench_progress *progress, FILE *out);

void dlb_bench_progress_show(dlb_bench_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* So many parts of all that there are, each as long, are done: what is shown next says how long the
 * rest takes. 0 is where the work begins. */
void dlb_bench_progress_count(dlb_bench_progress *progress, size_t done, size_t all);

/* Take a rewritten line away, so that what is printed next begins on its own. */
void dlb_bench_progress_clear(dlb_bench_progress *progress);

#endif
