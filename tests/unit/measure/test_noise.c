#include <criterion/criterion.h>
#include <math.h>

#include "measure/known_work.h"
#include "measure/noise.h"

static const char STAT_BEFORE[] = "cpu  300 0 0 300 0 0 0 0 0 0\n"
                                  "cpu0 100 0 0 100 0 0 0 0 0 0\n"
                                  "cpu1 100 0 0 100 0 0 0 0 0 0\n"
                                  "cpu10 100 0 0 100 0 0 0 0 0 0\n"
                                  "intr 5 1 2\n";
static const char STAT_AFTER[] = "cpu  600 0 0 300 0 0 0 900 40 0\n"
                                 "cpu0 150 10 10 110 5 3 2 10 40 0\n"
                                 "cpu1 100 0 0 200 0 0 0 0 0 0\n"
                                 "cpu10 100 0 0 100 0 0 0 890 0 0\n";

static dlb_value steal_on(const char *list)
{
    dlb_cpus cpus;
    cr_assert(dlb_cpus_parse(&cpus, list));
    return dlb_steal_pct(dlb_cpu_ticks_parse(STAT_BEFORE, &cpus),
                         dlb_cpu_ticks_parse(STAT_AFTER, &cpus));
}

Test(noise, steal_is_a_share_of_the_time_of_the_cpus_allowed)
{
    dlb_value one = steal_on("0"), two = steal_on("0-1");
    cr_assert(one.known && two.known);
    cr_expect_float_eq(one.number, 10.0, 1e-9, "guest time is part of user, not added: %g",
                       one.number);
    cr_expect_float_eq(two.number, 5.0, 1e-9);
}

Test(noise, another_machines_busy_cpus_do_not_count)
{
    dlb_value quiet = steal_on("1"), busy = steal_on("10");
    cr_assert(quiet.known && busy.known);
    cr_expect_eq(quiet.number, 0);
    cr_expect_float_eq(busy.number, 100.0, 1e-9);
}

Test(noise, what_proc_stat_does_not_tell_is_missing_and_not_zero)
{
    dlb_cpus cpus;
    cr_assert(dlb_cpus_parse(&cpus, "7"));
    dlb_cpu_ticks absent = dlb_cpu_ticks_parse(STAT_AFTER, &cpus);
    cr_expect_not(dlb_steal_pct(absent, absent).known);

    cr_assert(dlb_cpus_parse(&cpus, "0"));
    dlb_cpu_ticks old_kernel = dlb_cpu_ticks_parse("cpu0 1 2 3 4\n", &cpus);
    dlb_value steal = dlb_steal_pct(old_kernel, old_kernel);
    cr_expect_not(steal.known);
    cr_expect(isnan(steal.number));
    cr_expect_neq(steal.why[0], '\0');
}

Test(noise, a_window_without_a_tick_is_missing)
{
    dlb_cpus cpus;
    cr_assert(dlb_cpus_parse(&cpus, "0"));
    dlb_cpu_ticks now = dlb_cpu_ticks_parse(STAT_AFTER, &cpus);
    cr_expect_not(dlb_steal_pct(now, now).known);
}

Test(noise, load_is_the_first_of_three_means)
{
    dlb_value load = dlb_load_parse("2.75 1.50 0.25 3/800 1234\n");
    cr_assert(load.known);
    cr_expect_float_eq(load.number, 2.75, 1e-12);
    cr_expect_not(dlb_load_parse("").known);
}

Test(noise, a_real_window_is_either_measured_or_explained)
{
    dlb_noise start = dlb_noise_now();
    for (int i = 0; i < 20; i++)
        dlb_known_work();
    dlb_noise_report report = dlb_noise_since(&start);
    if (report.steal_pct.known)
        cr_expect(report.steal_pct.number >= 0 && report.steal_pct.number <= 100);
    else
        cr_expect_neq(report.steal_pct.why[0], '\0');
    cr_expect_geq(report.involuntary_switches, 0);
}
