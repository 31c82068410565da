#include <criterion/criterion.h>

#include "base/clock.h"

Test(clock, time_never_goes_back)
{
    int64_t before = dlb_clock_ns();
    for (int i = 0; i < 1000; i++) {
        int64_t now = dlb_clock_ns();
        cr_assert_geq(now, before);
        before = now;
    }
}

Test(clock, seconds_and_nanoseconds_share_an_origin)
{
    int64_t before = dlb_clock_ns();
    double seconds = dlb_clock_s();
    int64_t after = dlb_clock_ns();
    cr_assert_geq(seconds, 1e-9 * (double)before);
    cr_assert_leq(seconds, 1e-9 * (double)after);
}
