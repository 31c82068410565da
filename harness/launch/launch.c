#include "launch/launch.h"

#include <signal.h>

#include "launch/command_line.h"
#include "launch/launcher.h"

/* ---- Who starts them ---- */

static dlb_starter resolve_starter(const dlb_launch *launch, const dlb_launch_machine *machine)
{
    if (launch->starter != DLB_STARTER_AUTO)
        return launch->starter;
    if (launch->ranks <= 1)
        return DLB_STARTER_NONE;
    if (machine->slurm && machine->srun[0])
        return DLB_STARTER_SRUN;
    if (machine->cobalt && machine->aprun[0])
        return DLB_STARTER_APRUN;
    return DLB_STARTER_MPIRUN;
}

const char *dlb_launch_starter(const dlb_launch *launch, const dlb_launch_machine *machine)
{
    static const char *const names[] = {[DLB_STARTER_NONE] = "none",
                                        [DLB_STARTER_MPIRUN] = "mpirun",
                                        [DLB_STARTER_SRUN] = "srun",
                                        [DLB_STARTER_APRUN] = "aprun"};
    return names[resolve_starter(launch, machine)];
}

/* aprun is called on a node of another kind than those that it starts ranks on. */
static bool knows_cores(const dlb_launch *launch, const dlb_launch_machine *machine)
{
    return resolve_starter(launch, machine) != DLB_STARTER_APRUN;
}

/* ---- What the ranks of a node want, and what there is ---- */

bool dlb_binding_owns(dlb_binding binding)
{
    return binding == DLB_BINDING_CORE || binding == DLB_BINDING_HWTHREAD;
}

static int threads_of_core(const dlb_launch *launch)
{
    return launch->threads_per_core > 1 ? launch->threads_per_core : 1;
}

int dlb_launch_units_of_rank(const dlb_launch *launch)
{
    int per_unit = launch->binding == DLB_BINDING_HWTHREAD ? 1 : threads_of_core(launch);
    return (launch->threads + per_unit - 1) / per_unit;
}

int dlb_launch_ranks_of_node(const dlb_launch *launch, const dlb_launch_machine *machine)
{
    int even = (launch->ranks + machine->nodes - 1) / machine->nodes;
    int most = launch->ranks_per_node ? launch->ranks_per_node : even;
    return most < launch->ranks ? most : launch->ranks;
}

/* Cores, or hardware threads where ranks are bound to those. */
static int units_of_node(const dlb_launch *launch, const dlb_launch_machine *machine)
{
    if (launch->binding != DLB_BINDING_HWTHREAD)
        return machine->cores;
    return launch->threads_per_core ? machine->cores * launch->threads_per_core
                                    : machine->hwthreads;
}

int dlb_launch_threads(const dlb_launch *launch, const dlb_launch_machine *machine)
{
    int units = units_of_node(launch, machine) / dlb_launch_ranks_of_node(launch, machine);
    int threads = launch->binding == DLB_BINDING_HWTHREAD ? units : units * threads_of_core(launch);
    return threads > 1 ? threads : 1;
}

int dlb_launch_wants(const dlb_launch *launch, const dlb_launch_machine *machine)
{
    return dlb_launch_ranks_of_node(launch, machine) * dlb_launch_units_of_rank(launch);
}

bool dlb_launch_oversubscribes(const dlb_launch *launch, const dlb_launch_machine *machine)
{
    return knows_cores(launch, machine) &&
           dlb_launch_wants(launch, machine) > units_of_node(launch, machine);
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
    int there = units_of_node(launch, machine), ranks = there / dlb_launch_units_of_rank(launch);
    dlb_str fits = DLB_STR_INIT;
    if (ranks > 0)
        dlb_str_addf(&fits, "ranks = %d with threads = %d", ranks, launch->threads);
    else
        dlb_str_addf(&fits, "threads = %d with ranks = 1",
                     dlb_launch_threads(&(dlb_launch){.ranks = 1,
                                                      .binding = launch->binding,
                                                      .threads_per_core = launch->threads_per_core},
                                        machine));
    dlb_fail(err, DLB_BAD_INPUT,
             "binding = %s: %d ranks of a node with threads = %d want %d %s of their own, but %d "
             "are allowed; %s would fit, or binding = auto",
             binding, dlb_launch_ranks_of_node(launch, machine), launch->threads,
             dlb_launch_wants(launch, machine), units, there, fits.text);
    dlb_str_release(&fits);
    return DLB_BAD_INPUT;
}

/* `launch` is resolved but for the binding. */
static int check_binding(const dlb_launch *launch, const dlb_launch_machine *machine,
                         dlb_error *err)
{
    if (launch->binding == DLB_BINDING_AUTO || launch->binding == DLB_BINDING_NONE)
        return 0;
    if (machine->narrowed && launch->starter == DLB_STARTER_MPIRUN)
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
    bool held = machine->narrowed && launch->starter == DLB_STARTER_MPIRUN;
    bool enough = !held && !dlb_launch_oversubscribes(launch, machine);
    return enough ? DLB_BINDING_CORE : DLB_BINDING_NONE;
}

bool dlb_launch_binds(const dlb_launch *launch, const dlb_launch_machine *machine)
{
    dlb_launch resolved = *launch;
    resolved.starter = resolve_starter(launch, machine);
    return resolved.starter != DLB_STARTER_NONE &&
           dlb_binding_owns(resolve_binding(&resolved, machine));
}

static int check_placement(const dlb_launch *launch, const dlb_launch_machine *machine,
                           dlb_error *err)
{
    int status = check_nodes(launch, machine, err);
    return status < 0 ? status : check_binding(launch, machine, err);
}

/* ---- Hardware threads of a core ---- */

static int check_threads_per_core(const dlb_launch *launch, const dlb_launch_machine *machine,
                                  dlb_error *err)
{
    int there = machine->hwthreads / machine->cores, asked = launch->threads_per_core;
    if (!asked || !knows_cores(launch, machine))
        return 0;
    if (asked > there)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "threads_per_core = %d, but a core here has %d hardware thread%s", asked,
                        there, there == 1 ? "" : "s");
    if (launch->starter == DLB_STARTER_MPIRUN && launch->binding == DLB_BINDING_HWTHREAD &&
        asked < there)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "mpirun cannot bind to %d of the %d hardware threads of a core; use "
                        "binding = core, or threads_per_core = %d",
                        asked, there, there);
    return 0;
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

static int check_mpirun(const dlb_launch *launch, const dlb_launch_machine *machine, dlb_error *err)
{
    if (!machine->mpirun[0])
        return dlb_fail(err, DLB_FAIL,
                        "ranks = %d need a launcher, but neither mpirun nor mpiexec is on PATH; "
                        "install openmpi-bin, or load the cluster's MPI module",
                        launch->ranks);
    if (!dlb_launcher_find(machine->version))
        return refuse_unknown_launcher(launch, machine, err);
    return 0;
}

static int check_found(const char *name, const char *path, dlb_error *err)
{
    return *path ? 0
                 : dlb_fail(err, DLB_FAIL,
                            "launcher = %s, but no %s is on PATH; load the cluster's module of it, "
                            "or use launcher = mpirun",
                            name, name);
}

static int check_alone(const dlb_launch *launch, dlb_error *err)
{
    return launch->ranks == 1 ? 0
                              : dlb_fail(err, DLB_BAD_INPUT,
                                         "launcher = none starts one rank, not ranks = %d; use "
                                         "launcher = auto",
                                         launch->ranks);
}

/* The starter is resolved. */
static int check_starter(const dlb_launch *launch, const dlb_launch_machine *machine,
                         dlb_error *err)
{
    switch (launch->starter) {
    case DLB_STARTER_SRUN:
        return check_found("srun", machine->srun, err);
    case DLB_STARTER_APRUN:
        return check_found("aprun", machine->aprun, err);
    case DLB_STARTER_NONE:
        return check_alone(launch, err);
    default:
        return check_mpirun(launch, machine, err);
    }
}

static void add_words(dlb_command_line *line, const char *const *words)
{
    for (; words && *words; words++)
        dlb_command_line_add(line, *words);
}

/* What stands before the program; `launch` is resolved. */
static void add_launcher(dlb_command_line *line, const char *path, const dlb_launcher *launcher,
                         const dlb_launch *launch, const dlb_launch_machine *machine)
{
    line->stop_signal = launcher->stop_signal;
    line->chatter = launcher->chatter;
    dlb_command_line_add(line, path);
    launcher->build(line, launch, machine);
    add_words(line, launch->options);
}

/* Checked and resolved. Without a launcher any program is to know what it is asked. */
static void build(dlb_command_line *line, const dlb_launch *launch,
                  const dlb_launch_machine *machine)
{
    *line = (dlb_command_line){.stop_signal = SIGTERM};
    for (const char *const *v = launch->environment; v && *v; v++)
        dlb_command_line_set(line, *v);
    if (launch->starter == DLB_STARTER_SRUN)
        add_launcher(line, machine->srun, &dlb_launcher_srun, launch, machine);
    else if (launch->starter == DLB_STARTER_APRUN)
        add_launcher(line, machine->aprun, &dlb_launcher_aprun, launch, machine);
    else if (launch->starter == DLB_STARTER_MPIRUN)
        add_launcher(line, machine->mpirun, dlb_launcher_find(machine->version), launch, machine);
    add_words(line, launch->wrap);
    add_words(line, launch->program);
}

int dlb_launch_command(dlb_command_line *line, const dlb_launch *launch,
                       const dlb_launch_machine *machine, dlb_error *err)
{
    dlb_launch resolved = *launch;
    resolved.starter = resolve_starter(launch, machine);
    int status = check_starter(&resolved, machine, err);
    if (status == 0)
        status = check_threads_per_core(&resolved, machine, err);
    if (status == 0 && resolved.starter != DLB_STARTER_NONE)
        status = check_placement(&resolved, machine, err);
    if (status < 0)
        return status;
    resolved.binding = resolve_binding(&resolved, machine);
    build(line, &resolved, machine);
    return 0;
}
