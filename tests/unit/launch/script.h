/*
 * A script as the command that dlb_launch_run runs, in a folder of its own.
 *
 *     static int status = run_script("echo $$ >pid; exit 3");
 *     pid_t pid = read_pid("pid");
 */
#ifndef DLB_TESTS_LAUNCH_SCRIPT_H
#define DLB_TESTS_LAUNCH_SCRIPT_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "launch/command_line.h"
#include "support/tempdir.h"

static tempdir dir;
static dlb_command_line line;
static dlb_launch_care care;

static inline void setup(void)
{
    tempdir_make(&dir);
    line = (dlb_command_line){.stop_signal = SIGUSR1};
    care = (dlb_launch_care){0};
}

static inline void teardown(void)
{
    dlb_command_line_release(&line);
    tempdir_remove(&dir);
}

/* The command is a script, which finds the test's folder as its current one. */
static inline void set_script(const char *script)
{
    dlb_command_line_add(&line, "/bin/sh");
    dlb_command_line_add(&line, "-c");
    dlb_command_line_add(&line, script);
    cr_assert_eq(chdir(dir.path), 0);
}

static inline dlb_launch_end run_to_end(void)
{
    dlb_launch_end end = {.status = -1};
    dlb_error err;
    cr_assert_eq(dlb_launch_run(&line, &care, &end, &err), 0, "%s", err.message);
    return end;
}

static inline int run_line(void)
{
    return run_to_end().status;
}

static inline int run_script(const char *script)
{
    set_script(script);
    return run_line();
}

/* What a script has written about a process. */
static inline pid_t read_pid(const char *name)
{
    char text[16] = "";
    long long pid = 0;
    FILE *file = fopen(tempdir_file(&dir, name), "r");
    cr_assert(file && fgets(text, sizeof text, file));
    fclose(file);
    text[strcspn(text, "\n")] = '\0';
    cr_assert(dlb_parse_int(text, &pid) && pid > 1);
    return (pid_t)pid;
}

/* As in /proc/PID/stat; 'X' if it is not there. */
static inline char state_of(pid_t pid)
{
    char path[64], state = 'X';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 'X';
    int read = fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return read == 1 ? state : 'X';
}

/* Whether the process is there and no zombie. */
static inline bool is_alive(pid_t pid)
{
    char state = state_of(pid);
    return state != 'Z' && state != 'X';
}

/* Long enough for every test, and no longer: a test that fails leaves nothing behind for good. */
#define LINGER "i=0; while test $((i += 1)) -lt 600; do sleep 0.05; done"

/* ---- A process between this one and the command, which runs it ---- */

/* Wait until the script has made the file. */
static inline void await_file(const char *name)
{
    while (access(tempdir_file(&dir, name), F_OK) != 0)
        usleep(1000);
}

/* A child that does not outlive a test that fails, not even suspended. */
static inline pid_t fork_supervisor(void)
{
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return pid;
}

/* The command is to make the file `ready`. */
static inline pid_t start_line(void)
{
    pid_t pid = fork_supervisor();
    if (pid == 0)
        _exit(run_line());
    await_file("ready");
    return pid;
}

static inline pid_t start_supervisor(const char *script)
{
    set_script(script);
    return start_line();
}

static inline void expect_end(pid_t supervisor, int expected)
{
    int status;
    cr_assert_eq(waitpid(supervisor, &status, 0), supervisor);
    cr_assert(WIFEXITED(status));
    cr_assert_eq(WEXITSTATUS(status), expected, "%d instead of %d", WEXITSTATUS(status), expected);
}

/* The process, which makes the file `survived` at its natural end, ends before that. */
static inline void expect_early_end(pid_t pid)
{
    while (is_alive(pid))
        usleep(1000);
    cr_assert_neq(access(tempdir_file(&dir, "survived"), F_OK), 0);
}

#endif
