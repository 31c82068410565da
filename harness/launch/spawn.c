#include "launch/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

enum { READ_END, WRITE_END };

/* ---- The environment ---- */

static bool is_replaced(const char *variable, const dlb_command_line *line)
{
    size_t name = strcspn(variable, "=") + 1; /* with the '=' */
    for (size_t i = 0; i < line->environment_count; i++)
        if (strncmp(variable, line->environment[i], name) == 0)
            return true;
    return false;
}

/* Ours with the line's additions, ended by NULL; free the array and nothing else. */
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

/* ---- The child, between fork and execve: only what a signal handler may call ---- */

/* What the child is to do, prepared by the parent. */
typedef struct plan {
    char **argv, **environment;
    pid_t parent;
    int stream;     /* to be replaced by `output` */
    int output[2];  /* pipe for it, -1 if none */
    int trouble[2]; /* pipe for the errno of what failed; execve closes it */
} plan;

/* A background group may write to its terminal also after `stty tostop`. */
static void reset_signals(void)
{
    struct sigaction hangup;
    sigaction(SIGHUP, NULL, &hangup);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    if (hangup.sa_handler == SIG_IGN)
        signal(SIGHUP, SIG_IGN);
    signal(SIGTTOU, SIG_IGN);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static int connect_streams(const plan *p)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0)
        return -1;
    return p->stream < 0 ? 0 : dup2(p->output[WRITE_END], p->stream);
}

static _Noreturn void run_child(const plan *p)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != p->parent) /* it died before that was in force */
        _exit(EXIT_FAILURE);
    reset_signals();
    if (connect_streams(p) >= 0)
        execve(p->argv[0], p->argv, p->environment);
    int number = errno;
    ssize_t told = write(p->trouble[WRITE_END], &number, sizeof number);
    _exit(told < 0 ? EXIT_FAILURE : 127);
}

/* ---- The parent ---- */

static void close_pipe(const int *ends)
{
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
}

/* The errno with which the child failed before it became the command; 0 if it did not. */
static int hear_trouble(int *trouble)
{
    int number = 0;
    close(trouble[WRITE_END]);
    trouble[WRITE_END] = -1;
    ssize_t got;
    do
        got = read(trouble[READ_END], &number, sizeof number);
    while (got < 0 && errno == EINTR);
    return got == sizeof number ? number : 0;
}

/* Fork with the pipes open; 0, or the errno of what failed. */
static int start(dlb_child *child, plan *p)
{
    child->pid = fork();
    if (child->pid < 0)
        return errno;
    if (child->pid == 0)
        run_child(p);
    setpgid(child->pid, child->pid); /* whoever comes first */
    int failed = hear_trouble(p->trouble);
    if (failed)
        waitpid(child->pid, NULL, 0);
    return failed;
}

int dlb_spawn(dlb_child *child, const dlb_command_line *line, int stream, dlb_error *err)
{
    plan p = {.argv = line->argv,
              .environment = merge_environment(line),
              .parent = getpid(),
              .stream = stream,
              .output = {-1, -1},
              .trouble = {-1, -1}};
    int failed = 0;
    if (pipe2(p.trouble, O_CLOEXEC) < 0 || (stream >= 0 && pipe2(p.output, O_CLOEXEC) < 0))
        failed = errno;
    else
        failed = start(child, &p);
    child->output = p.output[READ_END];
    if (!failed)
        p.output[READ_END] = -1;
    close_pipe(p.output);
    close_pipe(p.trouble);
    free(p.environment);
    return failed ? dlb_fail(err, DLB_FAIL, "%s cannot be started: %s", line->argv[0],
                             strerror(failed))
                  : 0;
}
