#include "cli/bench_call.h"

#include <math.h>

#include "base/clock.h"

enum { CALLS_MAX = 1000000 };

void dlb_kernel_call_prepare(const dlb_kernel_call *call)
{
    if (call->prepare)
        call->prepare(call->self);
}

/* Seconds of so many calls. */
static double time_calls(const dlb_kernel_call *call, int calls)
{
    int64_t start = dlb_clock_ns();
    for (int i = 0; i < calls; i++)
        call->run(call->self);
    return 1e-9 * (double)(dlb_clock_ns() - start);
}

/* A first call may find nothing in the caches, or make room for what it computes, and any may be
 * held up by somebody: so the shorter of two counts, and then so many more are made that they take
 * a good part of the time. */
int dlb_kernel_call_repeats(const dlb_kernel_call *call, double seconds)
{
    int calls = 1;
    double first = time_calls(call, calls), second = time_calls(call, calls);
    double taken = fmin(first, second);
    while (taken < seconds / 4 && calls < CALLS_MAX / 4) {
        calls *= 2;
        taken = time_calls(call, calls);
    }
    return (int)fmin(ceil(seconds * calls / fmax(taken, 1e-9)), CALLS_MAX);
}
