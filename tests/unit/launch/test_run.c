#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "launch/command_line.h"
#include "support/tempdir.h"

static tempdir dir;
static dlb_command_line line;

static void setup(void)
{
    tempdir_make(&dir);
    line = (dlb_command_line){.stop_signal = SIGUSR1};
}

static void teardown(void)
{
    dlb_command_line_release(&line);
    tempdir_remove(&dir);
}

TestSuite(run, .init = setup, .fini = teardown, .timeout = 60);

/* The command is a script, which finds the test's folder as its current one. */
static void set_script(const char *script)
{
    dlb_command_line_add(&line, "/bin/sh");
    dlb_command_line_add(&line, "-c");
    dlb_command_line_add(&line, script);
    cr_assert_eq(chdir(dir.path), 0);
}

static int run_line(void)
{
    int status = -1;
    dlb_error err;
    cr_assert_eq(dlb_launch_run(&line, &status, &err), 0, "%s", err.message);
    return status;
}

static int run_script(const char *script)
{
    set_script(script);
    return run_line();
}

/* What a script has written about a process. */
static pid_t read_pid(const char *name)
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

/* ---- How it ends ---- */

Test(run, the_exit_status_is_passed_on)
{
    cr_assert_eq(run_script("exit 7"), 7);
}

Test(run, a_signal_is_told_as_shells_do)
{
    cr_assert_eq(run_script("kill -KILL $$"), 128 + SIGKILL);
}

Test(run, it_is_waited_for_even_if_children_are_ignored)
{
    signal(SIGCHLD, SIG_IGN);
    cr_assert_eq(run_script("exit 3"), 3);
}

Test(run, a_command_that_cannot_be_executed_is_named)
{
    int status;
    dlb_error err;
    dlb_command_line_add(&line, "/nowhere/mpirun");
    cr_assert_eq(dlb_launch_run(&line, &status, &err), DLB_FAIL);
    cr_assert_str_eq(err.message, "/nowhere/mpirun cannot be started: No such file or directory");
}

/* ---- What it finds ---- */

Test(run, variables_are_added_and_replaced)
{
    setenv("DLBENCH_A", "old", 1);
    setenv("DLBENCH_AB", "kept", 1);
    dlb_command_line_set(&line, "DLBENCH_A=new");
    dlb_command_line_set(&line, "DLBENCH_B=");
    cr_assert_eq(run_script("test \"$DLBENCH_A,$DLBENCH_AB,${DLBENCH_B-unset}\" = new,kept,"), 0);
}

Test(run, words_are_passed_as_they_are)
{
    set_script("test $# = 2 && test \"$1,$2\" = 'a b,$HOME;*'");
    dlb_command_line_add(&line, "sh");
    dlb_command_line_add(&line, "a b");
    dlb_command_line_add(&line, "$HOME;*");
    cr_assert_eq(run_line(), 0);
}

Test(run, its_input_is_empty)
{
    cr_assert_eq(run_script("read line; test $? = 1"), 0);
}

Test(run, it_leads_a_process_group_of_its_own)
{
    cr_assert_eq(run_script("set -- $(cat /proc/$$/stat); test $5 = $$"), 0);
}

/* Only the stop of a background group that writes to its terminal is ignored, SIGTTOU. */
Test(run, no_signal_is_blocked_and_none_of_ours_ignored)
{
    sigset_t blocked;
    sigfillset(&blocked);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    cr_assert_eq(run_script("grep -q 'SigBlk:\t0000000000000000' /proc/self/status &&"
                            "grep -q 'SigIgn:\t0000000000200000' /proc/self/status"),
                 0);
}

Test(run, our_own_files_stay_with_us)
{
    static const char *const phrases[] = {NULL};
    line.chatter = phrases;
    cr_assert_eq(run_script("ls -l /proc/self/fd | grep -q signalfd; test $? = 1"), 0);
}

/* ---- Its messages ---- */

Test(run, its_messages_reach_our_stderr_without_the_chatter)
{
    static const char *const phrases[] = {"chatter", NULL};
    line.chatter = phrases;
    int ours = dup(STDERR_FILENO);
    int file = open(tempdir_file(&dir, "stderr"), O_RDWR | O_CREAT, 0600);
    cr_assert(file >= 0 && dup2(file, STDERR_FILENO) >= 0);
    int status = run_script("echo first >&2; echo some chatter >&2; printf last >&2; exit 4");
    dup2(ours, STDERR_FILENO);
    cr_assert_eq(status, 4);
    char text[64] = "";
    cr_assert_gt(pread(file, text, sizeof text - 1, 0), 0);
    cr_assert_str_eq(text, "first\nlast");
    close(file);
}

Test(run, what_lives_on_with_its_stderr_is_not_waited_for)
{
    static const char *const phrases[] = {NULL};
    line.chatter = phrases;
    cr_assert_eq(run_script("sleep 50 & echo $! >survivor; exit 6"), 6);
    cr_assert_eq(kill(read_pid("survivor"), SIGKILL), 0);
}

/* ---- Signals: a process between this one and the command runs it ---- */

/* Wait until the script has made the file. */
static void await_file(const char *name)
{
    while (access(tempdir_file(&dir, name), F_OK) != 0)
        usleep(1000);
}

/* The script is to make the file `ready`. */
static pid_t start_supervisor(const char *script)
{
    set_script(script);
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0)
        _exit(run_line());
    await_file("ready");
    return pid;
}

static void expect_end(pid_t supervisor, int expected)
{
    int status;
    cr_assert_eq(waitpid(supervisor, &status, 0), supervisor);
    cr_assert(WIFEXITED(status));
    cr_assert_eq(WEXITSTATUS(status), expected, "%d instead of %d", WEXITSTATUS(status), expected);
}

/* Long enough for every test, and no longer: a test that fails leaves nothing behind for good. */
#define LINGER "i=0; while test $((i += 1)) -lt 600; do sleep 0.05; done"

/* Whether the process is there and no zombie. */
static bool is_alive(pid_t pid)
{
    char path[64], state = 'X';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    int read = fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return read == 1 && state != 'Z' && state != 'X';
}

/* The process, which makes the file `survived` at its natural end, ends before that. */
static void expect_early_end(pid_t pid)
{
    while (is_alive(pid))
        usleep(1000);
    cr_assert_neq(access(tempdir_file(&dir, "survived"), F_OK), 0);
}

#define UNTIL_STOPPED "trap 'exit 5' USR1; trap '' TERM; >ready; " LINGER

Test(run, every_signal_that_asks_to_end_becomes_the_stop_signal)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
    set_script(UNTIL_STOPPED);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        unlink("ready");
        pid_t supervisor = fork();
        if (supervisor == 0)
            _exit(run_line());
        await_file("ready");
        kill(supervisor, numbers[i]);
        expect_end(supervisor, 5);
    }
}

Test(run, signals_that_come_at_once_ask_once)
{
    pid_t supervisor = start_supervisor("trap 'echo >>asked' USR1; >ready;"
                                        "until test -s asked; do sleep 0.02; done; sleep 0.3;"
                                        "exit $(wc -l <asked)");
    kill(supervisor, SIGINT);
    kill(supervisor, SIGTERM);
    kill(supervisor, SIGHUP);
    expect_end(supervisor, 1);
}

Test(run, a_signal_a_second_after_the_first_ends_the_whole_group)
{
    pid_t supervisor = start_supervisor("trap '' USR1; (" LINGER "; >survived) & "
                                        "echo $! >pid; >ready; wait; wait");
    kill(supervisor, SIGINT);
    usleep(1200000);
    for (; is_alive(supervisor); usleep(100000))
        kill(supervisor, SIGTERM); /* it counts from when it saw the first */
    expect_end(supervisor, 128 + SIGTERM);
    expect_early_end(read_pid("pid"));
}

Test(run, a_group_that_does_not_end_is_killed)
{
    pid_t supervisor = start_supervisor("trap '' USR1 TERM; >ready; " LINGER);
    kill(supervisor, SIGINT);
    usleep(1500000);
    kill(supervisor, SIGINT);
    expect_end(supervisor, 128 + SIGKILL);
}

Test(run, an_ignored_hangup_stays_ignored)
{
    signal(SIGHUP, SIG_IGN);
    pid_t supervisor = start_supervisor("trap 'exit 5' USR1; >ready; kill -HUP $$;"
                                        "sleep 0.2; >alive; " LINGER);
    kill(supervisor, SIGHUP);
    await_file("alive");
    cr_assert_eq(waitpid(supervisor, NULL, WNOHANG), 0);
    kill(supervisor, SIGTERM);
    expect_end(supervisor, 5);
}

Test(run, the_command_does_not_outlive_us)
{
    pid_t supervisor = start_supervisor("echo $$ >pid; >ready; " LINGER "; >survived");
    pid_t command = read_pid("pid");
    cr_assert(is_alive(command));
    kill(supervisor, SIGKILL);
    waitpid(supervisor, NULL, 0);
    expect_early_end(command);
}

Test(run, a_suspended_run_stands_still_and_goes_on)
{
    pid_t supervisor = start_supervisor("trap '>suspended' TSTP; trap '>continued' CONT; >ready;"
                                        "until test -e continued; do sleep 0.02; done; exit 8");
    kill(supervisor, SIGTSTP);
    int status;
    cr_assert_eq(waitpid(supervisor, &status, WUNTRACED), supervisor);
    cr_assert(WIFSTOPPED(status));
    await_file("suspended");
    kill(supervisor, SIGCONT);
    expect_end(supervisor, 8);
}
