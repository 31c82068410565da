#include <criterion/criterion.h>
#include <stdlib.h>

#include "comm/comm.h"

static const char *const variables[] = {
    "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",     "PMIX_RANK",
    "ALPS_APP_PE",          "SLURM_NTASKS", "SLURM_STEP_ID",
    "SLURM_STEP_NUM_TASKS", "SLURM_STEPID", "SLURM_PROCID",
};

static void clear_environment(void)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
}

TestSuite(launcher, .init = clear_environment);

Test(launcher, without_one_there_are_no_ranks)
{
    cr_assert_eq(dlb_comm_launched(), 0);
}

Test(launcher, mpirun_says_how_many)
{
    setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    cr_assert_eq(dlb_comm_launched(), 4);
}

Test(launcher, hydra_says_how_many)
{
    setenv("PMI_SIZE", "6", 1);
    cr_assert_eq(dlb_comm_launched(), 6);
}

Test(launcher, a_task_of_a_step_is_among_the_tasks_of_that_step)
{
    setenv("SLURM_NTASKS", "64", 1);
    setenv("SLURM_PROCID", "3", 1);
    setenv("SLURM_STEP_ID", "0", 1);
    cr_assert_eq(dlb_comm_launched(), 64);
    setenv("SLURM_STEP_NUM_TASKS", "8", 1);
    cr_assert_eq(dlb_comm_launched(), 8);
}

Test(launcher, a_batch_script_is_no_task)
{
    setenv("SLURM_NTASKS", "64", 1);
    setenv("SLURM_PROCID", "0", 1);
    cr_assert_eq(dlb_comm_launched(), 0);
}

Test(launcher, an_interactive_shell_of_a_batch_system_is_no_rank)
{
    setenv("SLURM_NTASKS", "4", 1);
    setenv("SLURM_STEP_NUM_TASKS", "1", 1);
    setenv("SLURM_STEP_ID", "4294967290", 1);
    setenv("SLURM_PROCID", "0", 1);
    cr_assert_eq(dlb_comm_launched(), 0);
}

Test(launcher, what_is_no_count_is_not_taken_for_one)
{
    setenv("OMPI_COMM_WORLD_SIZE", "many", 1);
    setenv("PMI_SIZE", "-2", 1);
    cr_assert_eq(dlb_comm_launched(), 0);
}

Test(launcher, a_process_alone_is_rank_0_of_1_and_speaks)
{
    dlb_comm *comm;
    dlb_error err;
    cr_assert_eq(dlb_comm_create(&comm, &(dlb_comm_options){.ranks = 1}, &err), 0);
    cr_assert_eq(dlb_comm_rank(comm), 0);
    cr_assert_eq(dlb_comm_size(comm), 1);
    cr_assert_eq(dlb_comm_local_size(comm), 1);
    cr_assert_eq(dlb_comm_nodes(comm), 1);
    cr_assert_str_eq(dlb_comm_library(comm), "none");
    cr_assert(dlb_comm_speaks(comm));
    dlb_comm_abort(comm, 1);
    dlb_comm_free(comm);
    cr_assert(dlb_comm_speaks(NULL));
    dlb_comm_abort(NULL, 1);
}

Test(launcher, more_ranks_than_there_are_are_refused_with_a_way_out)
{
    dlb_comm *comm;
    dlb_error err;
    cr_assert_eq(dlb_comm_create(&comm, &(dlb_comm_options){.ranks = 4}, &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "mpirun -n 4"), "%s", err.message);
}
