/* Real ranks, started by the mpirun of this machine; foreign programs that know nothing of MPI. */
#include <fcntl.h>

#include "script.h"

static dlb_launch_machine machine;

static void setup_ranks(void)
{
    setup();
    dlb_launch_here(&machine);
    if (!strstr(machine.version, "(Open MPI)"))
        cr_skip("there is no mpirun of Open MPI\n");
}

TestSuite(mpirun, .init = setup_ranks, .fini = teardown, .timeout = 120);

/* Two ranks run the script, which knows its number as $RANK and tells its id in pid.$RANK. */
static void set_ranks(const char *script)
{
    dlb_str whole = DLB_STR_INIT;
    dlb_str_addf(&whole, "RANK=$OMPI_COMM_WORLD_RANK; echo $$ >pid.$RANK; %s", script);
    dlb_launch launch = {.starter = DLB_STARTER_MPIRUN,
                         .ranks = 2,
                         .threads = 1,
                         .binding = DLB_BINDING_NONE,
                         .options = (const char *const[]){"--oversubscribe", NULL},
                         .wrap = (const char *const[]){"env", "WRAPPED=yes", NULL},
                         .program = (const char *const[]){"sh", "-c", whole.text, NULL},
                         .environment = (const char *const[]){"GIVEN=a b", NULL}};
    dlb_error err;
    cr_assert_eq(dlb_launch_command(&line, &launch, &machine, &err), 0, "%s", err.message);
    cr_assert_eq(chdir(dir.path), 0);
    dlb_str_release(&whole);
}

/* Both have told their ids. */
#define BOTH_READY "until test -s pid.0 && test -s pid.1; do sleep 0.02; done; >ready; "

static void expect_ranks_gone(void)
{
    cr_assert(!is_alive(read_pid("pid.0")));
    cr_assert(!is_alive(read_pid("pid.1")));
}

static void expect_early_end_of_ranks(pid_t first, pid_t second)
{
    expect_early_end(first);
    expect_early_end(second);
}

Test(mpirun, every_rank_runs_wrapped_and_with_the_variables)
{
    char text[64] = "";
    care.output = open(tempdir_file(&dir, "log"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    set_ranks("test \"$WRAPPED,$GIVEN\" = 'yes,a b' && echo said; exit $?");
    cr_assert_eq(run_line(), 0);
    cr_assert_gt(pread(care.output, text, sizeof text - 1, 0), 0);
    cr_assert_str_eq(text, "said\nsaid\n");
    close(care.output);
    expect_ranks_gone();
}

Test(mpirun, the_stop_signal_reaches_every_rank)
{
    set_ranks("trap 'echo >stopped.$RANK; exit 0' USR1; " BOTH_READY LINGER);
    pid_t supervisor = start_line();
    usleep(300000); /* the other rank sets its trap */
    kill(supervisor, SIGINT);
    expect_end(supervisor, 0);
    cr_assert_eq(access(tempdir_file(&dir, "stopped.0"), F_OK), 0);
    cr_assert_eq(access(tempdir_file(&dir, "stopped.1"), F_OK), 0);
}

Test(mpirun, stubborn_ranks_do_not_outlive_a_timeout)
{
    care.timeout_s = 1.5;
    set_ranks("trap '' TERM; " LINGER "; >survived");
    dlb_launch_end end = run_to_end();
    cr_assert(end.timed_out);
    cr_assert_neq(end.status, 0);
    expect_ranks_gone();
}

Test(mpirun, stubborn_ranks_do_not_outlive_us)
{
    set_ranks("trap '' TERM; " BOTH_READY LINGER "; >survived");
    pid_t supervisor = start_line(), first = read_pid("pid.0"), second = read_pid("pid.1");
    kill(supervisor, SIGKILL);
    waitpid(supervisor, NULL, 0);
    expect_early_end_of_ranks(first, second);
}

Test(mpirun, stubborn_ranks_do_not_outlive_a_launcher_that_is_killed)
{
    set_ranks("trap '' TERM; " BOTH_READY "test $RANK = 1 || kill -KILL $PPID; " LINGER
              "; >survived");
    cr_assert_eq(run_line(), 128 + SIGKILL);
    expect_ranks_gone();
}
