#include <criterion/criterion.h>

#include "machines.h"
#include "measure/topology.h"

Test(topology, sockets_cores_threads_and_caches_are_counted)
{
    dlb_topology t;
    dlb_error err;
    cr_assert_eq(dlb_topology_probe(&t, MACHINE("two-socket-smt"), &err), 0, "%s", err.message);
    cr_expect_eq(t.sockets, 2);
    cr_expect_eq(t.numa_nodes, 2);
    cr_expect_eq(t.cores, 8);
    cr_expect_eq(t.cpus, 16);
    cr_assert_eq(t.cache_count, 4);
    cr_expect_str_eq(t.caches[0].kind, "d");
    cr_expect_eq(t.caches[0].bytes, 32 * 1024.0);
    cr_expect_eq(t.caches[3].level, 3);
    cr_expect_eq(t.caches[3].count, 2);
}

Test(topology, a_machine_that_cannot_be_read_is_an_error_with_its_path)
{
    dlb_topology t;
    dlb_error err;
    cr_assert_lt(dlb_topology_probe(&t, MACHINE("container"), &err), 0);
    cr_expect_not_null(strstr(err.message, "topology.xml"), "%s", err.message);
    cr_expect_eq(t.cores, 0);
}

Test(topology, this_machine_has_a_core)
{
    dlb_topology t;
    dlb_error err;
    cr_assert_eq(dlb_topology_probe(&t, "", &err), 0, "%s", err.message);
    cr_expect_geq(t.cores, 1);
    cr_expect_geq(t.cpus, t.cores);
}
