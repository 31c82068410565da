#include "cli/bench_call.h"

#include <unistd.h>

#include <criterion/criterion.h>

static void run_slow_once(void *self)
{
    int *calls = self;
    if ((*calls)++ == 0)
        usleep(150000);
}

Test(bench_call, a_first_call_that_makes_room_does_not_make_slices_short)
{
    int calls = 0;
    const dlb_kernel_call call = {&calls, run_slow_once, NULL, 1};
    cr_assert_gt(dlb_kernel_call_repeats(&call, 0.1), 1);
}

static void run_slow(void *self)
{
    (void)self;
    usleep(2000);
}

Test(bench_call, what_takes_longer_than_a_slice_is_one_by_itself)
{
    const dlb_kernel_call call = {NULL, run_slow, NULL, 1};
    cr_assert_eq(dlb_kernel_call_repeats(&call, 0.001), 1);
}
