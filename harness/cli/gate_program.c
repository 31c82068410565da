#include "cli/gate_program.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/stop.h"
#include "measure/cores.h"

enum { LINE_SIZE = 256, CASES_MAX = 1000 };

/* ---- Its words ---- */

void dlb_gate_words_add(dlb_gate_words *w, const char *word)
{
    enum { WORDS = sizeof w->words / sizeof *w->words };
    assert(w->count < WORDS - 1); /* the last one ends it */
    w->words[w->count++] = word;
}

void dlb_gate_words_add_flag(dlb_gate_words *w, const char *flag, const char *value)
{
    if (!value)
        return;
    dlb_gate_words_add(w, flag);
    dlb_gate_words_add(w, value);
}

/* ---- Its process ---- */

/* Its own standard input and output are the pipes' other ends; a broken pipe ends it. */
static int spawn(dlb_gate_program *p, const char *const *argv, int in, int out)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    int failed = posix_spawn(&p->pid, argv[0], &actions, &attributes, (char *const *)argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

int dlb_gate_program_start(dlb_gate_program *p, const char *const *argv, dlb_error *err)
{
    int requests[2], replies[2];
    *p = (dlb_gate_program){.path = argv[0]};
    if (pipe2(requests, O_CLOEXEC) < 0)
        return dlb_fail(err, DLB_FAIL, "no pipe to %s: %s", argv[0], strerror(errno));
    if (pipe2(replies, O_CLOEXEC) < 0) {
        close(requests[0]);
        close(requests[1]);
        return dlb_fail(err, DLB_FAIL, "no pipe from %s: %s", argv[0], strerror(errno));
    }
    int failed = spawn(p, argv, requests[0], replies[1]);
    close(requests[0]);
    close(replies[1]);
    p->to = fdopen(requests[1], "w");
    p->from = fdopen(replies[0], "r");
    if (failed) {
        p->pid = 0;
        return dlb_fail(err, DLB_BAD_INPUT, "%s cannot be started: %s", argv[0], strerror(failed));
    }
    return 0;
}

/* What it ended with, as waitpid tells; 0 if there is none. */
static int end(dlb_gate_program *p)
{
    int status = 0;
    if (p->pid > 0) {
        kill(p->pid, SIGTERM);
        while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR) {
        }
    }
    p->pid = 0;
    return status;
}

bool dlb_gate_program_refused(dlb_gate_program *p)
{
    int status = end(p);
    return WIFEXITED(status) && WEXITSTATUS(status) == DLB_EXIT_USAGE;
}

void dlb_gate_program_stop(dlb_gate_program *p)
{
    if (p->to)
        fclose(p->to);
    if (p->from)
        fclose(p->from);
    end(p);
    for (size_t i = 0; i < p->count + p->references; i++)
        free(p->cases[i]);
    free(p->cases);
    *p = (dlb_gate_program){0};
}

/* ---- Its place ---- */

void dlb_gate_gather(const dlb_gate_program *programs, int count)
{
    const dlb_cores *cores = dlb_cores_of_process();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)dlb_cpus_at(&cores->cpus, cores->count - 1), &one);
    for (int i = 0; i < count; i++)
        sched_setaffinity(programs[i].pid, sizeof one, &one);
    sched_setaffinity(0, sizeof one, &one);
}

void dlb_gate_disperse(void)
{
    const dlb_cores *cores = dlb_cores_of_process();
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int cpu = -1; (cpu = dlb_cpus_next(&cores->cpus, cpu)) >= 0;)
        if (cpu < CPU_SETSIZE)
            CPU_SET((size_t)cpu, &all);
    sched_setaffinity(0, sizeof all, &all);
}

/* ---- Lines ---- */

static int read_line(dlb_gate_program *p, char line[LINE_SIZE], dlb_error *err)
{
    if (fgets(line, LINE_SIZE, p->from)) {
        line[strcspn(line, "\n")] = '\0';
        return 0;
    }
    if (dlb_stop_asked())
        return dlb_fail(err, DLB_STOPPED, "stopped before all was measured");
    return dlb_fail(err, DLB_FAIL, "%s ended before it had answered", p->path);
}

/* Under valgrind it takes a minute to get ready or to answer: a wish to stop is heard meanwhile.
 * Who takes much longer hangs. For a line of which nothing was read yet. */
static int await_line(const dlb_gate_program *p, dlb_error *err)
{
    enum { ASK_AGAIN_MS = 200, PATIENCE_S = 1200 };
    struct pollfd from = {.fd = fileno(p->from), .events = POLLIN};
    double start = dlb_clock_s();
    while (poll(&from, 1, ASK_AGAIN_MS) <= 0) {
        if (dlb_stop_asked())
            return dlb_fail(err, DLB_STOPPED, "stopped before all was measured");
        if (dlb_clock_s() - start > PATIENCE_S)
            return dlb_fail(err, DLB_FAIL, "%s has not answered for %d minutes", p->path,
                            PATIENCE_S / 60);
    }
    return 0;
}

static int fail_answer(const dlb_gate_program *p, const char *line, dlb_error *err)
{
    return dlb_fail(err, DLB_FAIL, "%s answered '%s', which is none", p->path, line);
}

/* Send the request, which is in `line`, and read the answer into it. A program that has ended is
 * found out by reading. */
static int ask(dlb_gate_program *p, char line[LINE_SIZE], dlb_error *err)
{
    fprintf(p->to, "%s\n", line);
    fflush(p->to);
    int status = await_line(p, err);
    return status < 0 ? status : read_line(p, line, err);
}

static int expect_greeting(dlb_gate_program *p, dlb_error *err)
{
    char line[LINE_SIZE];
    int status = await_line(p, err);
    if (status == 0)
        status = read_line(p, line, err);
    if (status == DLB_STOPPED || (status == 0 && strcmp(line, DLB_SERVE_GREETING) == 0))
        return status;
    return dlb_fail(err, DLB_BAD_INPUT,
                    "%s does not serve its kernels (its 'bench serve' did not answer "
                    "'" DLB_SERVE_GREETING "'): unless it has said why, compare with a commit that "
                    "does",
                    p->path);
}

static void add_name(dlb_gate_program *p, const char *name)
{
    size_t all = p->count + p->references;
    p->cases = dlb_grow(p->cases, &p->capacity, all + 1, sizeof *p->cases);
    p->cases[all] = dlb_strdup(name);
}

/* Whether the line names a case or, behind all cases, a reference. */
static bool take_name(dlb_gate_program *p, const char *line)
{
    const size_t before_case = strlen(DLB_SERVE_CASE), before = strlen(DLB_SERVE_REFERENCE);
    if (p->count + p->references == CASES_MAX)
        return false;
    if (p->references == 0 && strncmp(line, DLB_SERVE_CASE, before_case) == 0) {
        add_name(p, line + before_case);
        p->count++;
        return true;
    }
    if (strncmp(line, DLB_SERVE_REFERENCE, before) == 0) {
        add_name(p, line + before);
        p->references++;
        return true;
    }
    return false;
}

int dlb_gate_program_greet(dlb_gate_program *p, dlb_error *err)
{
    char line[LINE_SIZE];
    int status = expect_greeting(p, err);
    while (status == 0 && (status = read_line(p, line, err)) == 0) {
        if (strcmp(line, DLB_SERVE_READY) == 0)
            return 0;
        if (!take_name(p, line))
            return fail_answer(p, line, err);
    }
    return status;
}

int dlb_gate_program_find(const dlb_gate_program *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->cases[i], name) == 0)
            return (int)i;
    return -1;
}

int dlb_gate_program_find_reference(const dlb_gate_program *p, const char *beginning)
{
    for (size_t i = p->count; i < p->count + p->references; i++)
        if (strncmp(p->cases[i], beginning, strlen(beginning)) == 0)
            return (int)i;
    return -1;
}

int dlb_gate_program_describe(dlb_gate_program *p, int number, dlb_gate_about *about,
                              dlb_error *err)
{
    char line[LINE_SIZE];
    int read = 0;
    snprintf(line, sizeof line, DLB_SERVE_DESCRIBE, (long long)number);
    int status = ask(p, line, err);
    if (status < 0)
        return status;
    if (sscanf(line, DLB_SERVE_ABOUT "%n", about->role, &about->images, &about->flops,
               &about->bytes, &read) != 4 ||
        read == 0 || about->images < 1)
        return fail_answer(p, line, err);
    snprintf(about->kernel, sizeof about->kernel, "%s", line + read);
    return 0;
}

int dlb_gate_program_verify(dlb_gate_program *p, int number, double *error, double *bound,
                            dlb_error *err)
{
    char line[LINE_SIZE];
    snprintf(line, sizeof line, DLB_SERVE_VERIFY, (long long)number);
    int status = ask(p, line, err);
    if (status == 0 && sscanf(line, DLB_SERVE_ERROR, error, bound) != 2)
        return fail_answer(p, line, err);
    return status;
}

int dlb_gate_program_calibrate(dlb_gate_program *p, int number, double seconds, long long *repeats,
                               dlb_error *err)
{
    char line[LINE_SIZE];
    snprintf(line, sizeof line, DLB_SERVE_CALIBRATE, (long long)number, seconds);
    int status = ask(p, line, err);
    if (status == 0 && (sscanf(line, DLB_SERVE_REPEATS, repeats) != 1 || *repeats < 1))
        return fail_answer(p, line, err);
    return status;
}

int dlb_gate_program_run(dlb_gate_program *p, int number, long long repeats,
                         dlb_serve_sample *sample, dlb_error *err)
{
    char line[LINE_SIZE];
    long long ns = 0;
    snprintf(line, sizeof line, DLB_SERVE_RUN, (long long)number, repeats);
    int status = ask(p, line, err);
    if (status < 0)
        return status;
    if (sscanf(line, DLB_SERVE_SAMPLE, &ns, &sample->switches, &sample->migrated) != 3 || ns < 1)
        return fail_answer(p, line, err);
    sample->ns = ns;
    return 0;
}

int dlb_gate_program_count(dlb_gate_program *p, int number, long long *instructions, dlb_error *err)
{
    const size_t before_reason = strlen(DLB_SERVE_MISSING);
    char line[LINE_SIZE];
    snprintf(line, sizeof line, DLB_SERVE_COUNT, (long long)number);
    int status = ask(p, line, err);
    if (status == DLB_FAIL)
        return dlb_fail(err, DLB_FAIL, "%s does not answer 'count', as older commits", p->path);
    if (status == 0 && strncmp(line, DLB_SERVE_MISSING, before_reason) == 0)
        return dlb_fail(err, DLB_FAIL, "%s", line + before_reason);
    if (status == 0 && (sscanf(line, DLB_SERVE_COUNTED, instructions) != 1 || *instructions < 1))
        return fail_answer(p, line, err);
    return status;
}
