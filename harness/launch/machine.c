#include <hwloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "launch/command_line.h"
#include "launch/spawn.h"
#include "measure/cores.h"

/* ---- The launcher ---- */

/* The beginning of what comes until the other end is closed. */
static void read_text(int fd, char *text, size_t size)
{
    char rest[256];
    size_t length = 0;
    for (ssize_t got = 1; got > 0;) {
        bool fits = length < size - 1;
        got = fits ? read(fd, text + length, size - 1 - length) : read(fd, rest, sizeof rest);
        length += fits && got > 0 ? (size_t)got : 0;
    }
    text[length] = '\0';
}

static void ask_version(dlb_launch_machine *machine)
{
    dlb_command_line line = {0};
    dlb_command_line_add(&line, machine->mpirun);
    dlb_command_line_add(&line, "--version");
    dlb_error ignored; /* without an answer it is of an unknown kind */
    dlb_child child;
    if (dlb_spawn(&child, &line, STDOUT_FILENO, &ignored) == 0) {
        read_text(child.output, machine->version, sizeof machine->version);
        close(child.output);
        waitpid(child.pid, NULL, 0);
    }
    dlb_command_line_release(&line);
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
    machine->narrowed = cores.count < cpus_seen_by_launchers();
}

static int nodes_allotted(void)
{
    static const char *const counts[] = {"SLURM_JOB_NUM_NODES", "PBS_NUM_NODES"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const char *text = getenv(counts[i]);
        long long nodes;
        if (text && dlb_parse_int(text, &nodes) && nodes > 0 && nodes <= 1000000)
            return (int)nodes;
    }
    return 1;
}

void dlb_launch_here(dlb_launch_machine *machine)
{
    *machine = (dlb_launch_machine){.nodes = nodes_allotted(), .root = geteuid() == 0};
    probe_cores(machine);
    if (dlb_file_on_path("mpirun", machine->mpirun, sizeof machine->mpirun) ||
        dlb_file_on_path("mpiexec", machine->mpirun, sizeof machine->mpirun))
        ask_version(machine);
}
