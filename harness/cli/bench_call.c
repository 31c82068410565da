#include "cli/bench_call.h"

#include <math.h>

#include "base/clock.h"

enum { CALLS_MAX = 1000000 };

void dlb_kernel_call_prepare(const dlb_kernel_call *call)
{
    if (call->prepare)
        call->prepare(call->self);
}

int dlb_kernel_call_repeats(const dlb_kernel_call *call, double seconds)
{
    int64_t start = dlb_clock_ns();
    call->run(call->self);
    double taken = 1e-9 * (double)(dlb_clock_ns() - start);
    return (int)fmin(ceil(seconds / fmax(taken, 1e-9)), CALLS_MAX);
}
