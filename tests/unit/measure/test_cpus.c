#include <criterion/criterion.h>

#include "measure/cpus.h"

static void expect_round_trip(const char *list)
{
    dlb_cpus cpus;
    dlb_str text = DLB_STR_INIT;
    cr_assert(dlb_cpus_parse(&cpus, list), "%s", list);
    dlb_cpus_format(&cpus, &text);
    cr_expect_str_eq(text.text, list);
    dlb_str_release(&text);
}

Test(cpus, lists_are_read_and_written_as_the_kernel_does)
{
    expect_round_trip("0");
    expect_round_trip("0-3,8");
    expect_round_trip("5,7,63-64,4095");
}

Test(cpus, members_are_counted_and_visited_in_order)
{
    dlb_cpus cpus;
    cr_assert(dlb_cpus_parse(&cpus, "2-3,130"));
    cr_expect_eq(dlb_cpus_count(&cpus), 3);
    cr_expect_eq(dlb_cpus_next(&cpus, -1), 2);
    cr_expect_eq(dlb_cpus_next(&cpus, 2), 3);
    cr_expect_eq(dlb_cpus_next(&cpus, 3), 130);
    cr_expect_eq(dlb_cpus_next(&cpus, 130), -1);
    cr_expect_eq(dlb_cpus_at(&cpus, 0), 2);
    cr_expect_eq(dlb_cpus_at(&cpus, 2), 130);
    cr_expect_eq(dlb_cpus_at(&cpus, 4), 3, "they begin again");
}

Test(cpus, anything_else_is_refused_and_leaves_the_set_empty)
{
    const char *const wrong[] = {"",     "a",  "1-",   "3-1",     "-2",
                                 "1,,2", "1,", "4096", "0-99999", "1 2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        dlb_cpus cpus;
        cr_expect_not(dlb_cpus_parse(&cpus, wrong[i]), "'%s'", wrong[i]);
        cr_expect_eq(dlb_cpus_count(&cpus), 0, "'%s'", wrong[i]);
    }
}

Test(cpus, a_process_may_run_somewhere)
{
    dlb_cpus cpus;
    cr_assert(dlb_cpus_of_process(&cpus));
    cr_expect_geq(dlb_cpus_count(&cpus), 1);
}
