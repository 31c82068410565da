#include <hwloc.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "launch/command_line.h"
#include "launch/keeper.h"
#include "measure/cores.h"

/* ---- What other programs answer ---- */

enum { PATIENCE_MS = 20000 };

/* The beginning of what the command prints; "" if it cannot be started. One that hangs is ended. */
static void ask(dlb_command_line *line, char *answer, size_t size)
{
    dlb_error ignored;
    dlb_keeper keeper;
    dlb_keeper_end end;
    answer[0] = '\0';
    int file = memfd_create("answer", MFD_CLOEXEC);
    if (file >= 0 &&
        dlb_keeper_start(&keeper, line, NULL, (dlb_streams){file, file}, &ignored) == 0) {
        struct pollfd ended = {.fd = keeper.line, .events = POLLIN};
        if (poll(&ended, 1, PATIENCE_MS) == 0)
            dlb_keeper_tell(&keeper, DLB_KEEPER_END);
        dlb_keeper_finish(&keeper, &end, &ignored);
        ssize_t length = pread(file, answer, size - 1, 0);
        answer[length > 0 ? length : 0] = '\0';
    }
    if (file >= 0)
        close(file);
    dlb_command_line_release(line);
}

static void ask_version(dlb_launch_machine *machine)
{
    dlb_command_line line = {0};
    dlb_command_line_add(&line, machine->mpirun);
    dlb_command_line_add(&line, "--version");
    ask(&line, machine->version, sizeof machine->version);
}

/* ---- The cores ---- */

/* CPUs that a launcher sees: those of the machine or of the control group, whatever the mask. */
static int cpus_seen_by_launchers(void)
{
    hwloc_topology_t topology;
    int count = 0;
    if (hwloc_topology_init(&topology) < 0)
        return 0;
    if (hwloc_topology_load(topology) == 0)
        count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    hwloc_topology_destroy(topology);
    return count;
}

static void probe_cores(dlb_launch_machine *machine)
{
    dlb_cores cores;
    dlb_cores_probe(&cores, "");
    machine->hwthreads = cores.allowed;
    machine->cores = cores.physical < cores.allowed ? cores.physical : cores.allowed;
}

static void probe_narrowing(dlb_launch_machine *machine)
{
    dlb_cores cores;
    dlb_cores_probe(&cores, "");
    machine->narrowed = cores.count < cpus_seen_by_launchers();
}

/* ---- Batch systems ---- */

static int nodes_allotted(void)
{
    static const char *const counts[] = {"SLURM_JOB_NUM_NODES", "PBS_NUM_NODES", "COBALT_JOBSIZE"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const char *text = getenv(counts[i]);
        long long nodes;
        if (text && dlb_parse_int(text, &nodes) && nodes > 0 && nodes <= 1000000)
            return (int)nodes;
    }
    return 1;
}

/*
 * Ranks of Open MPI under an srun that tells them nothing of each other would each train alone.
 * What the cluster or the user has chosen is left as it is.
 */
static void ask_srun_mpi(dlb_launch_machine *machine)
{
    char answer[16384];
    dlb_command_line config = {0}, kinds = {0};
    if (getenv("SLURM_MPI_TYPE") || !strstr(machine->version, "(Open MPI)"))
        return;
    dlb_command_line_add(&config, "scontrol");
    dlb_command_line_add(&config, "show");
    dlb_command_line_add(&config, "config");
    ask(&config, answer, sizeof answer);
    const char *chosen = strstr(answer, "MpiDefault");
    if (!chosen || !strstr(chosen, "none") || strstr(chosen, "none") > strchr(chosen, '\n'))
        return;
    dlb_command_line_add(&kinds, machine->srun);
    dlb_command_line_add(&kinds, "--mpi=list");
    ask(&kinds, answer, sizeof answer);
    if (strstr(answer, "pmix"))
        snprintf(machine->srun_mpi, sizeof machine->srun_mpi, "pmix");
}

/* ---- All of it ---- */

void dlb_launch_here_alone(dlb_launch_machine *machine)
{
    *machine = (dlb_launch_machine){.nodes = nodes_allotted(),
                                    .root = geteuid() == 0,
                                    .slurm = getenv("SLURM_JOB_ID") != NULL,
                                    .cobalt = getenv("COBALT_JOBID") != NULL};
    probe_cores(machine);
    dlb_file_on_path("srun", machine->srun, sizeof machine->srun);
    dlb_file_on_path("aprun", machine->aprun, sizeof machine->aprun);
    if (!dlb_file_on_path("mpirun", machine->mpirun, sizeof machine->mpirun))
        dlb_file_on_path("mpiexec", machine->mpirun, sizeof machine->mpirun);
}

void dlb_launch_here(dlb_launch_machine *machine)
{
    dlb_launch_here_alone(machine);
    probe_narrowing(machine);
    if (machine->mpirun[0])
        ask_version(machine);
    if (machine->slurm && machine->srun[0])
        ask_srun_mpi(machine);
}
