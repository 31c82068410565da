#include "script.h"

TestSuite(run_signals, .init = setup, .fini = teardown, .timeout = 60);

#define UNTIL_STOPPED "trap 'exit 5' USR1; trap '' TERM; >ready; " LINGER

Test(run_signals, every_signal_that_asks_to_end_becomes_the_stop_signal)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
    set_script(UNTIL_STOPPED);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        unlink("ready");
        pid_t supervisor = start_line();
        kill(supervisor, numbers[i]);
        expect_end(supervisor, 5);
    }
}

Test(run_signals, signals_that_come_at_once_ask_once)
{
    pid_t supervisor = start_supervisor("trap 'echo >>asked' USR1; >ready;"
                                        "until test -s asked; do sleep 0.02; done; sleep 0.3;"
                                        "exit $(wc -l <asked)");
    kill(supervisor, SIGINT);
    kill(supervisor, SIGTERM);
    kill(supervisor, SIGHUP);
    expect_end(supervisor, 1);
}

Test(run_signals, a_signal_a_second_after_the_first_ends_the_whole_group)
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

Test(run_signals, a_group_that_does_not_end_is_killed)
{
    pid_t supervisor = start_supervisor("trap '' USR1 TERM; >ready; " LINGER);
    kill(supervisor, SIGINT);
    usleep(1500000);
    kill(supervisor, SIGINT);
    expect_end(supervisor, 128 + SIGKILL);
}

Test(run_signals, an_ignored_hangup_stays_ignored)
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

/* As one that comes while a launcher starts, which does not know the stop signal yet. */
Test(run_signals, a_stop_is_told_even_if_it_comes_before_the_command_can_heed_it)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    raise(SIGINT);
    set_script(LINGER);
    dlb_launch_end end = run_to_end();
    cr_assert(end.stopped);
    cr_assert_eq(end.status, 128 + SIGUSR1);
}

/* ---- Our own end ---- */

static void suspend(pid_t supervisor)
{
    int status;
    kill(supervisor, SIGTSTP);
    cr_assert_eq(waitpid(supervisor, &status, WUNTRACED), supervisor);
    cr_assert(WIFSTOPPED(status));
}

static void kill_and_bury(pid_t supervisor)
{
    kill(supervisor, SIGKILL);
    waitpid(supervisor, NULL, 0);
}

Test(run_signals, the_command_does_not_outlive_us)
{
    pid_t supervisor = start_supervisor("echo $$ >pid; >ready; " LINGER "; >survived");
    pid_t command = read_pid("pid");
    cr_assert(is_alive(command));
    kill_and_bury(supervisor);
    expect_early_end(command);
}

Test(run_signals, nor_do_its_stubborn_children_even_in_a_session_of_their_own)
{
    pid_t supervisor =
        start_supervisor("stubborn='trap \"\" TERM; echo $$ >$0; until test -s pid && test -s "
                         "hidden; do sleep 0.02; "
                         "done; >ready; " LINGER "; >survived'; "
                         "sh -c \"$stubborn\" pid & setsid -f sh -c \"$stubborn\" hidden; wait");
    pid_t child = read_pid("pid"), hidden = read_pid("hidden");
    kill_and_bury(supervisor);
    expect_early_end(child);
    expect_early_end(hidden);
}

/* The same command may be given again at once, and is not to find the cores taken. */
Test(run_signals, after_our_death_the_stubborn_have_less_time_than_after_a_timeout)
{
    pid_t supervisor = start_supervisor("echo $$ >pid; trap '' TERM; >ready; i=0; "
                                        "while test $((i += 1)) -lt 80; do sleep 0.05; done; "
                                        ">survived");
    kill_and_bury(supervisor);
    expect_early_end(read_pid("pid"));
}

Test(run_signals, nor_what_is_suspended_with_us)
{
    pid_t supervisor = start_supervisor("echo $$ >pid; >ready; " LINGER "; >survived");
    suspend(supervisor);
    kill_and_bury(supervisor);
    expect_early_end(read_pid("pid"));
}

/* In particular while it is being started, which takes about a millisecond. */
Test(run_signals, at_whatever_moment_we_are_killed_nothing_is_left)
{
    enum { MOMENTS = 40, STEP_US = 100 };
    set_script("echo $$ >>pids; " LINGER "; >survived");
    for (int moment = 0; moment < MOMENTS; moment++) {
        pid_t supervisor = fork();
        if (supervisor == 0)
            _exit(run_line());
        usleep((unsigned)(moment * STEP_US));
        kill_and_bury(supervisor);
    }
    usleep(500000);
    FILE *pids = fopen("pids", "r");
    for (int pid; pids && fscanf(pids, "%d", &pid) == 1;)
        expect_early_end(pid);
    if (pids)
        fclose(pids);
}

/* The parent of the command. */
static pid_t find_keeper(pid_t command)
{
    char path[64];
    int keeper = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)command);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    cr_assert_eq(fscanf(file, "%*d (%*[^)]) %*c %d", &keeper), 1);
    fclose(file);
    return keeper;
}

Test(run_signals, the_keeper_holds_none_of_our_files_and_goes_with_the_run)
{
    int lock[2];
    cr_assert_eq(pipe(lock), 0);
    pid_t supervisor = start_supervisor("echo $$ >pid; trap '' TERM; >ready; " LINGER);
    pid_t keeper = find_keeper(read_pid("pid"));
    close(lock[1]);
    kill_and_bury(supervisor);
    char byte;
    cr_assert_eq(read(lock[0], &byte, 1), 0); /* while the command is still in its grace */
    cr_assert(is_alive(keeper));
    expect_early_end(keeper);
}

Test(run_signals, a_keeper_that_is_killed_takes_the_command_with_it)
{
    set_script("echo $$ >pid; trap '' TERM; sleep 0.3; >ready; " LINGER "; >survived");
    pid_t supervisor = fork();
    if (supervisor == 0) {
        dlb_launch_end end;
        _exit(dlb_launch_run(&line, NULL, &end, NULL) == DLB_FAIL ? 0 : 1);
    }
    await_file("ready");
    pid_t command = read_pid("pid");
    kill(find_keeper(command), SIGKILL);
    expect_end(supervisor, 0);
    expect_early_end(command);
}

/* ---- Ctrl-Z ---- */

static void await_stopped(pid_t pid)
{
    while (state_of(pid) != 'T')
        usleep(1000);
}

Test(run_signals, a_suspended_run_stands_still_with_its_children_and_goes_on)
{
    pid_t supervisor = start_supervisor("sleep 50 & echo $! >child; echo $$ >pid; >ready; "
                                        "wait; exit 8");
    pid_t child = read_pid("child");
    suspend(supervisor);
    await_stopped(read_pid("pid"));
    await_stopped(child);
    kill(child, SIGTERM); /* which is heeded once it goes on */
    kill(supervisor, SIGCONT);
    expect_end(supervisor, 8);
}

/* A process that runs the line and ends with 0 if its end is as it should be. */
static pid_t start_judge(bool (*is_right)(const dlb_launch_end *end))
{
    pid_t pid = fork_supervisor();
    if (pid == 0) {
        dlb_launch_end end = run_to_end();
        _exit(is_right(&end) ? 0 : 1);
    }
    await_file("ready");
    return pid;
}

enum { PAUSE_US = 2500000 };

static bool is_short_and_suspended(const dlb_launch_end *end)
{
    return end->status == 3 && end->suspended && !end->timed_out && end->wall_s < 2;
}

Test(run_signals, a_pause_counts_neither_as_time_nor_towards_the_timeout_and_is_told)
{
    care.timeout_s = 2;
    set_script(">ready; sleep 0.2; exit 3");
    pid_t judge = start_judge(is_short_and_suspended);
    suspend(judge);
    usleep(PAUSE_US);
    kill(judge, SIGCONT);
    expect_end(judge, 0);
}

static bool is_in_time_and_suspended(const dlb_launch_end *end)
{
    return end->suspended && end->wall_s >= 0 && end->wall_s < 2;
}

/* As ranks that a batch system has started elsewhere. */
Test(run_signals, what_ends_while_we_are_suspended_has_a_time_nevertheless)
{
    set_script("trap '' TSTP; >ready; sleep 0.2; >ended");
    pid_t judge = start_judge(is_in_time_and_suspended);
    suspend(judge);
    await_file("ended");
    usleep(PAUSE_US);
    kill(judge, SIGCONT);
    expect_end(judge, 0);
}
