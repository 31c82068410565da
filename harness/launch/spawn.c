#include "launch/spawn.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

static bool is_replaced(const char *variable, const dlb_command_line *line)
{
    size_t name = strcspn(variable, "=") + 1; /* with the '=' */
    for (size_t i = 0; i < line->environment_count; i++)
        if (strncmp(variable, line->environment[i], name) == 0)
            return true;
    return false;
}

static char **merge_environment(const dlb_command_line *line)
{
    size_t inherited = 0, count = 0;
    while (environ[inherited])
        inherited++;
    char **merged = dlb_alloc(inherited + line->environment_count + 1, sizeof *merged);
    for (size_t i = 0; i < inherited; i++)
        if (!is_replaced(environ[i], line))
            merged[count++] = environ[i];
    for (size_t i = 0; i < line->environment_count; i++)
        merged[count++] = line->environment[i];
    return merged;
}

static int find(dlb_executable *executable, const char *name, dlb_error *err)
{
    if (strchr(name, '/')) {
        int length = snprintf(executable->path, sizeof executable->path, "%s", name);
        return length < (int)sizeof executable->path
                   ? 0
                   : dlb_fail(err, DLB_FAIL, "%.40s…: %s", name, strerror(ENAMETOOLONG));
    }
    if (dlb_file_on_path(name, executable->path, sizeof executable->path))
        return 0;
    return dlb_fail(err, DLB_FAIL, "%s cannot be started: it is in no folder of PATH", name);
}

static bool hangups_are_ignored(void)
{
    struct sigaction hangup;
    sigaction(SIGHUP, NULL, &hangup);
    return hangup.sa_handler == SIG_IGN;
}

static void prepare_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, standard;
    sigemptyset(&none);
    memset(&standard, 0xff, sizeof standard); /* sigfillset spares those of the C library */
    sigdelset(&standard, SIGTTOU);
    if (hangups_are_ignored())
        sigdelset(&standard, SIGHUP);
    posix_spawnattr_init(attributes);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &standard);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                             POSIX_SPAWN_SETPGROUP);
}

int dlb_executable_prepare(dlb_executable *executable, const dlb_command_line *line, dlb_error *err)
{
    *executable = (dlb_executable){.argv = line->argv};
    if (find(executable, line->argv[0], err) < 0)
        return DLB_FAIL;
    executable->environment = merge_environment(line);
    prepare_attributes(&executable->attributes);
    return 0;
}

void dlb_executable_release(dlb_executable *executable)
{
    posix_spawnattr_destroy(&executable->attributes);
    free(executable->environment);
}

int dlb_spawn(const dlb_executable *executable, pid_t *child)
{
    signal(SIGTTOU, SIG_IGN);
    return posix_spawn(child, executable->path, NULL, &executable->attributes, executable->argv,
                       executable->environment);
}
