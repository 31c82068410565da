#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "launch/chatter.h"
#include "launch/keeper.h"

static const int64_t patience_ns = 1000000000; /* with a request before the next one means more */
static const double longest_s = 1e9;           /* that is counted; 31 years are for ever */

/* A command that runs. */
typedef struct vigil {
    const dlb_command_line *line;
    dlb_launch_care care;
    dlb_keeper keeper;
    dlb_chatter chatter;
    int messages;         /* read end of its stderr; -1: it writes to ours or to a file */
    int signals;          /* signalfd */
    int64_t start_ns;     /* when it was started */
    int64_t asked_ns;     /* when a signal first asked to stop; 0: none has */
    int64_t ticked_ns;    /* when on_tick was called last */
    int64_t suspended_ns; /* for how long it was, in all */
    int64_t continued_ns; /* when it was, last; 0: it never was suspended */
    bool timed_out, ending;
} vigil;

/* ---- Its messages ---- */

static void show(const dlb_str *text)
{
    if (dlb_file_write_all(STDERR_FILENO, text->text, text->length) < 0)
        return; /* there is nobody left to tell */
}

static void close_messages(vigil *v)
{
    if (v->messages >= 0)
        close(v->messages);
    v->messages = -1;
}

/* Show what has come. */
static void pass_messages(vigil *v)
{
    char bytes[4096];
    ssize_t got = read(v->messages, bytes, sizeof bytes);
    if (got == 0 || (got < 0 && errno != EINTR))
        close_messages(v);
    if (got <= 0)
        return;
    dlb_str kept = DLB_STR_INIT;
    dlb_chatter_filter(&v->chatter, bytes, (size_t)got, &kept);
    show(&kept);
    dlb_str_release(&kept);
}

static bool has_messages(const vigil *v)
{
    struct pollfd messages = {.fd = v->messages, .events = POLLIN};
    return v->messages >= 0 && poll(&messages, 1, 0) > 0;
}

/* Everything has ended. Should something have escaped, its messages are not waited for. */
static void pass_last_messages(vigil *v)
{
    while (has_messages(v))
        pass_messages(v);
    close_messages(v);
    dlb_str kept = DLB_STR_INIT;
    dlb_chatter_end(&v->chatter, &kept);
    show(&kept);
    dlb_str_release(&kept);
}

/* ---- Signals to us ---- */

static void end_everything(vigil *v)
{
    if (!v->ending)
        dlb_keeper_tell(&v->keeper, DLB_KEEPER_END);
    v->ending = true;
}

static void on_request(vigil *v)
{
    int64_t now = dlb_clock_ns();
    if (!v->asked_ns) {
        v->asked_ns = now;
        dlb_keeper_tell(&v->keeper, v->line->stop_signal);
    } else if (now - v->asked_ns >= patience_ns)
        end_everything(v);
}

static void suspend(vigil *v)
{
    int64_t now = dlb_clock_ns();
    dlb_keeper_tell(&v->keeper, SIGTSTP);
    raise(SIGSTOP); /* here we stand until we are continued */
    dlb_keeper_tell(&v->keeper, SIGCONT);
    v->continued_ns = dlb_clock_ns();
    v->suspended_ns += v->continued_ns - now;
}

static void on_signal(vigil *v)
{
    struct signalfd_siginfo info;
    if (read(v->signals, &info, sizeof info) != sizeof info)
        return;
    if (info.ssi_signo == SIGTSTP)
        suspend(v);
    else
        on_request(v);
}

/* Requests that come too late are not to strike us once they are let through again. */
static void take_late_signals(vigil *v)
{
    struct signalfd_siginfo info;
    while (read(v->signals, &info, sizeof info) > 0)
        if (info.ssi_signo != SIGTSTP && !v->asked_ns)
            v->asked_ns = dlb_clock_ns();
}

/* ---- Waiting ---- */

/* How long it had run at that moment. What ends while we are suspended ended as that began. */
static int64_t elapsed_ns(const vigil *v, int64_t moment_ns)
{
    int64_t counted = moment_ns > v->continued_ns ? moment_ns : v->continued_ns;
    return counted - v->start_ns - v->suspended_ns;
}

static int64_t timeout_ns(const vigil *v)
{
    return (int64_t)(fmin(v->care.timeout_s, longest_s) * 1e9);
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool has_ticks(const vigil *v)
{
    return v->care.on_tick && v->care.tick_ms > 0;
}

static int64_t next_tick_ns(const vigil *v)
{
    return v->ticked_ns + v->care.tick_ms * INT64_C(1000000);
}

/* Milliseconds until something is to be done without being asked; -1: nothing is. */
static int time_left_ms(const vigil *v)
{
    const int64_t longest_ns = INT64_C(3600000000000), now = dlb_clock_ns();
    int64_t next = now + longest_ns;
    if (v->care.timeout_s > 0 && !v->timed_out)
        next = earlier(next, v->start_ns + v->suspended_ns + timeout_ns(v));
    if (has_ticks(v))
        next = earlier(next, next_tick_ns(v));
    return next > now ? (int)((next - now) / 1000000) + 1 : 0;
}

static void on_time(vigil *v)
{
    int64_t now = dlb_clock_ns(), elapsed = elapsed_ns(v, now);
    if (v->care.timeout_s > 0 && !v->timed_out && elapsed >= timeout_ns(v)) {
        v->timed_out = true;
        end_everything(v);
    }
    if (has_ticks(v) && now >= next_tick_ns(v)) {
        v->ticked_ns = now;
        v->care.on_tick(v->care.arg, (double)elapsed * 1e-9);
    }
}

static void watch(vigil *v)
{
    for (bool ended = false; !ended;) {
        struct pollfd events[] = {{.fd = v->signals, .events = POLLIN},
                                  {.fd = v->messages, .events = POLLIN},
                                  {.fd = v->keeper.line, .events = POLLIN}};
        poll(events, 3, time_left_ms(v));
        if (events[1].revents)
            pass_messages(v);
        if (events[0].revents)
            on_signal(v);
        ended = events[2].revents != 0;
        if (!ended)
            on_time(v);
    }
}

/* ---- All of it ---- */

/* Where a log is kept it holds everything. Else launchers that chatter write to us first. */
static int start(vigil *v, dlb_error *err)
{
    int messages[2] = {-1, -1}; /* read end, write end */
    dlb_streams streams = {STDOUT_FILENO, STDERR_FILENO};
    if (v->care.output)
        streams.output = streams.errors = v->care.output;
    else if (v->line->chatter) {
        if (pipe2(messages, O_CLOEXEC) < 0)
            return dlb_fail(err, DLB_FAIL, "no pipe for messages: %s", strerror(errno));
        streams.errors = messages[1];
    }
    v->messages = messages[0];
    v->start_ns = v->ticked_ns = dlb_clock_ns();
    int started = dlb_keeper_start(&v->keeper, v->line, v->care.folder, streams, err);
    if (messages[1] >= 0)
        close(messages[1]);
    return started;
}

static int attend(vigil *v, dlb_launch_end *end, dlb_error *err)
{
    dlb_keeper_end last;
    int result = start(v, err);
    if (result == 0) {
        watch(v);
        result = dlb_keeper_finish(&v->keeper, &last, err);
    }
    pass_last_messages(v);
    take_late_signals(v);
    if (result == 0)
        *end = (dlb_launch_end){.status = WIFEXITED(last.status) ? WEXITSTATUS(last.status)
                                                                 : 128 + WTERMSIG(last.status),
                                .timed_out = v->timed_out,
                                .stopped = v->asked_ns != 0,
                                .suspended = v->continued_ns != 0,
                                .wall_s = (double)elapsed_ns(v, last.ended_ns) * 1e-9};
    return result;
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
    static const int numbers[] = {SIGINT, SIGTERM, SIGUSR1, SIGTSTP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaddset(&set, numbers[i]);
    return set;
}

/* Signals that are blocked are kept for us to read. */
int dlb_launch_run(const dlb_command_line *line, const dlb_launch_care *care, dlb_launch_end *end,
                   dlb_error *err)
{
    static const char *const nothing[] = {NULL};
    sigset_t watched = watched_signals(), before;
    vigil v = {.line = line, .chatter = {.phrases = line->chatter ? line->chatter : nothing}};
    if (care)
        v.care = *care;
    v.signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    if (v.signals < 0)
        return dlb_fail(err, DLB_FAIL, "no signals can be waited for: %s", strerror(errno));
    pthread_sigmask(SIG_BLOCK, &watched, &before);
    int result = attend(&v, end, err);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(v.signals);
    return result;
}
