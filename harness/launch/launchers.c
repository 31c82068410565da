#include "launch/launcher.h"

#include <signal.h>

#include "launch/command_line.h"

static const char *const BINDING_NAMES[] = {
    [DLB_BINDING_CORE] = "core",
    [DLB_BINDING_HWTHREAD] = "hwthread",
    [DLB_BINDING_SOCKET] = "socket",
    [DLB_BINDING_NONE] = "none",
};

/* ---- Open MPI, 4 and 5 ---- */

/* What it says of exit codes and of signals that it hands on, our ranks say better. */
static const char *const OPEN_MPI_CHATTER[] = {
    ": Forwarding signal ",
    "terminated normally, but",
    "exited with non-zero status",
    "sent help message help-",
    "orte_base_help_aggregate",
    "MPI_ABORT was invoked",
    NULL,
};

/* By slots it would fill the first node of several, and refuse where a batch job has few slots. */
static void add_open_mpi_map(dlb_command_line *line, const dlb_launch *launch,
                             const dlb_launch_machine *machine, bool crowded)
{
    dlb_str map = DLB_STR_INIT;
    bool spread = launch->ranks_per_node || machine->nodes > 1;
    if (spread)
        dlb_str_addf(&map, "ppr:%d:node", dlb_launch_ranks_of_node(launch, machine));
    else
        dlb_str_add(&map, launch->binding == DLB_BINDING_SOCKET ? "socket" : "slot");
    if (dlb_binding_owns(launch->binding))
        dlb_str_addf(&map, ":PE=%d%s", dlb_launch_units_of_rank(launch),
                     machine->nodes > 1 ? ",OVERSUBSCRIBE" : "");
    else if (crowded || machine->nodes > 1)
        dlb_str_add(&map, ":OVERSUBSCRIBE");
    dlb_command_line_add(line, "--map-by");
    dlb_command_line_add(line, map.text);
    dlb_str_release(&map);
}

/* Ranks on other nodes see only what is exported by name. */
static void export_environment(dlb_command_line *line)
{
    dlb_str name = DLB_STR_INIT;
    for (size_t i = 0; i < line->environment_count; i++) {
        const char *variable = line->environment[i];
        dlb_str_clear(&name);
        dlb_str_add_bytes(&name, variable, strcspn(variable, "="));
        dlb_command_line_add(line, "-x");
        dlb_command_line_add(line, name.text);
    }
    dlb_str_release(&name);
}

static void build_open_mpi(dlb_command_line *line, const dlb_launch *launch,
                           const dlb_launch_machine *machine)
{
    bool crowded = dlb_launch_oversubscribes(launch, machine);
    dlb_command_line_add(line, "-n");
    dlb_command_line_addf(line, "%d", launch->ranks);
    if (launch->binding == DLB_BINDING_HWTHREAD)
        dlb_command_line_add(line, "--use-hwthread-cpus");
    add_open_mpi_map(line, launch, machine, crowded);
    dlb_command_line_add(line, "--bind-to");
    dlb_command_line_addf(line, "%s%s", BINDING_NAMES[launch->binding],
                          crowded && launch->binding == DLB_BINDING_SOCKET ? ":overload-allowed"
                                                                           : "");
    if (crowded) {
        dlb_command_line_add(line, "--mca");
        dlb_command_line_add(line, "mpi_yield_when_idle");
        dlb_command_line_add(line, "1");
    }
    export_environment(line);
    if (machine->root) {
        dlb_command_line_set(line, "OMPI_ALLOW_RUN_AS_ROOT=1");
        dlb_command_line_set(line, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
    }
}

/* ---- MPICH and its kin, which give the environment to all ranks ---- */

static void add_counts(dlb_command_line *line, const dlb_launch *launch)
{
    dlb_command_line_add(line, "-n");
    dlb_command_line_addf(line, "%d", launch->ranks);
    if (launch->ranks_per_node) {
        dlb_command_line_add(line, "-ppn");
        dlb_command_line_addf(line, "%d", launch->ranks_per_node);
    }
}

static void build_mpich(dlb_command_line *line, const dlb_launch *launch,
                        const dlb_launch_machine *machine)
{
    (void)machine;
    add_counts(line, launch);
    dlb_command_line_add(line, "-bind-to");
    if (dlb_binding_owns(launch->binding))
        dlb_command_line_addf(line, "%s:%d", BINDING_NAMES[launch->binding],
                              dlb_launch_units_of_rank(launch));
    else
        dlb_command_line_add(line, BINDING_NAMES[launch->binding]);
}

/* Domains are counted in hardware threads. */
static void build_intel_mpi(dlb_command_line *line, const dlb_launch *launch,
                            const dlb_launch_machine *machine)
{
    int per_core = launch->binding == DLB_BINDING_CORE ? machine->hwthreads / machine->cores : 1;
    char domain[64];
    snprintf(domain, sizeof domain, "I_MPI_PIN_DOMAIN=%d",
             dlb_launch_units_of_rank(launch) * per_core);
    add_counts(line, launch);
    if (dlb_binding_owns(launch->binding))
        dlb_command_line_set(line, domain);
    else if (launch->binding == DLB_BINDING_SOCKET)
        dlb_command_line_set(line, "I_MPI_PIN_DOMAIN=socket");
    else
        dlb_command_line_set(line, "I_MPI_PIN=off");
    if (launch->ranks_per_node) /* else a batch system's own layout counts */
        dlb_command_line_set(line, "I_MPI_JOB_RESPECT_PROCESS_PLACEMENT=off");
}

/* ---- All ---- */

/* Open MPI answers SIGTERM and SIGINT by killing the ranks within seconds; others hand it on. */
static const dlb_launcher LAUNCHERS[] = {
    {"Open MPI", "(Open MPI)", SIGUSR1, OPEN_MPI_CHATTER, build_open_mpi},
    {"Intel MPI", "Intel(R) MPI", SIGTERM, NULL, build_intel_mpi},
    {"MPICH", "HYDRA", SIGTERM, NULL, build_mpich},
};

enum { LAUNCHERS_COUNT = sizeof LAUNCHERS / sizeof *LAUNCHERS };

const dlb_launcher *dlb_launcher_find(const char *version)
{
    for (int i = 0; i < LAUNCHERS_COUNT; i++)
        if (strstr(version, LAUNCHERS[i].introduction))
            return &LAUNCHERS[i];
    return NULL;
}

void dlb_launcher_list(dlb_str *names)
{
    for (int i = 0; i < LAUNCHERS_COUNT; i++)
        dlb_str_addf(names, "%s%s", i ? ", " : "", LAUNCHERS[i].name);
}
