#include "comm/comm.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "comm/comm_state.h"
#include "comm/runtime.h"

/* What each rank tells the others of itself. */
typedef struct card {
    char host[DLB_HOST_NAME];
    int leader; /* a number that the ranks of a node have in common; nodes are in its order */
    pid_t pid;
    uint64_t pid_space; /* in which the pid is valid, on its host */
} card;

static card make_card(int leader)
{
    card mine = {.leader = leader, .pid = getpid()};
    if (gethostname(mine.host, sizeof mine.host - 1) < 0 || !mine.host[0])
        snprintf(mine.host, sizeof mine.host, "localhost");
    struct stat space;
    if (stat("/proc/self/ns/pid", &space) == 0)
        mine.pid_space = space.st_ino;
    return mine;
}

static dlb_comm *make_comm(int rank, int size, const dlb_comm_options *options)
{
    dlb_comm *comm = dlb_alloc(1, sizeof *comm);
    comm->rank = rank;
    comm->size = size;
    comm->hang_s = options->hang_s;
    comm->all = comm->node = MPI_COMM_NULL;
    comm->request = MPI_REQUEST_NULL;
    comm->places = dlb_alloc((size_t)size, sizeof *comm->places);
    comm->pids = dlb_alloc((size_t)size, sizeof *comm->pids);
    comm->neighbours = dlb_alloc((size_t)size, sizeof *comm->neighbours);
    comm->alive = dlb_alloc((size_t)size, sizeof *comm->alive);
    for (int r = 0; r < size; r++)
        comm->alive[r] = true;
    pthread_mutex_init(&comm->mpi, NULL);
    return comm;
}

static void release(dlb_comm *comm)
{
    pthread_mutex_destroy(&comm->mpi);
    free(comm->alive);
    free(comm->neighbours);
    free(comm->pids);
    free(comm->places);
    free(comm);
}

/* Ranks of a node are consecutive. */
static void read_cards(dlb_comm *comm, const card *cards)
{
    const card *own = &cards[comm->rank];
    for (int r = 0; r < comm->size; r++) {
        bool new_node = r > 0 && cards[r].leader != cards[r - 1].leader;
        dlb_comm_place *place = &comm->places[r];
        memcpy(place->host, cards[r].host, sizeof place->host);
        place->node = r == 0 ? 0 : comm->places[r - 1].node + new_node;
        place->local = r == 0 || new_node ? 0 : comm->places[r - 1].local + 1;
        comm->pids[r] = cards[r].pid;
        comm->neighbours[r] = own->pid_space && cards[r].pid_space == own->pid_space &&
                              strcmp(cards[r].host, own->host) == 0;
        comm->local_size += cards[r].leader == own->leader;
    }
    comm->nodes = comm->places[comm->size - 1].node + 1;
}

static int create_alone(dlb_comm **comm, const dlb_comm_options *options, dlb_error *err)
{
    if (options->ranks > 1)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "ranks = %d, but this process was started alone: start it with "
                        "mpirun -n %d or srun -n %d",
                        options->ranks, options->ranks, options->ranks);
    *comm = make_comm(0, 1, options);
    snprintf((*comm)->library, sizeof(*comm)->library, "none");
    card mine = make_card(0);
    read_cards(*comm, &mine);
    return 0;
}

/* The lowest of MPI's own ranks among those of this rank's node. */
static int find_leader(int world_rank, int node_ranks)
{
    MPI_Comm host;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world_rank, MPI_INFO_NULL, &host);
    int local, size;
    MPI_Comm_rank(host, &local);
    MPI_Comm_size(host, &size);
    int *ranks = dlb_alloc((size_t)size, sizeof *ranks);
    MPI_Allgather(&world_rank, 1, MPI_INT, ranks, 1, MPI_INT, host);
    int leader = ranks[node_ranks > 0 ? local / node_ranks * node_ranks : 0];
    free(ranks);
    MPI_Comm_free(&host);
    return leader;
}

/* The ranks of all nodes, those of a node together. */
static dlb_comm *renumber(int leader, const dlb_comm_options *options)
{
    MPI_Comm all;
    int rank, size;
    MPI_Comm_split(MPI_COMM_WORLD, 0, leader, &all);
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    dlb_comm *comm = make_comm(rank, size, options);
    comm->all = all;
    dlb_mpi_name(comm->library, sizeof comm->library);
    MPI_Comm_split(all, leader, rank, &comm->node);
    MPI_Comm_set_errhandler(comm->node, MPI_ERRORS_RETURN);
    return comm;
}

static int learn_places(dlb_comm *comm, int leader, dlb_error *err)
{
    card mine = make_card(leader), *cards = dlb_alloc((size_t)comm->size, sizeof *cards);
    int status = dlb_comm_allgather(comm, &mine, sizeof mine, cards, err);
    if (status == 0)
        read_cards(comm, cards);
    free(cards);
    return status;
}

static int check_size(const dlb_comm *comm, int expected, int launched, dlb_error *err)
{
    if (launched > 1 && comm->size == 1)
        return dlb_fail(err, DLB_FAIL,
                        "the launcher has started %d processes, but for MPI each is alone: start "
                        "them with the launcher of %s (with srun, try --mpi=pmix)",
                        launched, comm->library);
    if (expected > 0 && expected != comm->size)
        return dlb_fail(err, DLB_BAD_INPUT, "ranks = %d, but MPI has started %d", expected,
                        comm->size);
    return 0;
}

static int create_among_others(dlb_comm **comm, const dlb_comm_options *options, int launched,
                               dlb_error *err)
{
    int status = dlb_mpi_begin(options->many_threads, err);
    if (!dlb_mpi_runs())
        return status;
    int world_rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    int leader = find_leader(world_rank, options->node_ranks);
    *comm = renumber(leader, options);
    int learnt = learn_places(*comm, leader, err);
    if (learnt == 0 && status == 0)
        status = check_size(*comm, options->ranks, launched, err);
    status = learnt < 0 ? learnt : dlb_comm_agree(*comm, status, err);
    if (status < 0) {
        dlb_comm_free(*comm);
        *comm = NULL;
    }
    return status;
}

int dlb_comm_create(dlb_comm **comm, const dlb_comm_options *options, dlb_error *err)
{
    bool programs_own = dlb_mpi_runs() && !dlb_mpi_is_ours();
    int launched = programs_own ? 0 : dlb_comm_launched();
    bool alone = programs_own ? options->ranks == 1 : launched == 0;
    return alone ? create_alone(comm, options, err)
                 : create_among_others(comm, options, launched, err);
}

/* What people may ask of the last comm that was freed. */
static struct {
    bool broken, silent, among_others;
} last;

void dlb_comm_free(dlb_comm *comm)
{
    if (!comm)
        return;
    if (comm->all != MPI_COMM_NULL && dlb_mpi_runs() && dlb_comm_barrier(comm, NULL) == 0) {
        MPI_Comm_free(&comm->node);
        MPI_Comm_free(&comm->all);
    }
    last.broken = dlb_comm_is_broken(comm);
    last.silent = !dlb_comm_speaks(comm);
    last.among_others = comm->size > 1;
    release(comm);
}

int dlb_comm_rank(const dlb_comm *comm)
{
    return comm->rank;
}

int dlb_comm_size(const dlb_comm *comm)
{
    return comm->size;
}

int dlb_comm_nodes(const dlb_comm *comm)
{
    return comm->nodes;
}

const dlb_comm_place *dlb_comm_place_of(const dlb_comm *comm, int rank)
{
    return &comm->places[rank];
}

int dlb_comm_local_size(const dlb_comm *comm)
{
    return comm->local_size;
}

const char *dlb_comm_library(const dlb_comm *comm)
{
    return comm->library;
}

bool dlb_comm_is_broken(const dlb_comm *comm)
{
    return comm ? atomic_load_explicit(&comm->broken, memory_order_acquire) : last.broken;
}

bool dlb_comm_speaks(const dlb_comm *comm)
{
    if (!comm)
        return !last.silent;
    if (!dlb_comm_is_broken(comm))
        return comm->rank == 0;
    for (int r = 0; r < comm->rank; r++)
        if (comm->alive[r])
            return false;
    return true;
}

void dlb_comm_abort(const dlb_comm *comm, int status)
{
    bool among_others = comm ? comm->size > 1 : last.among_others;
    if (among_others && dlb_mpi_runs())
        MPI_Abort(MPI_COMM_WORLD, status);
}
