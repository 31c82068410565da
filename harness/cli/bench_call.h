/* What benchmarks time. */
#ifndef DLB_CLI_BENCH_CALL_H
#define DLB_CLI_BENCH_CALL_H

/* What is timed: one call is a batch, or an update of all parameters. */
typedef struct dlb_kernel_call {
    void *self;
    void (*run)(void *self);     /* NULL: there is none */
    void (*prepare)(void *self); /* before a measurement; NULL: nothing */
    int repeats;                 /* calls in a measurement, so that it lasts long enough */
} dlb_kernel_call;

void dlb_kernel_call_prepare(const dlb_kernel_call *call);

/* So many calls take so long, by the time of some that are made for that. */
int dlb_kernel_call_repeats(const dlb_kernel_call *call, double seconds);

#endif
