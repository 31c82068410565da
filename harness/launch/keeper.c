#include "launch/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "launch/spawn.h"

/*
 * To end, until it is killed. Open MPI takes 2.0 s to end its ranks and to remove what it has in
 * /tmp and /dev/shm. Where nobody is left to read how it ended there is no more time than that: the
 * same may be started again at once.
 */
static const int64_t grace_ns = 5000000000, orphan_grace_ns = 2500000000;
enum { PACE_MS = 10 }; /* of killing, once the grace is over */

/* What is to be started. */
typedef struct command {
    dlb_executable executable;
    const char *folder; /* NULL: ours */
    dlb_streams streams;
} command;

/* What the keeper says first. */
typedef struct birth {
    pid_t leader;
    int failed; /* 0, or the errno with which it could not be started */
} birth;

/* ---- The keeper: a fork, so it calls only what a signal handler may call ---- */

typedef struct ward {
    int line;        /* to whom the keeper works for; -1 once that process is gone */
    int signals;     /* signalfd that tells of children */
    pid_t leader;    /* 0 once it has ended */
    int64_t kill_ns; /* when the grace ends; 0: nothing has been told to end */
    dlb_keeper_end end;
} ward;

/*
 * The signal to every child that the keeper has at the moment, adopted ones included. Deeper
 * descendants become its children as those above them end.
 */
static void signal_children(int number)
{
    char text[4096];
    int file = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof text);
    pid_t pid = 0;
    for (const char *c = text; c < text + length; c++) {
        if (*c >= '0' && *c <= '9')
            pid = pid * 10 + (*c - '0');
        else if (pid > 0) {
            kill(pid, number);
            pid = 0;
        }
    }
    if (file >= 0)
        close(file);
}

/* As long as the command lives, its own children in other groups are its own to end. */
static void ask_to_end(const ward *w)
{
    if (w->leader) {
        kill(-w->leader, SIGTERM);
        kill(-w->leader, SIGCONT); /* what is suspended could not heed it */
    } else {
        signal_children(SIGTERM);
        signal_children(SIGCONT);
    }
}

static void kill_everything(const ward *w)
{
    if (w->leader)
        kill(-w->leader, SIGKILL);
    signal_children(SIGKILL);
}

static void begin_end(ward *w)
{
    int64_t kill_ns = dlb_clock_ns() + (w->line < 0 ? orphan_grace_ns : grace_ns);
    if (!w->kill_ns || kill_ns < w->kill_ns)
        w->kill_ns = kill_ns;
    ask_to_end(w);
}

/* False once there is no child left. */
static bool reap(ward *w)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == w->leader) {
            w->leader = 0;
            w->end = (dlb_keeper_end){.status = status, .ended_ns = dlb_clock_ns()};
        }
    }
    return pid == 0;
}

/* Something of the command has ended, and something has not. */
static bool attend_children(ward *w)
{
    struct signalfd_siginfo info;
    while (read(w->signals, &info, sizeof info) > 0)
        continue;
    if (!reap(w))
        return false;
    if (!w->leader)
        begin_end(w);
    return true;
}

/* These go to the whole group, as a terminal has it. */
static bool is_of_job_control(int number)
{
    return number == SIGTSTP || number == SIGCONT;
}

static void heed_line(ward *w)
{
    int number;
    if (recv(w->line, &number, sizeof number, 0) != sizeof number) {
        close(w->line);
        w->line = -1;
        number = DLB_KEEPER_END;
    }
    if (number == DLB_KEEPER_END)
        begin_end(w);
    else if (w->leader)
        kill(is_of_job_control(number) ? -w->leader : w->leader, number);
}

/* Milliseconds until something is to be done without being asked; -1: nothing is. */
static int time_left_ms(const ward *w)
{
    if (!w->kill_ns)
        return -1;
    int64_t left_ns = w->kill_ns - dlb_clock_ns();
    return left_ns > 0 ? (int)(left_ns / 1000000) + 1 : PACE_MS;
}

/* What does not even end when it is killed, such as one that waits for a file server, is left. */
static void watch(ward *w)
{
    while (!w->kill_ns || dlb_clock_ns() < w->kill_ns + grace_ns) {
        struct pollfd events[] = {{.fd = w->signals, .events = POLLIN},
                                  {.fd = w->line, .events = POLLIN}};
        poll(events, 2, time_left_ms(w));
        if (events[0].revents && !attend_children(w))
            return;
        if (events[1].revents)
            heed_line(w);
        if (w->kill_ns && dlb_clock_ns() >= w->kill_ns)
            kill_everything(w);
    }
}

enum { LINE_FD = 3, FIRST_FREE_FD, OUT_OF_THE_WAY = 10 };

static void close_from(int first)
{
    if (close_range((unsigned)first, ~0U, 0) == 0)
        return;
    for (int fd = first; fd < (int)sysconf(_SC_OPEN_MAX); fd++) /* Linux before 5.9 */
        close(fd);
}

/*
 * The standard streams become the command's, the line moves beside them, and every other file is
 * let go. A stream that is closed becomes an empty one.
 */
static void arrange_files(int line, dlb_streams streams)
{
    int moved = fcntl(line, F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (dup2(streams.errors, STDERR_FILENO) < 0)
        dup2(null, STDERR_FILENO);
    if (dup2(streams.output, STDOUT_FILENO) < 0)
        dup2(null, STDOUT_FILENO);
    dup2(null, STDIN_FILENO);
    dup3(moved, LINE_FD, O_CLOEXEC);
    close_from(FIRST_FREE_FD);
}

/* The keeper's own copies of the command's streams would keep a pipe open. */
static void let_go_of_streams(void)
{
    dup2(STDIN_FILENO, STDOUT_FILENO);
    dup2(STDIN_FILENO, STDERR_FILENO);
}

static int watch_children(void)
{
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    signal(SIGCHLD, SIG_DFL);
    return signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* 0, or the errno of what failed. */
static int start_ward(ward *w, const dlb_executable *executable, const char *folder)
{
    w->signals = watch_children();
    if (w->signals < 0 || (folder && chdir(folder) < 0))
        return errno;
    return dlb_spawn(executable, &w->leader);
}

/* Every signal is blocked here. The name is none that a `pkill dlbench` hits. */
static _Noreturn void keep(int line, const command *c)
{
    setpgid(0, 0);
    prctl(PR_SET_NAME, "dlb-keeper");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    arrange_files(line, c->streams);
    ward w = {.line = LINE_FD, .end = {.status = SIGKILL}};
    birth told = {.failed = start_ward(&w, &c->executable, c->folder)};
    told.leader = w.leader;
    let_go_of_streams();
    ssize_t sent = send(w.line, &told, sizeof told, MSG_NOSIGNAL);
    if (told.failed)
        _exit(EXIT_FAILURE);
    watch(&w); /* also if nobody was there any more to be told */
    if (!w.end.ended_ns)
        w.end.ended_ns = dlb_clock_ns();
    if (w.line >= 0)
        sent = send(w.line, &w.end, sizeof w.end, MSG_NOSIGNAL);
    _exit(sent < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}

/* ---- We ---- */

static bool receive(int line, void *message, size_t size)
{
    ssize_t got;
    do
        got = recv(line, message, size, 0);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)size;
}

static void bury(const dlb_keeper *keeper)
{
    close(keeper->line);
    while (waitpid(keeper->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* Fork the keeper, in which no handler of ours is to run. 0, or the errno of what failed. */
static int fork_keeper(dlb_keeper *keeper, const command *c)
{
    int line[2]; /* ours, the keeper's */
    sigset_t all, before;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line) < 0)
        return errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    int failed = pid < 0 ? errno : 0;
    if (pid == 0)
        keep(line[1], c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(line[1]);
    if (failed)
        close(line[0]);
    *keeper = (dlb_keeper){.pid = pid, .line = line[0]};
    return failed;
}

/* 0, or the errno of what failed. */
static int start(dlb_keeper *keeper, const command *c)
{
    birth told = {.failed = ECHILD}; /* should it die without a word */
    int failed = fork_keeper(keeper, c);
    if (failed)
        return failed;
    if (receive(keeper->line, &told, sizeof told) && !told.failed)
        keeper->leader = told.leader;
    else
        bury(keeper);
    return told.failed;
}

int dlb_keeper_start(dlb_keeper *keeper, const dlb_command_line *line, const char *folder,
                     dlb_streams streams, dlb_error *err)
{
    command c = {.folder = folder, .streams = streams};
    if (dlb_executable_prepare(&c.executable, line, err) < 0)
        return DLB_FAIL;
    int failed = start(keeper, &c);
    dlb_executable_release(&c.executable);
    if (!failed)
        return 0;
    return dlb_fail(err, DLB_FAIL, "%s cannot be started%s%s: %s", line->argv[0],
                    folder ? " in " : "", folder ? folder : "", strerror(failed));
}

void dlb_keeper_tell(const dlb_keeper *keeper, int signal_number)
{
    ssize_t sent = send(keeper->line, &signal_number, sizeof signal_number, MSG_NOSIGNAL);
    (void)sent; /* a keeper that has just ended has nobody to tell it to */
}

int dlb_keeper_finish(dlb_keeper *keeper, dlb_keeper_end *end, dlb_error *err)
{
    bool told = receive(keeper->line, end, sizeof *end);
    bury(keeper);
    if (told)
        return 0;
    kill(-keeper->leader, SIGKILL);
    return dlb_fail(err, DLB_FAIL,
                    "the process that kept watch over the command was killed, and so the command");
}
