#include <signal.h>

#include "recorded.h"

/* A node of ARCHER2: two sockets of 64 cores with two hardware threads each. */
static const dlb_launch_machine archer2 = {.nodes = 4,
                                           .cores = 128,
                                           .hwthreads = 256,
                                           .narrowed = true, /* of no concern to srun */
                                           .slurm = true,
                                           .mpirun = "/usr/bin/mpirun",
                                           .version = OPEN_MPI,
                                           .srun = "/usr/bin/srun",
                                           .srun_mpi = ""};

/* The service node of Theta that scripts run on; the ranks run on nodes of 64 cores. */
static const dlb_launch_machine theta = {.nodes = 4,
                                         .cores = 8,
                                         .hwthreads = 8,
                                         .cobalt = true,
                                         .aprun = "/opt/cray/alps/default/bin/aprun"};

static void expect_srun(dlb_launch launch, const char *const *expected)
{
    expect_command_of(archer2.srun, &archer2, launch, expected);
}

static void expect_aprun(dlb_launch launch, const char *const *expected)
{
    expect_command_of(theta.aprun, &theta, launch, expected);
}

static const char *starter(dlb_starter asked, int ranks, const dlb_launch_machine *machine)
{
    return dlb_launch_starter(&(dlb_launch){.starter = asked, .ranks = ranks, .threads = 1},
                              machine);
}

/* ---- Who ---- */

Test(starters, one_rank_is_started_as_it_is)
{
    cr_assert_str_eq(starter(DLB_STARTER_AUTO, 1, &small), "none");
    cr_assert_str_eq(starter(DLB_STARTER_AUTO, 1, &archer2), "none");
}

Test(starters, ranks_are_started_by_the_batch_system_where_there_is_one)
{
    cr_assert_str_eq(starter(DLB_STARTER_AUTO, 2, &small), "mpirun");
    cr_assert_str_eq(starter(DLB_STARTER_AUTO, 2, &archer2), "srun");
    cr_assert_str_eq(starter(DLB_STARTER_AUTO, 2, &theta), "aprun");
}

Test(starters, a_program_of_a_batch_system_is_not_used_outside_of_its_jobs)
{
    dlb_launch_machine login = archer2;
    login.slurm = false;
    cr_assert_str_eq(starter(DLB_STARTER_AUTO, 2, &login), "mpirun");
}

Test(starters, a_wish_counts)
{
    cr_assert_str_eq(starter(DLB_STARTER_MPIRUN, 1, &archer2), "mpirun");
    cr_assert_str_eq(starter(DLB_STARTER_SRUN, 1, &archer2), "srun");
}

Test(starters, a_launcher_that_is_not_there_is_named)
{
    dlb_launch launch = {.starter = DLB_STARTER_SRUN, .ranks = 2, .threads = 1};
    cr_assert_not_null(strstr(expect_refusal(&small, launch, DLB_FAIL), "no srun is on PATH"));
    launch.starter = DLB_STARTER_APRUN;
    cr_assert_not_null(strstr(expect_refusal(&small, launch, DLB_FAIL), "no aprun is on PATH"));
}

/* ---- Nobody ---- */

Test(starters, without_a_launcher_the_command_is_the_program)
{
    dlb_launch launch = {.ranks = 1, .threads = 2, .options = WORDS("--verbose")};
    expect_command_of(NULL, &small, launch, WORDS_NONE);
    launch.wrap = WORDS("perf", "record", "-o", "perf.data");
    expect_command_of(NULL, &small, launch, WORDS("perf", "record", "-o", "perf.data"));
}

Test(starters, without_a_launcher_the_program_finds_the_variables_and_is_asked_politely)
{
    dlb_launch launch = {.ranks = 1,
                         .threads = 2,
                         .program = program,
                         .environment = WORDS("OMP_NUM_THREADS=2", "KMP_BLOCKTIME=0")};
    dlb_command_line line;
    cr_assert_eq(dlb_launch_command(&line, &launch, &small, NULL), 0);
    expect_words(line.environment, launch.environment);
    cr_assert_eq(line.stop_signal, SIGTERM);
    cr_assert_null(line.chatter);
    dlb_command_line_release(&line);
}

Test(starters, without_a_launcher_there_is_one_rank)
{
    dlb_launch launch = {.starter = DLB_STARTER_NONE, .ranks = 4, .threads = 1};
    cr_assert_not_null(strstr(expect_refusal(&small, launch, DLB_BAD_INPUT), "ranks = 4"));
}

Test(starters, without_a_launcher_threads_may_share_cores)
{
    dlb_launch launch = {.ranks = 1, .threads = 8, .binding = DLB_BINDING_CORE};
    expect_command_of(NULL, &small, launch, WORDS_NONE);
}

/* ---- srun ---- */

Test(starters, srun_gives_each_rank_cores_and_leaves_their_second_thread_alone)
{
    expect_srun((dlb_launch){.ranks = 32, .ranks_per_node = 8, .threads = 16},
                WORDS("--nodes", "4", "--ntasks", "32", "--ntasks-per-node", "8", "--cpus-per-task",
                      "16", "--threads-per-core", "1", "--cpu-bind=cores", "--kill-on-bad-exit=1",
                      "--overlap"));
}

Test(starters, srun_counts_hardware_threads)
{
    expect_srun((dlb_launch){.ranks = 4, .threads = 256, .threads_per_core = 2},
                WORDS("--nodes", "4", "--ntasks", "4", "--cpus-per-task", "256",
                      "--threads-per-core", "2", "--cpu-bind=cores", "--kill-on-bad-exit=1",
                      "--overlap"));
    expect_srun((dlb_launch){.ranks = 4, .threads = 256, .binding = DLB_BINDING_HWTHREAD},
                WORDS("--nodes", "4", "--ntasks", "4", "--cpus-per-task", "256",
                      "--cpu-bind=threads", "--kill-on-bad-exit=1", "--overlap"));
}

Test(starters, srun_takes_no_more_nodes_than_ranks)
{
    expect_srun((dlb_launch){.ranks = 2, .threads = 1, .binding = DLB_BINDING_SOCKET},
                WORDS("--nodes", "2", "--ntasks", "2", "--cpus-per-task", "1", "--cpu-bind=sockets",
                      "--kill-on-bad-exit=1", "--overlap"));
}

Test(starters, srun_lets_ranks_share_cores_where_there_are_too_few)
{
    expect_srun((dlb_launch){.ranks = 1024, .threads = 1},
                WORDS("--nodes", "4", "--ntasks", "1024", "--overcommit", "--cpu-bind=none",
                      "--kill-on-bad-exit=1", "--overlap"));
}

Test(starters, srun_is_told_of_mpi_where_its_own_default_does_not_serve)
{
    dlb_launch_machine machine = archer2;
    snprintf(machine.srun_mpi, sizeof machine.srun_mpi, "pmix");
    dlb_launch launch = {.ranks = 4,
                         .threads = 1,
                         .binding = DLB_BINDING_NONE,
                         .options = WORDS("--mpi=cray_shasta")}; /* the last one counts */
    expect_command_of(machine.srun, &machine, launch,
                      WORDS("--nodes", "4", "--ntasks", "4", "--cpus-per-task", "1",
                            "--cpu-bind=none", "--kill-on-bad-exit=1", "--overlap", "--mpi=pmix",
                            "--mpi=cray_shasta"));
}

/* ---- aprun ---- */

Test(starters, aprun_places_as_on_the_pages_of_theta)
{
    expect_aprun((dlb_launch){.ranks = 16,
                              .ranks_per_node = 4,
                              .threads = 32,
                              .threads_per_core = 2,
                              .environment = WORDS("OMP_NUM_THREADS=32", "KMP_BLOCKTIME=0")},
                 WORDS("-n", "16", "-N", "4", "-d", "32", "-j", "2", "-cc", "depth", "-e",
                       "OMP_NUM_THREADS=32", "-e", "KMP_BLOCKTIME=0"));
}

Test(starters, aprun_binds_as_asked)
{
    dlb_launch launch = {.ranks = 4, .threads = 64, .binding = DLB_BINDING_NONE};
    expect_aprun(launch, WORDS("-n", "4", "-d", "64", "-cc", "none"));
    launch.binding = DLB_BINDING_SOCKET;
    expect_aprun(launch, WORDS("-n", "4", "-d", "64", "-cc", "numa_node"));
    launch.binding = DLB_BINDING_HWTHREAD;
    expect_aprun(launch, WORDS("-n", "4", "-d", "64", "-j", "0", "-cc", "depth"));
}

Test(starters, the_cores_of_the_service_node_do_not_bound_those_of_the_ranks)
{
    dlb_launch launch = {
        .ranks = 4, .threads = 64, .threads_per_core = 4, .binding = DLB_BINDING_CORE};
    expect_aprun(launch, WORDS("-n", "4", "-d", "64", "-j", "4", "-cc", "depth"));
    cr_assert(!dlb_launch_oversubscribes(&launch, &theta));
}

/* ---- Stopping ---- */

Test(starters, batch_systems_hand_the_stop_signal_on)
{
    const dlb_launch_machine *const machines[] = {&archer2, &theta};
    for (int i = 0; i < 2; i++) {
        dlb_launch launch = {.ranks = 4, .threads = 1, .program = program};
        dlb_command_line line;
        cr_assert_eq(dlb_launch_command(&line, &launch, machines[i], NULL), 0);
        cr_assert_eq(line.stop_signal, SIGUSR1);
        dlb_command_line_release(&line);
    }
}
