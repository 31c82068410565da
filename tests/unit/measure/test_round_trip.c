#include <criterion/criterion.h>

#include "measure/cores.h"
#include "measure/round_trip.h"

/* No signal crosses a chip and comes back in a nanosecond; no two cores are a millisecond apart. */
Test(round_trip, is_measured_between_cores_and_missing_without_a_second_one)
{
    dlb_value trip = dlb_round_trip_ns();
    cr_assert_eq(trip.known, dlb_cores_of_process()->physical > 1, "%s", trip.why);
    if (trip.known) {
        cr_expect_gt(trip.number, 1);
        cr_expect_lt(trip.number, 1e6);
    }
}

Test(round_trip, leaves_the_caller_where_it_may_run)
{
    dlb_cpus before, after;
    cr_assert(dlb_cpus_of_process(&before));
    dlb_round_trip_ns();
    cr_assert(dlb_cpus_of_process(&after));
    cr_assert_eq(memcmp(&before, &after, sizeof before), 0);
}
