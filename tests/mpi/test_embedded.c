/* In a program that has initialised MPI itself, which stays its own to finalise. */
#include <string.h>

#include "check.h"
#include "comm/comm.h"

static void it_may_keep_its_ranks_to_itself(void)
{
    dlb_comm *comm;
    dlb_error err;
    CHECK(dlb_comm_create(&comm, &(dlb_comm_options){.ranks = 1}, &err) == 0, "%s", err.message);
    CHECK(dlb_comm_size(comm) == 1 && dlb_comm_rank(comm) == 0, "%d", dlb_comm_size(comm));
    CHECK(dlb_comm_speaks(comm), "a rank alone");
    dlb_comm_free(comm);
}

static void or_lend_them(int size, int rank)
{
    dlb_comm *comm;
    dlb_error err;
    CHECK(dlb_comm_create(&comm, &(dlb_comm_options){.hang_s = 60}, &err) == 0, "%s", err.message);
    CHECK(dlb_comm_size(comm) == size && dlb_comm_rank(comm) == rank, "%d", dlb_comm_size(comm));
    dlb_comm_free(comm);
}

static void threads_that_it_did_not_ask_for_are_refused(void)
{
    dlb_comm *comm;
    dlb_error err;
    dlb_comm_options options = {.many_threads = true};
    CHECK(dlb_comm_create(&comm, &options, &err) == DLB_FAIL, "created");
    CHECK(strstr(err.message, "MPI_THREAD_SERIALIZED"), "%s", err.message);
}

int main(int argc, char **argv)
{
    int provided, size, rank, finalised;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    it_may_keep_its_ranks_to_itself();
    or_lend_them(size, rank);
    if (provided < MPI_THREAD_SERIALIZED)
        threads_that_it_did_not_ask_for_are_refused();
    MPI_Finalized(&finalised);
    CHECK(!finalised, "by someone else");
    MPI_Finalize();
    return 0;
}
