#include <criterion/criterion.h>
#include <sched.h>
#include <unistd.h>

#include "machines.h"
#include "measure/cores.h"

Test(cores, a_machine_without_limits_allows_its_mask)
{
    dlb_cores c;
    dlb_cores_probe(&c, MACHINE("kvm-guest"));
    cr_expect_eq(c.count, 2);
    cr_expect_eq(c.physical, 2);
    cr_expect_eq(c.sockets, 1);
    cr_expect_eq(c.allowed, 2);
    cr_expect_not(c.quota.known);
    cr_expect_not(c.memory_limit.known, "the largest multiple of a page means no limit");
}

Test(cores, hardware_threads_of_one_core_are_counted_once)
{
    dlb_cores c;
    dlb_cores_probe(&c, MACHINE("two-socket-smt"));
    cr_expect_eq(c.count, 16);
    cr_expect_eq(c.physical, 8);
    cr_expect_eq(c.sockets, 2);
}

Test(cores, the_tightest_group_on_the_way_up_counts)
{
    dlb_cores c;
    dlb_cores_probe(&c, MACHINE("container"));
    cr_expect_eq(c.count, 4);
    cr_assert(c.quota.known);
    cr_expect_float_eq(c.quota.number, 1.5, 1e-12);
    cr_expect_eq(c.allowed, 2, "ceil(1.5), not %d", c.allowed);
    cr_assert(c.memory_limit.known);
    cr_expect_eq(c.memory_limit.number, 512 * 1024.0 * 1024);
}

Test(cores, version_1_limits_are_found_through_the_mount_of_the_group)
{
    dlb_cores c;
    dlb_cores_probe(&c, MACHINE("container-v1"));
    cr_assert(c.quota.known);
    cr_expect_float_eq(c.quota.number, 2.5, 1e-12);
    cr_expect_eq(c.allowed, 3);
    cr_assert(c.memory_limit.known);
    cr_expect_eq(c.memory_limit.number, 4 * 1024.0 * 1024 * 1024);
}

Test(cores, unknown_topology_is_not_taken_for_smt)
{
    dlb_cores c;
    dlb_cores_probe(&c, MACHINE("container-v1"));
    cr_expect_eq(c.count, 8);
    cr_expect_eq(c.physical, 8);
    cr_expect_eq(c.sockets, 1);
}

/* What an OpenMP runtime does to the main thread when it binds its threads. */
Test(cores, later_binding_does_not_change_what_the_process_is_allowed)
{
    int before = dlb_cores_allowed();
    dlb_cpus mask;
    cr_assert(dlb_cpus_of_process(&mask));
    dlb_cpus one = {{0}};
    dlb_cpus_add(&one, dlb_cpus_next(&mask, -1));
    cr_assert_eq(sched_setaffinity(0, sizeof one.bits, (cpu_set_t *)one.bits), 0);
    cr_expect_eq(dlb_cores_allowed(), before);
    cr_expect_geq(before, 1);
    cr_expect_geq(dlb_sockets_spanned(), 1);
}
