#include "launch/launch.h"

#include "launch/command_line.h"
#include "launch/launcher.h"

/* ---- What the ranks of a node want, and what there is ---- */

static int ranks_of_node(const dlb_launch *launch, const dlb_launch_machine *machine)
{
    int even = (launch->ranks + machine->nodes - 1) / machine->nodes;
    int most = launch->ranks_per_node ? launch->ranks_per_node : even;
    return most < launch->ranks ? most : launch->ranks;
}

/* Cores, or hardware threads where ranks are bound to those. */
static int units_of_node(const dlb_launch *launch, const dlb_launch_machine *machine)
{
    return launch->binding == DLB_BINDING_HWTHREAD ? machine->hwthreads : machine->cores;
}

int dlb_launch_threads(const dlb_launch *launch, const dlb_launch_machine *machine)
{
    int threads = units_of_node(launch, machine) / ranks_of_node(launch, machine);
    return threads > 1 ? threads : 1;
}

int dlb_launch_wants(const dlb_launch *launch, const dlb_launch_machine *machine)
{
    return ranks_of_node(launch, machine) * launch->threads;
}

bool dlb_launch_oversubscribes(const dlb_launch *launch, const dlb_launch_machine *machine)
{
    return dlb_launch_wants(launch, machine) > units_of_node(launch, machine);
}

/* How many nodes there are is known only where a batch system tells of several. */
static int check_nodes(const dlb_launch *launch, const dlb_launch_machine *machine, dlb_error *err)
{
    int room = machine->nodes * launch->ranks_per_node;
    if (!launch->ranks_per_node || machine->nodes == 1 || launch->ranks <= room)
        return 0;
    return dlb_fail(
        err, DLB_BAD_INPUT,
        "ranks = %d do not fit on %d nodes with ranks_per_node = %d; lower ranks to %d, "
        "or raise ranks_per_node to %d",
        launch->ranks, machine->nodes, launch->ranks_per_node, room,
        (launch->ranks + machine->nodes - 1) / machine->nodes);
}

/* ---- Binding ---- */

static int refuse_crowded(const dlb_launch *launch, const dlb_launch_machine *machine,
                          dlb_error *err)
{
    const char *binding = launch->binding == DLB_BINDING_CORE ? "core" : "hwthread";
    const char *units = launch->binding == DLB_BINDING_CORE ? "cores" : "hardware threads";
    int there = units_of_node(launch, machine), ranks = there / launch->threads;
    dlb_str fits = DLB_STR_INIT;
    if (ranks > 0)
        dlb_str_addf(&fits, "ranks = %d with threads = %d", ranks, launch->threads);
    else
        dlb_str_addf(&fits, "threads = %d with ranks = 1", there);
    dlb_fail(err, DLB_BAD_INPUT,
             "binding = %s: %d ranks of a node with threads = %d want %d %s of their own, but %d "
             "are allowed; %s would fit, or binding = auto",
             binding, ranks_of_node(launch, machine), launch->threads,
             dlb_launch_wants(launch, machine), units, there, fits.text);
    dlb_str_release(&fits);
    return DLB_BAD_INPUT;
}

static int check_binding(const dlb_launch *launch, const dlb_launch_machine *machine,
                         dlb_error *err)
{
    if (launch->binding == DLB_BINDING_AUTO || launch->binding == DLB_BINDING_NONE)
        return 0;
    if (machine->narrowed)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "this process is held to %d of the machine's cores (by taskset or the "
                        "like), which a launcher that binds ranks does not heed; use binding = "
                        "auto or none, with which the ranks stay on them",
                        machine->cores);
    if (launch->binding != DLB_BINDING_SOCKET && dlb_launch_oversubscribes(launch, machine))
        return refuse_crowded(launch, machine, err);
    return 0;
}

static dlb_binding resolve_binding(const dlb_launch *launch, const dlb_launch_machine *machine)
{
    if (launch->binding != DLB_BINDING_AUTO)
        return launch->binding;
    bool enough = !machine->narrowed && !dlb_launch_oversubscribes(launch, machine);
    return enough ? DLB_BINDING_CORE : DLB_BINDING_NONE;
}

/* ---- The command ---- */

static int refuse_unknown_launcher(const dlb_launch *launch, const dlb_launch_machine *machine,
                                   dlb_error *err)
{
    dlb_str known = DLB_STR_INIT;
    dlb_launcher_list(&known);
    dlb_fail(err, DLB_FAIL,
             "%s belongs to none of %s: it answers --version with '%.*s'; start the ranks with "
             "it yourself, as in: %s -n %d dlbench train …",
             machine->mpirun, known.text, (int)strcspn(machine->version, "\n"), machine->version,
             machine->mpirun, launch->ranks);
    dlb_str_release(&known);
    return DLB_FAIL;
}

static void build(dlb_command_line *line, const dlb_launcher *launcher, const dlb_launch *launch,
                  const dlb_launch_machine *machine)
{
    dlb_launch resolved = *launch;
    resolved.binding = resolve_binding(launch, machine);
    *line = (dlb_command_line){.stop_signal = launcher->stop_signal, .chatter = launcher->chatter};
    dlb_command_line_add(line, machine->mpirun);
    for (const char *const *v = launch->environment; v && *v; v++)
        dlb_command_line_set(line, *v);
    launcher->build(line, &resolved, machine);
    for (const char *const *word = launch->program; *word; word++)
        dlb_command_line_add(line, *word);
}

int dlb_launch_command(dlb_command_line *line, const dlb_launch *launch,
                       const dlb_launch_machine *machine, dlb_error *err)
{
    if (!machine->mpirun[0])
        return dlb_fail(err, DLB_FAIL,
                        "ranks = %d need a launcher, but neither mpirun nor mpiexec is on PATH; "
                        "install openmpi-bin, or load the cluster's MPI module",
                        launch->ranks);
    const dlb_launcher *launcher = dlb_launcher_find(machine->version);
    if (!launcher)
        return refuse_unknown_launcher(launch, machine, err);
    if (check_nodes(launch, machine, err) < 0 || check_binding(launch, machine, err) < 0)
        return DLB_BAD_INPUT;
    build(line, launcher, launch, machine);
    return 0;
}
