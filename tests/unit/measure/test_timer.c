#include <criterion/criterion.h>

#include "measure/timer.h"

Test(timer, the_clock_moves_and_a_reading_takes_time)
{
    dlb_timer t = dlb_timer_measure();
    cr_expect_geq(t.step_ns, 1);
    cr_expect_gt(t.cost_ns, 0);
    cr_expect_geq(t.claimed_ns, 1);
}
