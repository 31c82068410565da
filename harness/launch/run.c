#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "launch/chatter.h"
#include "launch/spawn.h"

static const int64_t patience_ns = 1000000000, /* with a request before the next one means more */
    grace_ns = 5000000000; /* for the group to end; Open MPI takes up to 3 s to end its ranks */

/* A command that runs. */
typedef struct vigil {
    const dlb_command_line *line;
    dlb_child child;
    dlb_chatter chatter;
    int signals;      /* signalfd */
    int64_t asked_ns; /* when the ranks were asked to stop; 0: not yet */
    int64_t kill_ns;  /* when the grace ends; 0: the group has not been told to end */
    bool ended;
    int status; /* of waitpid, once ended */
} vigil;

/* ---- Its messages ---- */

static void write_all(const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(STDERR_FILENO, bytes, count);
        if (written < 0 && errno != EINTR)
            return; /* there is nobody left to tell */
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        }
    }
}

/* Show what has come. False at the end of it. */
static bool pass_messages(vigil *v)
{
    char bytes[4096];
    ssize_t got = read(v->child.output, bytes, sizeof bytes);
    if (got <= 0)
        return got < 0 && errno == EINTR;
    dlb_str kept = DLB_STR_INIT;
    dlb_chatter_filter(&v->chatter, bytes, (size_t)got, &kept);
    write_all(kept.text, kept.length);
    dlb_str_release(&kept);
    return true;
}

static void close_messages(vigil *v)
{
    close(v->child.output);
    v->child.output = -1;
}

static bool has_messages(const vigil *v)
{
    struct pollfd messages = {.fd = v->child.output, .events = POLLIN};
    return poll(&messages, 1, 0) > 0;
}

/* The command has ended. Should something of it live on, its messages are not waited for. */
static void pass_last_messages(vigil *v)
{
    bool more = v->child.output >= 0;
    while (more && has_messages(v))
        more = pass_messages(v);
    dlb_str kept = DLB_STR_INIT;
    dlb_chatter_end(&v->chatter, &kept);
    write_all(kept.text, kept.length);
    dlb_str_release(&kept);
}

/* ---- Signals to us ---- */

static void on_request(vigil *v)
{
    int64_t now = dlb_clock_ns();
    if (!v->asked_ns) {
        v->asked_ns = now;
        kill(v->child.pid, v->line->stop_signal);
    } else if (!v->kill_ns && now - v->asked_ns >= patience_ns) {
        v->kill_ns = now + grace_ns;
        kill(-v->child.pid, SIGTERM);
    }
}

static void suspend(const vigil *v)
{
    kill(v->child.pid, SIGTSTP);
    raise(SIGSTOP); /* here we stand until we are continued */
    kill(v->child.pid, SIGCONT);
}

static void on_signal(vigil *v)
{
    struct signalfd_siginfo info;
    if (read(v->signals, &info, sizeof info) != sizeof info)
        return;
    if (info.ssi_signo == SIGCHLD)
        v->ended = waitpid(v->child.pid, &v->status, WNOHANG) == v->child.pid;
    else if (info.ssi_signo == SIGTSTP)
        suspend(v);
    else
        on_request(v);
}

/* ---- Waiting ---- */

/* Milliseconds until something is to be done without being asked; -1: nothing is. */
static int time_left_ms(const vigil *v)
{
    if (!v->kill_ns)
        return -1;
    int64_t left_ns = v->kill_ns - dlb_clock_ns();
    return left_ns > 0 ? (int)(left_ns / 1000000) + 1 : 0;
}

static void watch(vigil *v)
{
    while (!v->ended) {
        struct pollfd events[] = {{.fd = v->signals, .events = POLLIN},
                                  {.fd = v->child.output, .events = POLLIN}};
        poll(events, 2, time_left_ms(v));
        if (events[1].revents && !pass_messages(v))
            close_messages(v);
        if (events[0].revents)
            on_signal(v);
        if (v->kill_ns && dlb_clock_ns() >= v->kill_ns)
            kill(-v->child.pid, SIGKILL);
    }
}

static int attend(vigil *v, dlb_error *err)
{
    if (dlb_spawn(&v->child, v->line, v->line->chatter ? STDERR_FILENO : -1, err) < 0)
        return DLB_FAIL;
    watch(v);
    pass_last_messages(v);
    if (v->child.output >= 0)
        close_messages(v);
    return 0;
}

/* Requests that come too late are not to strike us once they are let through again. */
static void forget_signals(const vigil *v)
{
    struct signalfd_siginfo info;
    while (read(v->signals, &info, sizeof info) > 0)
        continue;
}

/* Those that are ours to handle while the command runs. */
static sigset_t watched_signals(void)
{
    sigset_t set;
    struct sigaction hangup;
    sigemptyset(&set);
    sigaction(SIGHUP, NULL, &hangup);
    if (hangup.sa_handler != SIG_IGN)
        sigaddset(&set, SIGHUP);
    static const int numbers[] = {SIGINT, SIGTERM, SIGUSR1, SIGTSTP, SIGCHLD};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaddset(&set, numbers[i]);
    return set;
}

/* Signals that are blocked are kept for us to read; one that tells of children is never ignored. */
int dlb_launch_run(const dlb_command_line *line, int *status, dlb_error *err)
{
    static const char *const nothing[] = {NULL};
    sigset_t watched = watched_signals(), before;
    struct sigaction standard = {.sa_handler = SIG_DFL}, children_before;
    vigil v = {.line = line, .chatter = {.phrases = line->chatter ? line->chatter : nothing}};
    v.signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    if (v.signals < 0)
        return dlb_fail(err, DLB_FAIL, "no signals can be waited for: %s", strerror(errno));
    sigaction(SIGCHLD, &standard, &children_before);
    pthread_sigmask(SIG_BLOCK, &watched, &before);
    int result = attend(&v, err);
    forget_signals(&v);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    sigaction(SIGCHLD, &children_before, NULL);
    close(v.signals);
    if (result == 0)
        *status = WIFEXITED(v.status) ? WEXITSTATUS(v.status) : 128 + WTERMSIG(v.status);
    return result;
}
