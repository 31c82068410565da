#include "cli/relaunch.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/terminal.h"
#include "comm/comm.h"

static const char launched[] = "DLBENCH_LAUNCHED";

bool dlb_relaunch_is_done(void)
{
    return getenv(launched) || dlb_comm_launched() > 0;
}

/* ---- What the ranks are started with ---- */

/* Borrowed texts, ended by NULL. */
typedef struct list {
    const char **texts;
    size_t count, capacity;
} list;

static void add(list *l, const char *text)
{
    l->texts = dlb_grow(l->texts, &l->capacity, l->count + 2, sizeof *l->texts);
    l->texts[l->count++] = text;
}

static bool is_heeded(const char *variable)
{
    static const char *const beginnings[] = {"DLBENCH_", "OMP_", "KMP_", "GOMP_", "OPENBLAS_"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(variable, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

void dlb_relaunch_inherited(void (*give)(void *arg, const char *variable), void *arg)
{
    for (char **variable = environ; *variable; variable++)
        if (is_heeded(*variable))
            give(arg, *variable);
}

static void take_variable(void *environment, const char *variable)
{
    add(environment, variable);
}

static void list_environment(list *environment)
{
    setenv(launched, "1", 1);
    dlb_terminal_tell(stdout);
    dlb_relaunch_inherited(take_variable, environment);
}

static void list_program(list *program, const char *path, const char *const *arguments)
{
    add(program, path);
    for (; *arguments; arguments++)
        add(program, *arguments);
}

int dlb_relaunch_path(char path[PATH_MAX], dlb_error *err)
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length < 0)
        return dlb_fail(err, DLB_FAIL, "/proc/self/exe does not tell where this program is: %s",
                        strerror(errno));
    path[length] = '\0';
    return 0;
}

/* As dlb_launch_command. */
static int make_line(dlb_command_line *line, const dlb_launch *launch,
                     const dlb_launch_machine *machine, dlb_error *err)
{
    char path[PATH_MAX];
    if (dlb_relaunch_path(path, err) < 0)
        return DLB_FAIL;
    list program = {0}, environment = {0};
    list_program(&program, path, launch->program);
    list_environment(&environment);
    dlb_launch complete = *launch;
    complete.program = program.texts;
    complete.environment = environment.texts;
    int status = dlb_launch_command(line, &complete, machine, err);
    free(environment.texts);
    free(program.texts);
    return status;
}

/* ---- Running ---- */

int dlb_relaunch_run(const dlb_launch *launch, const dlb_launch_machine *machine,
                     dlb_launch_end *end, dlb_error *err)
{
    dlb_command_line line;
    int started = make_line(&line, launch, machine, err);
    if (started < 0)
        return started;
    started = dlb_launch_run(&line, NULL, end, err);
    dlb_command_line_release(&line);
    return started;
}

static void warn_if_crowded(const char *command, const dlb_launch *launch,
                            const dlb_launch_machine *machine)
{
    if (!dlb_launch_oversubscribes(launch, machine))
        return;
    int wanted = dlb_launch_wants(launch, machine);
    int ranks = dlb_launch_ranks_of_node(launch, machine);
    fprintf(stderr,
            "%s: %d ranks x %d thread%s want %d cores%s, but %d %s allowed: they take turns, and "
            "times are not those of %d cores\n",
            command, ranks, launch->threads, launch->threads == 1 ? "" : "s", wanted,
            launch->ranks > ranks ? " of a node" : "", machine->cores,
            machine->cores == 1 ? "is" : "are", wanted);
}

/*
 * Ranks that have told why they failed exit with 1 or 2. Of others the launcher has told; but those
 * that were asked to stop before they could heed it, or a launcher that was, have no failure.
 */
static int tell_end(const char *command, const dlb_launch_end *end)
{
    dlb_error err;
    int number = end->status - 128;
    if (end->status <= DLB_EXIT_USAGE)
        return end->status;
    if (end->stopped)
        dlb_fail(&err, DLB_FAIL, "stopped before the ranks had begun; no result was written");
    else if (number > 0 && number < NSIG)
        dlb_fail(&err, DLB_FAIL, "a rank was ended by signal %d (%s); no result was written",
                 number, strsignal(number));
    else
        dlb_fail(&err, DLB_FAIL, "the launcher ended with status %d", end->status);
    return dlb_cli_fail(command, &err);
}

int dlb_relaunch(const char *command, const dlb_launch *launch, const dlb_launch_machine *machine)
{
    dlb_error err;
    dlb_command_line line;
    dlb_launch_end end;
    if (make_line(&line, launch, machine, &err) < 0)
        return dlb_cli_fail(command, &err);
    warn_if_crowded(command, launch, machine);
    int started = dlb_launch_run(&line, NULL, &end, &err);
    dlb_command_line_release(&line);
    return started < 0 ? dlb_cli_fail(command, &err) : tell_end(command, &end);
}
