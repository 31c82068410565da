/* The launchers of batch systems, which know the nodes that a job was allotted. */
#include <signal.h>

#include "launch/command_line.h"
#include "launch/launcher.h"

static void add_number(dlb_command_line *line, const char *option, int number)
{
    dlb_command_line_add(line, option);
    dlb_command_line_addf(line, "%d", number);
}

/* ---- Slurm ---- */

/* What it says of exit codes, our ranks say better; and --ntasks-per-node may be of the job. */
static const char *const SRUN_CHATTER[] = {
    ": Exited with exit code ",
    "Terminating StepId=",
    "Job step aborted: Waiting up to",
    "Ignoring --ntasks-per-node",
    NULL,
};

static const char *const SRUN_BINDINGS[] = {
    [DLB_BINDING_CORE] = "cores",
    [DLB_BINDING_HWTHREAD] = "threads",
    [DLB_BINDING_SOCKET] = "sockets",
    [DLB_BINDING_NONE] = "none",
};

static void add_srun_counts(dlb_command_line *line, const dlb_launch *launch,
                            const dlb_launch_machine *machine)
{
    int of_node = dlb_launch_ranks_of_node(launch, machine);
    if (machine->slurm)
        add_number(line, "--nodes", (launch->ranks + of_node - 1) / of_node);
    add_number(line, "--ntasks", launch->ranks);
    if (launch->ranks_per_node)
        add_number(line, "--ntasks-per-node", launch->ranks_per_node);
}

/*
 * Its CPUs are hardware threads, of which a core is to have one for each that is used. --hint would
 * say so, too, but not together with --cpu-bind.
 */
static void add_srun_cpus(dlb_command_line *line, const dlb_launch *launch,
                          const dlb_launch_machine *machine)
{
    bool own_cores = launch->binding == DLB_BINDING_CORE;
    int per_core = own_cores && !launch->threads_per_core ? 1 : launch->threads_per_core;
    if (dlb_launch_oversubscribes(launch, machine))
        dlb_command_line_add(line, "--overcommit");
    else
        add_number(line, "--cpus-per-task", launch->threads);
    if (per_core)
        add_number(line, "--threads-per-core", per_core);
    dlb_command_line_addf(line, "--cpu-bind=%s", SRUN_BINDINGS[launch->binding]);
}

/* It hands on the whole environment. A step that may overlap starts also from within another. */
static void build_srun(dlb_command_line *line, const dlb_launch *launch,
                       const dlb_launch_machine *machine)
{
    add_srun_counts(line, launch, machine);
    add_srun_cpus(line, launch, machine);
    dlb_command_line_add(line, "--kill-on-bad-exit=1");
    dlb_command_line_add(line, "--overlap");
    if (machine->srun_mpi[0])
        dlb_command_line_addf(line, "--mpi=%s", machine->srun_mpi);
}

/* SIGTERM makes srun kill the ranks; SIGINT makes it tell their state. */
const dlb_launcher dlb_launcher_srun = {
    .name = "srun", .stop_signal = SIGUSR1, .chatter = SRUN_CHATTER, .build = build_srun};

/* ---- ALPS, the launcher of Cray systems under Cobalt ---- */

static const char *const APRUN_BINDINGS[] = {
    [DLB_BINDING_CORE] = "depth",
    [DLB_BINDING_HWTHREAD] = "depth",
    [DLB_BINDING_SOCKET] = "numa_node",
    [DLB_BINDING_NONE] = "none",
};

/* Its depth counts hardware threads, -j of a core; -j 0 are all of them. */
static void build_aprun(dlb_command_line *line, const dlb_launch *launch,
                        const dlb_launch_machine *machine)
{
    (void)machine;
    add_number(line, "-n", launch->ranks);
    if (launch->ranks_per_node)
        add_number(line, "-N", launch->ranks_per_node);
    add_number(line, "-d", launch->threads);
    if (launch->threads_per_core || launch->binding == DLB_BINDING_HWTHREAD)
        add_number(line, "-j", launch->threads_per_core);
    dlb_command_line_add(line, "-cc");
    dlb_command_line_add(line, APRUN_BINDINGS[launch->binding]);
    for (size_t i = 0; i < line->environment_count; i++) {
        dlb_command_line_add(line, "-e");
        dlb_command_line_add(line, line->environment[i]);
    }
}

const dlb_launcher dlb_launcher_aprun = {
    .name = "aprun", .stop_signal = SIGUSR1, .build = build_aprun};
