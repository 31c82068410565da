#include <criterion/criterion.h>
#include <unistd.h>

#include "dlk/dispatch.h"
#include "machines.h"
#include "measure/host.h"

int MPI_Initialized(int *flag); /* mpi.h is private to the library */

Test(host, a_recorded_guest_is_recognised)
{
    dlb_host h;
    dlb_host_probe(&h, MACHINE("kvm-guest"));
    cr_expect_str_eq(h.name, "guest");
    cr_expect_str_eq(h.kernel, "6.1.0-18-cloud-amd64");
    cr_expect_str_eq(h.cpu, "Intel(R) Xeon(R) Processor");
    cr_expect_neq(h.hypervisor[0], '\0');
    cr_expect_str_eq(h.governor, "", "a guest has no frequency control");
    cr_expect_str_eq(h.turbo, "");
    cr_expect_str_eq(h.thp, "madvise");
    cr_expect_str_eq(h.clocksource, "tsc");
    cr_assert(h.steal_pct.known);
    cr_expect(h.steal_pct.number > 1 && h.steal_pct.number < 3, "%g", h.steal_pct.number);
    cr_expect_not(h.energy.known);
}

Test(host, a_recorded_node_is_recognised)
{
    dlb_host h;
    dlb_host_probe(&h, MACHINE("two-socket-smt"));
    cr_expect_str_eq(h.hypervisor, "", "bare metal");
    cr_expect_str_eq(h.governor, "powersave");
    cr_expect_str_eq(h.turbo, "on", "no_turbo is 0");
    cr_expect_str_eq(h.thp, "never");
    cr_expect_str_eq(h.isa, "sse4.2 avx f16c avx2 fma avx512f avx512bw avx512vl avx512_vnni");
    cr_expect_eq(h.topology.sockets, 2);
    cr_assert(h.memory_total.known);
    cr_expect_eq(h.memory_total.number, 197536128.0 * 1024);
    cr_expect(h.energy.known);
}

Test(host, instruction_sets_are_whole_words)
{
    dlb_host h;
    dlb_host_probe(&h, MACHINE("container"));
    cr_expect_str_eq(h.isa, "sse4.2 avx f16c avx2 fma", "%s", h.isa);
    cr_expect_str_eq(h.turbo, "off", "boost is 0");
}

Test(host, what_a_machine_does_not_tell_is_missing_and_not_zero)
{
    dlb_host h;
    dlb_host_probe(&h, MACHINE("container-v1"));
    cr_expect_str_eq(h.cpu, "");
    cr_expect_not(h.memory_total.known);
    cr_expect_not(h.load.known);
    cr_expect_not(h.steal_pct.known);
    cr_expect_not(h.peak_one.known);
}

Test(host, this_machine_is_probed_without_starting_mpi)
{
    dlk_kernels kernels;
    dlb_error err;
    cr_assert_eq(dlk_kernels_select(&kernels, DLK_FAMILY_AUTO, DLK_ISA_AUTO, &err), 0, "%s",
                 err.message);
    static dlb_host h;
    dlb_host_probe(&h, "");
    int started = 1;
    MPI_Initialized(&started);
    cr_expect_not(started);
    cr_expect_neq(h.mpi[0], '\0');

    char name[128];
    gethostname(name, sizeof name);
    cr_expect_str_eq(h.name, name);
    cr_expect(h.blas.loaded);
    cr_expect_not(h.blas.threaded);
    cr_expect_eq(h.blas_libraries.count, 1, "one BLAS only, but also %s", h.blas_libraries.path[1]);
    cr_expect_str_eq(h.blas.path, h.blas_libraries.path[0]);
    cr_expect_str_eq(h.best_isa, dlk_isa_name(dlk_isa_best()));
    cr_expect_gt(h.timer.cost_ns, 0);
    cr_expect_eq(h.cores.allowed, dlb_cores_allowed());
}

Test(host, every_event_works_or_says_why_not)
{
    static dlb_host h;
    dlb_host_probe_counters(&h);
    cr_assert_gt(h.event_count, 0);
    for (int i = 0; i < h.event_count; i++)
        cr_expect(h.events[i].works || h.events[i].why[0], "%s", h.events[i].name);
}
