#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "recorded.h"
#include "support/tempdir.h"

/* ---- Open MPI ---- */

Test(launch, each_rank_gets_its_own_cores_where_there_are_enough)
{
    expect_command(&small, (dlb_launch){.ranks = 2, .threads = 1},
                   WORDS("-n", "2", "--map-by", "slot:PE=1", "--bind-to", "core"));
    expect_command(&wide, (dlb_launch){.ranks = 4, .threads = 4},
                   WORDS("-n", "4", "--map-by", "slot:PE=4", "--bind-to", "core"));
}

Test(launch, ranks_share_the_cores_and_yield_them_where_there_are_too_few)
{
    expect_command(&small, (dlb_launch){.ranks = 4, .threads = 1},
                   WORDS("-n", "4", "--map-by", "slot:OVERSUBSCRIBE", "--bind-to", "none", "--mca",
                         "mpi_yield_when_idle", "1"));
}

Test(launch, hardware_threads_are_no_cores)
{
    expect_command(&wide, (dlb_launch){.ranks = 32, .threads = 1},
                   WORDS("-n", "32", "--map-by", "slot:OVERSUBSCRIBE", "--bind-to", "none", "--mca",
                         "mpi_yield_when_idle", "1"));
    expect_command(
        &wide, (dlb_launch){.ranks = 32, .threads = 1, .binding = DLB_BINDING_HWTHREAD},
        WORDS("-n", "32", "--use-hwthread-cpus", "--map-by", "slot:PE=1", "--bind-to", "hwthread"));
}

Test(launch, ranks_per_node_are_what_counts_on_a_node)
{
    expect_command(&small, (dlb_launch){.ranks = 64, .ranks_per_node = 2, .threads = 1},
                   WORDS("-n", "64", "--map-by", "ppr:2:node:PE=1", "--bind-to", "core"));
    expect_command(&small, (dlb_launch){.ranks = 64, .ranks_per_node = 4, .threads = 1},
                   WORDS("-n", "64", "--map-by", "ppr:4:node:OVERSUBSCRIBE", "--bind-to", "none",
                         "--mca", "mpi_yield_when_idle", "1"));
}

Test(launch, the_nodes_of_a_batch_job_share_the_ranks)
{
    dlb_launch_machine job = small;
    job.nodes = 4;
    expect_command(
        &job, (dlb_launch){.ranks = 7, .threads = 1},
        WORDS("-n", "7", "--map-by", "ppr:2:node:PE=1,OVERSUBSCRIBE", "--bind-to", "core"));
    cr_assert(dlb_launch_oversubscribes(&(dlb_launch){.ranks = 9, .threads = 1}, &job));
}

Test(launch, sockets_can_be_shared)
{
    expect_command(&wide, (dlb_launch){.ranks = 4, .threads = 4, .binding = DLB_BINDING_SOCKET},
                   WORDS("-n", "4", "--map-by", "socket", "--bind-to", "socket"));
    expect_command(&small, (dlb_launch){.ranks = 4, .threads = 1, .binding = DLB_BINDING_SOCKET},
                   WORDS("-n", "4", "--map-by", "socket:OVERSUBSCRIBE", "--bind-to",
                         "socket:overload-allowed", "--mca", "mpi_yield_when_idle", "1"));
}

Test(launch, nothing_is_bound_on_request)
{
    expect_command(&wide, (dlb_launch){.ranks = 2, .threads = 1, .binding = DLB_BINDING_NONE},
                   WORDS("-n", "2", "--map-by", "slot", "--bind-to", "none"));
}

Test(launch, ranks_stay_on_the_cores_that_a_mask_leaves_them)
{
    dlb_launch_machine held = wide;
    held.cores = 4, held.hwthreads = 4, held.narrowed = true;
    expect_command(&held, (dlb_launch){.ranks = 2, .threads = 2},
                   WORDS("-n", "2", "--map-by", "slot", "--bind-to", "none"));
    dlb_launch bound = {.ranks = 2, .threads = 2, .binding = DLB_BINDING_CORE};
    cr_assert_not_null(strstr(expect_refusal(&held, bound, DLB_BAD_INPUT), "taskset"));
}

static bool binds(dlb_binding binding, const dlb_launch_machine *machine)
{
    return dlb_launch_binds(&(dlb_launch){.ranks = 2, .threads = 2, .binding = binding}, machine);
}

Test(launch, cpus_of_their_own_are_promised_only_where_ranks_are_bound_to_them)
{
    dlb_launch_machine held = wide, job = wide;
    held.narrowed = true;
    job.narrowed = job.slurm = true;
    snprintf(job.srun, sizeof job.srun, "/usr/bin/srun");
    cr_assert(binds(DLB_BINDING_AUTO, &wide));
    cr_assert(binds(DLB_BINDING_HWTHREAD, &wide));
    cr_assert(binds(DLB_BINDING_AUTO, &job)); /* a mask is of no concern to srun */
    cr_assert(!binds(DLB_BINDING_AUTO, &held));
    cr_assert(!binds(DLB_BINDING_AUTO, &small)); /* too few cores */
    cr_assert(!binds(DLB_BINDING_SOCKET, &wide));
    cr_assert(!binds(DLB_BINDING_NONE, &wide));
    cr_assert(!dlb_launch_binds(&(dlb_launch){.ranks = 1, .threads = 2}, &wide)); /* no launcher */
}

Test(launch, a_core_each_is_refused_where_there_are_too_few_and_what_fits_is_said)
{
    dlb_launch crowd = {.ranks = 4, .threads = 1, .binding = DLB_BINDING_CORE};
    const char *message = expect_refusal(&small, crowd, DLB_BAD_INPUT);
    cr_assert_not_null(strstr(message, "want 4 cores of their own, but 2 are allowed"));
    cr_assert_not_null(strstr(message, "ranks = 2 with threads = 1 would fit"));

    dlb_launch broad = {.ranks = 2, .threads = 40, .binding = DLB_BINDING_HWTHREAD};
    message = expect_refusal(&wide, broad, DLB_BAD_INPUT);
    cr_assert_not_null(strstr(message, "want 80 hardware threads"));
    cr_assert_not_null(strstr(message, "threads = 32 with ranks = 1 would fit"));
}

Test(launch, open_mpi_is_told_of_root_by_the_environment)
{
    dlb_launch_machine owned = small;
    owned.root = true;
    dlb_launch launch = {.ranks = 2, .threads = 1, .program = program};
    dlb_command_line line;
    cr_assert_eq(dlb_launch_command(&line, &launch, &owned, NULL), 0);
    expect_words(line.environment,
                 WORDS("OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"));
    dlb_command_line_release(&line);

    cr_assert_eq(dlb_launch_command(&line, &launch, &small, NULL), 0);
    cr_assert_eq(line.environment_count, 0);
    dlb_command_line_release(&line);
}

Test(launch, every_rank_sees_the_variables)
{
    dlb_launch launch = {.ranks = 2,
                         .threads = 1,
                         .program = program,
                         .environment = WORDS("KMP_BLOCKTIME=0", "DLBENCH_LAUNCHED=1")};
    expect_command(&small, launch,
                   WORDS("-n", "2", "--map-by", "slot:PE=1", "--bind-to", "core", "-x",
                         "KMP_BLOCKTIME", "-x", "DLBENCH_LAUNCHED"));
    dlb_command_line line;
    cr_assert_eq(dlb_launch_command(&line, &launch, &small, NULL), 0);
    expect_words(line.environment, launch.environment);
    dlb_command_line_release(&line);
}

Test(launch, the_last_value_of_a_variable_counts)
{
    dlb_launch launch = {.ranks = 2,
                         .threads = 1,
                         .program = program,
                         .environment = WORDS("OMP_NUM_THREADS=8", "A=b", "OMP_NUM_THREADS=1")};
    dlb_command_line line;
    cr_assert_eq(dlb_launch_command(&line, &launch, &small, NULL), 0);
    expect_words(line.environment, WORDS("OMP_NUM_THREADS=1", "A=b"));
    dlb_command_line_release(&line);
}

/* ---- Others ---- */

static dlb_launch_machine with_launcher(const char *version)
{
    dlb_launch_machine machine = wide;
    machine.root = true;
    snprintf(machine.version, sizeof machine.version, "%s", version);
    return machine;
}

Test(launch, mpich_has_flags_of_its_own)
{
    dlb_launch_machine machine = with_launcher(MPICH);
    dlb_launch launch = {.ranks = 4, .threads = 4};
    expect_command(&machine, launch, WORDS("-n", "4", "-bind-to", "core:4"));
    launch.binding = DLB_BINDING_SOCKET;
    expect_command(&machine, launch, WORDS("-n", "4", "-bind-to", "socket"));
    launch = (dlb_launch){.ranks = 64, .ranks_per_node = 32, .threads = 1};
    expect_command(&machine, launch, WORDS("-n", "64", "-ppn", "32", "-bind-to", "none"));
}

static void expect_intel_pinning(dlb_launch launch, const char *const *expected)
{
    dlb_launch_machine machine = with_launcher(INTEL);
    dlb_command_line line;
    launch.program = program;
    cr_assert_eq(dlb_launch_command(&line, &launch, &machine, NULL), 0);
    expect_words(line.environment, expected);
    dlb_command_line_release(&line);
}

Test(launch, intel_mpi_is_told_by_variables_and_counts_hardware_threads)
{
    expect_intel_pinning((dlb_launch){.ranks = 4, .threads = 4}, WORDS("I_MPI_PIN_DOMAIN=8"));
    expect_intel_pinning((dlb_launch){.ranks = 4, .threads = 4, .binding = DLB_BINDING_HWTHREAD},
                         WORDS("I_MPI_PIN_DOMAIN=4"));
    expect_intel_pinning((dlb_launch){.ranks = 99, .threads = 4}, WORDS("I_MPI_PIN=off"));
    dlb_launch_machine machine = with_launcher(INTEL);
    expect_command(&machine, (dlb_launch){.ranks = 8, .ranks_per_node = 2, .threads = 1},
                   WORDS("-n", "8", "-ppn", "2"));
}

Test(launch, each_launcher_is_asked_to_stop_in_the_way_that_spares_its_ranks)
{
    static const struct {
        const char *version;
        int number;
    } cases[] = {{OPEN_MPI, SIGUSR1}, {MPICH, SIGTERM}, {INTEL, SIGTERM}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dlb_launch_machine machine = with_launcher(cases[i].version);
        dlb_launch launch = {.ranks = 2, .threads = 1, .program = program};
        dlb_command_line line;
        cr_assert_eq(dlb_launch_command(&line, &launch, &machine, NULL), 0);
        cr_assert_eq(line.stop_signal, cases[i].number);
        dlb_command_line_release(&line);
    }
}

Test(launch, without_a_launcher_it_says_what_to_install)
{
    dlb_launch_machine bare = {.nodes = 1, .cores = 2, .hwthreads = 2};
    dlb_launch launch = {.ranks = 2, .threads = 1};
    cr_assert_not_null(strstr(expect_refusal(&bare, launch, DLB_FAIL), "install openmpi-bin"));
}

Test(launch, a_launcher_of_an_unknown_kind_is_named_with_its_answer)
{
    dlb_launch_machine machine = with_launcher("mpirun, the Marathon Planner 3\nmore");
    const char *message =
        expect_refusal(&machine, (dlb_launch){.ranks = 2, .threads = 1}, DLB_FAIL);
    cr_assert_not_null(strstr(message, "'mpirun, the Marathon Planner 3'"));
    cr_assert_not_null(strstr(message, "Open MPI, Intel MPI, MPICH"));
}

/* ---- Hardware threads of a core ---- */

Test(launch, a_rank_that_uses_both_threads_of_a_core_wants_half_the_cores)
{
    dlb_launch launch = {.ranks = 4, .threads = 8, .threads_per_core = 2};
    expect_command(&wide, launch, WORDS("-n", "4", "--map-by", "slot:PE=4", "--bind-to", "core"));
    cr_assert(!dlb_launch_oversubscribes(&launch, &wide));
    launch.threads = 7;
    cr_assert_eq(dlb_launch_wants(&launch, &wide), 16);
    launch.threads_per_core = 1;
    cr_assert(dlb_launch_oversubscribes(&launch, &wide));

    dlb_launch_machine machine = with_launcher(MPICH);
    expect_command(&machine, (dlb_launch){.ranks = 4, .threads = 8, .threads_per_core = 2},
                   WORDS("-n", "4", "-bind-to", "core:4"));
}

Test(launch, more_hardware_threads_than_a_core_has_are_refused)
{
    dlb_launch launch = {.ranks = 1, .threads = 4, .threads_per_core = 4};
    cr_assert_not_null(strstr(expect_refusal(&wide, launch, DLB_BAD_INPUT),
                              "threads_per_core = 4, but a core here has 2 hardware threads"));
    launch = (dlb_launch){
        .ranks = 2, .threads = 4, .threads_per_core = 1, .binding = DLB_BINDING_HWTHREAD};
    cr_assert_not_null(strstr(expect_refusal(&wide, launch, DLB_BAD_INPUT), "binding = core"));
}

/* ---- Options and tools ---- */

Test(launch, options_go_to_the_launcher_and_a_tool_stands_before_every_rank)
{
    expect_command(&small,
                   (dlb_launch){.ranks = 2,
                                .threads = 1,
                                .options = WORDS("--report-bindings", "--tag-output"),
                                .wrap = WORDS("perf", "record")},
                   WORDS("-n", "2", "--map-by", "slot:PE=1", "--bind-to", "core",
                         "--report-bindings", "--tag-output", "perf", "record"));
}

/* ---- Threads ---- */

Test(launch, the_cores_of_a_node_are_divided_among_its_ranks)
{
    cr_assert_eq(dlb_launch_threads(&(dlb_launch){.ranks = 3}, &wide), 5);
    cr_assert_eq(dlb_launch_threads(&(dlb_launch){.ranks = 64, .ranks_per_node = 4}, &wide), 4);
    cr_assert_eq(dlb_launch_threads(&(dlb_launch){.ranks = 4}, &small), 1);
    dlb_launch fine = {.ranks = 4, .binding = DLB_BINDING_HWTHREAD};
    cr_assert_eq(dlb_launch_threads(&fine, &wide), 8);
    dlb_launch both = {.ranks = 4, .threads_per_core = 2};
    cr_assert_eq(dlb_launch_threads(&both, &wide), 8);
}

/* ---- This machine ---- */

static tempdir programs;

static void setup_programs(void)
{
    tempdir_make(&programs);
    setenv("PATH", programs.path, 1);
    unsetenv("SLURM_MPI_TYPE");
}

static void teardown_programs(void)
{
    tempdir_remove(&programs);
}

/* A program that answers so is all that PATH leads to. */
static void install(const char *name, const char *script)
{
    const char *path = tempdir_file(&programs, name);
    FILE *file = fopen(path, "w");
    fprintf(file, "#!/bin/sh\n%s\n", script);
    fclose(file);
    chmod(path, 0755);
}

TestSuite(here, .init = setup_programs, .fini = teardown_programs, .timeout = 60);

Test(here, this_machine_has_cores_and_its_launcher_is_asked_who_it_is)
{
    dlb_launch_machine machine;
    install("mpiexec", "echo \"HYDRA $1\"");
    dlb_launch_here(&machine);
    cr_assert_str_eq(machine.mpirun, tempdir_file(&programs, "mpiexec"));
    cr_assert_str_eq(machine.version, "HYDRA --version\n");
    cr_assert_geq(machine.cores, 1);
    cr_assert_geq(machine.hwthreads, machine.cores);
}

Test(here, without_a_launcher_there_is_none)
{
    dlb_launch_machine machine;
    dlb_launch_here(&machine);
    cr_assert_str_eq(machine.mpirun, "");
    cr_assert_str_eq(machine.srun, "");
}

Test(here, nobody_is_asked_for_one_rank)
{
    dlb_launch_machine machine;
    install("mpirun", ">asked");
    cr_assert_eq(chdir(programs.path), 0);
    dlb_launch_here_alone(&machine);
    cr_assert_geq(machine.cores, 1);
    cr_assert_neq(access("asked", F_OK), 0);
}

Test(here, a_batch_system_tells_of_its_job)
{
    dlb_launch_machine machine;
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_JOB_NUM_NODES", "12", 1);
    dlb_launch_here(&machine);
    cr_assert(machine.slurm && !machine.cobalt);
    cr_assert_eq(machine.nodes, 12);
}

/* What srun and scontrol of Slurm 22.05 answer. */
static const char *srun_mpi_with_default(const char *kind)
{
    static dlb_launch_machine machine;
    char config[256];
    snprintf(config, sizeof config,
             "echo 'MinJobAge               = 300 sec'; echo 'MpiDefault              = %s'; "
             "echo 'MpiParams               = none'",
             kind);
    setenv("SLURM_JOB_ID", "7", 1);
    install("mpirun", "echo 'mpirun (Open MPI) 4.1.4'");
    install("scontrol", config);
    install("srun", "echo 'MPI plugin types are...'; echo '\tpmix'; echo '\tnone'");
    dlb_launch_here(&machine);
    return machine.srun_mpi;
}

Test(here, an_srun_that_tells_ranks_nothing_of_each_other_is_told_to)
{
    cr_assert_str_eq(srun_mpi_with_default("none"), "pmix");
}

Test(here, what_the_cluster_or_the_user_chose_is_left_to_srun)
{
    cr_assert_str_eq(srun_mpi_with_default("pmi2"), "");
    setenv("SLURM_MPI_TYPE", "pmi2", 1);
    cr_assert_str_eq(srun_mpi_with_default("none"), "");
}

/* ---- For people ---- */

Test(launch, a_command_is_shown_as_a_shell_would_take_it)
{
    dlb_launch launch = {.ranks = 2,
                         .threads = 1,
                         .program = WORDS("/opt/dl bench", "train", "--trace", "it's", "--csv", ""),
                         .environment = WORDS("KMP_AFFINITY=granularity=fine,compact;1")};
    dlb_command_line line;
    cr_assert_eq(dlb_launch_command(&line, &launch, &small, NULL), 0);
    dlb_str text = DLB_STR_INIT;
    dlb_command_line_describe(&line, &text);
    cr_assert_str_eq(text.text, "KMP_AFFINITY='granularity=fine,compact;1' /usr/bin/mpirun -n 2 "
                                "--map-by slot:PE=1 --bind-to core -x KMP_AFFINITY "
                                "'/opt/dl bench' train --trace 'it'\\''s' --csv ''");
    dlb_str_release(&text);
    dlb_command_line_release(&line);
}
