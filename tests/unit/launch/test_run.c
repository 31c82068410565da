#include <fcntl.h>
#include <math.h>

#include "script.h"

TestSuite(run, .init = setup, .fini = teardown, .timeout = 60);

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

static void expect_failure(const char *program, const char *message)
{
    dlb_launch_end end;
    dlb_error err;
    dlb_command_line_add(&line, program);
    cr_assert_eq(dlb_launch_run(&line, &care, &end, &err), DLB_FAIL);
    cr_assert_str_eq(err.message, message);
}

Test(run, a_command_that_cannot_be_executed_is_named)
{
    expect_failure("/nowhere/mpirun",
                   "/nowhere/mpirun cannot be started: No such file or directory");
}

Test(run, a_command_that_is_not_on_path_is_named)
{
    expect_failure("no-such-trainer",
                   "no-such-trainer cannot be started: it is in no folder of PATH");
}

Test(run, a_folder_that_is_not_there_is_named)
{
    care.folder = "/nowhere";
    expect_failure("/bin/true",
                   "/bin/true cannot be started in /nowhere: No such file or directory");
}

Test(run, its_time_is_told)
{
    set_script("sleep 0.2");
    dlb_launch_end end = run_to_end();
    cr_assert_geq(end.wall_s, 0.2);
    cr_assert(!end.stopped && !end.timed_out);
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

/* ls has a file open itself: the folder that it lists. */
Test(run, our_own_files_stay_with_us)
{
    static const char *const phrases[] = {NULL};
    line.chatter = phrases;
    int lock = open(tempdir_file(&dir, "lock"), O_RDWR | O_CREAT, 0600);
    cr_assert_geq(lock, 0);
    cr_assert_eq(run_script("test \"$(ls /proc/self/fd | xargs)\" = '0 1 2 3'"), 0);
    close(lock);
}

Test(run, a_program_is_found_on_path_and_keeps_its_name)
{
    const char *program = tempdir_file(&dir, "trainer");
    cr_assert_eq(symlink("/bin/sh", program), 0);
    char path[256];
    snprintf(path, sizeof path, "/nowhere:%s:/bin:/usr/bin", dir.path);
    setenv("PATH", path, 1);
    dlb_command_line_add(&line, "trainer");
    dlb_command_line_add(&line, "-c");
    dlb_command_line_add(&line, "test $0 = trainer");
    cr_assert_eq(run_line(), 0);
}

Test(run, it_is_started_in_the_folder)
{
    care.folder = dir.path;
    dlb_command_line_add(&line, "/bin/sh");
    dlb_command_line_add(&line, "-c");
    dlb_command_line_add(&line, ">here");
    cr_assert_eq(run_line(), 0);
    cr_assert_eq(access(tempdir_file(&dir, "here"), F_OK), 0);
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

Test(run, a_log_gets_all_that_it_says)
{
    static const char *const phrases[] = {"chatter", NULL};
    char text[64] = "";
    line.chatter = phrases;
    care.output = open(tempdir_file(&dir, "log"), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    cr_assert_eq(run_script("echo first; echo some chatter >&2; printf last; exit 4"), 4);
    cr_assert_gt(pread(care.output, text, sizeof text - 1, 0), 0);
    cr_assert_str_eq(text, "first\nsome chatter\nlast");
    close(care.output);
}

/* ---- What it leaves behind ---- */

Test(run, what_it_started_ends_with_it)
{
    static const char *const phrases[] = {NULL};
    line.chatter = phrases; /* a pipe, which the survivor keeps open */
    cr_assert_eq(run_script("sleep 50 & echo $! >survivor; exit 6"), 6);
    cr_assert(!is_alive(read_pid("survivor")));
}

Test(run, what_left_its_group_ends_with_it)
{
    cr_assert_eq(run_script("setsid -f sh -c 'echo $$ >daemon; sleep 50'; "
                            "until test -s daemon; do sleep 0.02; done; exit 6"),
                 6);
    cr_assert(!is_alive(read_pid("daemon")));
}

Test(run, a_stubborn_orphan_is_killed_and_its_time_does_not_count)
{
    set_script("setsid -f sh -c 'trap \"\" TERM; echo $$ >daemon; " LINGER "'; "
               "until test -s daemon; do sleep 0.02; done; exit 6");
    dlb_launch_end end = run_to_end();
    cr_assert_eq(end.status, 6);
    cr_assert_lt(end.wall_s, 4); /* less than the orphan's grace */
    cr_assert(!is_alive(read_pid("daemon")));
}

/* ---- Time ---- */

Test(run, at_its_timeout_it_is_ended)
{
    care.timeout_s = 0.2;
    set_script(LINGER "; exit 3");
    dlb_launch_end end = run_to_end();
    cr_assert(end.timed_out);
    cr_assert_eq(end.status, 128 + SIGTERM);
}

Test(run, a_stubborn_family_does_not_outlive_its_timeout)
{
    care.timeout_s = 0.2;
    set_script("trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$ >child; " LINGER "' & " LINGER);
    dlb_launch_end end = run_to_end();
    cr_assert(end.timed_out);
    cr_assert_eq(end.status, 128 + SIGKILL);
    cr_assert(!is_alive(read_pid("child")));
}

Test(run, what_ends_in_time_has_not_timed_out)
{
    care.timeout_s = 50;
    set_script("exit 3");
    dlb_launch_end end = run_to_end();
    cr_assert(!end.timed_out);
    cr_assert_eq(end.status, 3);
}

Test(run, a_timeout_that_never_comes_is_none)
{
    static const double ages[] = {1e10, 1e300, INFINITY};
    set_script("exit 3");
    for (size_t i = 0; i < sizeof ages / sizeof *ages; i++) {
        care.timeout_s = ages[i];
        dlb_launch_end end = run_to_end();
        cr_assert(!end.timed_out);
        cr_assert_eq(end.status, 3);
    }
}

typedef struct ticks {
    int count;
    double last;
    bool forward;
} ticks;

static void on_tick(void *arg, double elapsed_s)
{
    ticks *t = arg;
    t->forward = t->forward && elapsed_s > t->last;
    t->last = elapsed_s;
    if (++t->count == 3)
        close(creat(tempdir_file(&dir, "enough"), 0600));
}

Test(run, it_ticks_while_it_runs)
{
    ticks t = {.forward = true};
    care.on_tick = on_tick;
    care.tick_ms = 20;
    care.arg = &t;
    cr_assert_eq(run_script("until test -e enough; do sleep 0.01; done; exit 2"), 2);
    cr_assert_geq(t.count, 3);
    cr_assert(t.forward);
}
