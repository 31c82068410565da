/* What ranks agree on outside of steps, for any number of them. */
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "comm/comm.h"

static dlb_comm *make_comm(int node_ranks)
{
    dlb_comm *comm;
    dlb_error err;
    dlb_comm_options options = {.hang_s = 60, .node_ranks = node_ranks};
    CHECK(dlb_comm_create(&comm, &options, &err) == 0, "%s", err.message);
    return comm;
}

static void ranks_are_those_of_the_launcher(dlb_comm *comm)
{
    int launched = dlb_comm_launched();
    CHECK(dlb_comm_size(comm) == (launched ? launched : 1), "%d of %d", dlb_comm_size(comm),
          launched);
    CHECK(dlb_comm_nodes(comm) == 1, "%d nodes", dlb_comm_nodes(comm));
    CHECK((strcmp(dlb_comm_library(comm), "none") == 0) == (launched == 0), "%s",
          dlb_comm_library(comm));
    CHECK(dlb_comm_speaks(comm) == (dlb_comm_rank(comm) == 0), "rank %d", dlb_comm_rank(comm));
    char host[DLB_HOST_NAME] = "";
    gethostname(host, sizeof host - 1);
    for (int r = 0; r < dlb_comm_size(comm); r++)
        CHECK(strcmp(dlb_comm_place_of(comm, r)->host, host) == 0, "rank %d", r);
}

static void another_number_of_ranks_is_refused(dlb_comm *comm)
{
    dlb_comm *other = NULL;
    dlb_error err;
    dlb_comm_options options = {.ranks = dlb_comm_size(comm) + 1};
    CHECK(dlb_comm_create(&other, &options, &err) == DLB_BAD_INPUT, "created");
    CHECK(strstr(err.message, "ranks = "), "%s", err.message);
    CHECK(!other, "left behind");
}

/* The ranks of a host in nodes of two, as if there were several hosts. */
static void nodes_are_runs_of_ranks(void)
{
    dlb_comm *comm = make_comm(2);
    int size = dlb_comm_size(comm), rank = dlb_comm_rank(comm);
    CHECK(dlb_comm_nodes(comm) == (size + 1) / 2, "%d nodes", dlb_comm_nodes(comm));
    for (int r = 0; r < size; r++) {
        const dlb_comm_place *place = dlb_comm_place_of(comm, r);
        CHECK(place->node == r / 2 && place->local == r % 2, "rank %d is %d on node %d", r,
              place->local, place->node);
    }
    int alone = rank == size - 1 && size % 2 == 1;
    CHECK(dlb_comm_local_size(comm) == (alone ? 1 : 2), "%d", dlb_comm_local_size(comm));
    dlb_comm_free(comm);
}

static void broadcast_gives_all_what_rank_0_has(dlb_comm *comm)
{
    enum { COUNT = 100000 };
    static unsigned char bytes[COUNT];
    dlb_error err;
    for (int i = 0; i < COUNT; i++)
        bytes[i] = (unsigned char)(dlb_comm_rank(comm) == 0 ? i * 7 : 255);
    CHECK(dlb_comm_broadcast(comm, bytes, COUNT, &err) == 0, "%s", err.message);
    for (int i = 0; i < COUNT; i++)
        CHECK(bytes[i] == (unsigned char)(i * 7), "byte %d is %d", i, bytes[i]);
}

static void allgather_keeps_the_order_of_ranks(dlb_comm *comm)
{
    int size = dlb_comm_size(comm), rank = dlb_comm_rank(comm);
    int mine[3] = {rank, rank * 10, -rank}, *all = calloc((size_t)size, sizeof mine);
    dlb_error err;
    CHECK(dlb_comm_allgather(comm, mine, sizeof mine, all, &err) == 0, "%s", err.message);
    for (int r = 0; r < size; r++) {
        const int *theirs = all + (ptrdiff_t)r * 3;
        CHECK(theirs[0] == r && theirs[1] == r * 10 && theirs[2] == -r, "rank %d", r);
    }
    free(all);
}

/* Rank r gives r bytes, each of value r: the first gives none. */
static void allgather_any_takes_different_lengths(dlb_comm *comm)
{
    int size = dlb_comm_size(comm), rank = dlb_comm_rank(comm);
    char *mine = malloc((size_t)rank + 1), *all;
    size_t *starts;
    dlb_error err;
    memset(mine, rank, (size_t)rank);
    CHECK(dlb_comm_allgather_any(comm, mine, (size_t)rank, &all, &starts, &err) == 0, "%s",
          err.message);
    for (int r = 0; r < size; r++) {
        CHECK(starts[r + 1] - starts[r] == (size_t)r, "rank %d", r);
        for (size_t i = starts[r]; i < starts[r + 1]; i++)
            CHECK(all[i] == r, "byte %zu is %d", i, all[i]);
    }
    free(starts);
    free(all);
    free(mine);
}

static void sums_with_one_contribution_are_exact(dlb_comm *comm)
{
    int size = dlb_comm_size(comm), rank = dlb_comm_rank(comm);
    double *values = calloc((size_t)size, sizeof *values);
    values[rank] = 1.0 / 3 + rank;
    dlb_error err;
    CHECK(dlb_comm_sum(comm, values, (size_t)size, &err) == 0, "%s", err.message);
    for (int r = 0; r < size; r++)
        CHECK(values[r] == 1.0 / 3 + r, "element %d is %g", r, values[r]);
    free(values);
}

static void mpis_allreduce_sums(dlb_comm *comm)
{
    float values[2] = {1, (float)dlb_comm_rank(comm)};
    int size = dlb_comm_size(comm), sum_of_ranks = size * (size - 1) / 2;
    dlb_error err;
    CHECK(dlb_comm_mpi_allreduce(comm, values, 2, &err) == 0, "%s", err.message);
    CHECK(values[0] == (float)size && values[1] == (float)sum_of_ranks, "%g %g", (double)values[0],
          (double)values[1]);
}

static void agreement_is_success_where_all_succeeded(dlb_comm *comm)
{
    dlb_error err = {.message = "untouched"};
    CHECK(dlb_comm_agree(comm, 0, &err) == 0, "%s", err.message);
    CHECK(strcmp(err.message, "untouched") == 0, "%s", err.message);
}

/* All ranks from `lowest` on fail, each in its own way. */
static void agreement_tells_of_the_lowest_that_failed(dlb_comm *comm, int lowest)
{
    int rank = dlb_comm_rank(comm), status = 0;
    dlb_error err;
    if (rank >= lowest)
        status = dlb_fail(&err, -10 - rank, "trouble number %d", rank);
    CHECK(dlb_comm_agree(comm, status, &err) == -10 - lowest, "as many as %d", lowest);
    CHECK(err.code == -10 - lowest, "%d", err.code);
    char want[256];
    if (lowest == 0)
        snprintf(want, sizeof want, "trouble number 0");
    else
        snprintf(want, sizeof want, "rank %d on %s: trouble number %d", lowest,
                 dlb_comm_place_of(comm, lowest)->host, lowest);
    CHECK(strcmp(err.message, want) == 0, "%s", err.message);
    CHECK(!dlb_comm_is_broken(comm), "a failure of one rank is none of the comm");
}

int main(void)
{
    dlb_comm *comm = make_comm(0);
    bool first = dlb_comm_rank(comm) == 0;
    ranks_are_those_of_the_launcher(comm);
    another_number_of_ranks_is_refused(comm);
    nodes_are_runs_of_ranks();
    broadcast_gives_all_what_rank_0_has(comm);
    allgather_keeps_the_order_of_ranks(comm);
    allgather_any_takes_different_lengths(comm);
    sums_with_one_contribution_are_exact(comm);
    mpis_allreduce_sums(comm);
    agreement_is_success_where_all_succeeded(comm);
    for (int lowest = 0; lowest < dlb_comm_size(comm); lowest++)
        agreement_tells_of_the_lowest_that_failed(comm, lowest);
    dlb_comm_free(comm);
    CHECK(dlb_comm_speaks(NULL) == first && !dlb_comm_is_broken(NULL), "of the last comm");
    return 0;
}
