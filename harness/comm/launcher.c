#include <limits.h>
#include <mpi.h>

#include "base/str.h"
#include "comm/comm.h"
#include "comm/runtime.h"

/* A count in the environment; 0 if there is none. */
static int count_in(const char *variable)
{
    const char *text = getenv(variable);
    long long value;
    return text && dlb_parse_int(text, &value) && value > 0 && value <= INT_MAX ? (int)value : 0;
}

/*
 * A batch script has the variables of its job, too, but is no task of a step; and an interactive
 * shell is the only task of one, without being a rank. A rank alone has PMIX_RANK.
 */
static int tasks_of_slurm_step(void)
{
    if (!getenv("SLURM_PROCID") || !(getenv("SLURM_STEP_ID") || getenv("SLURM_STEPID")))
        return 0;
    int tasks = count_in("SLURM_STEP_NUM_TASKS");
    if (!tasks)
        tasks = count_in("SLURM_NTASKS");
    return tasks > 1 ? tasks : 0;
}

/* Launchers that leave a mark, but not the number of processes. */
static bool is_marked(void)
{
    return getenv("PMIX_RANK") || getenv("ALPS_APP_PE");
}

static int ask_mpi(void)
{
    int size = 0;
    if (dlb_mpi_begin(true, NULL) == 0)
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

int dlb_comm_launched(void)
{
    int count = count_in("OMPI_COMM_WORLD_SIZE");
    if (!count)
        count = count_in("PMI_SIZE");
    if (!count)
        count = tasks_of_slurm_step();
    return count || !is_marked() ? count : ask_mpi();
}
