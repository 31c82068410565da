/*
 * The exchange in memory that the ranks of a node share; between nodes, by messages.
 *
 * Every rank of a node sees the gradients of all others there. Many parameters are one array for
 * all. Few are an array for each rank, and who has updated some leaves them in the others'
 * gradients of these, which it has just read and so has at hand: no line of memory is then written
 * by one that two have read, which takes several times as long (dlk/lines.h).
 *
 * Marks say how far each rank is with a bucket: no rank reads or writes what belongs to another
 * before its owner is ready, or writes common parameters before all are; nobody goes on to the next
 * step with a bucket before all are done with it. With several nodes, each rank sums its part over
 * its node and exchanges it with its counterparts, the ranks with the same number on other nodes.
 */
#include <stdalign.h>

#include "base/mem.h"
#include "comm/exchange_state.h"
#include "comm/radix.h"
#include "comm/rollcall.h"
#include "comm/runtime.h"
#include "comm/window.h"
#include "dlk/lines.h"
#include "dlk/tree.h"

/*
 * How many steps a rank is into a bucket. READY: it has started, so that its gradients are final
 * and it reads the parameters no more. DONE: its part of the parameters is updated.
 */
enum mark { READY, DONE, MARKS };

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "marks are shared between processes");

/* At the begin of each segment, written by its owner only. */
typedef struct control {
    _Atomic int64_t arrived; /* steps */
    /* Of even and odd steps: a rank that is a step ahead leaves what others may still read. */
    dlb_arrival arrival[2];
    alignas(DLB_CACHE_LINE) _Atomic int64_t marks[][MARKS]; /* [bucket_count] */
} control;

enum shm_phase { IDLE, STARTED, EXCHANGING, ARRIVED, SHARING, SHARED };

typedef struct shm_bucket {
    enum shm_phase phase;
    int64_t step;
    int reached; /* so many ranks, from the first on, have set the mark that is waited for */
} shm_bucket;

typedef struct shm_exchange {
    dlb_exchange base;
    int local, ranks; /* this rank's number on the node, and how many there are */
    dlb_window window;
    control **controls;    /* [ranks] */
    float **gradients;     /* [ranks] */
    float *own_parameters; /* NULL: those in the first segment are everyone's */
    dlb_range *node_parts; /* [bucket_count]: this rank's share of what its node does */
    shm_bucket *buckets;   /* [bucket_count] */
    int64_t step;          /* of arrivals */
    bool all_arrived;

    /* With several nodes. */
    MPI_Comm counterparts, world; /* for the messages of this exchange */
    dlb_radix *radix;
    dlb_rollcall rollcall;
} shm_exchange;

static shm_exchange *of(dlb_exchange *exchange)
{
    return (shm_exchange *)exchange;
}

static bool several_nodes(const shm_exchange *shm)
{
    return shm->base.division.nodes > 1;
}

static size_t control_bytes(const dlb_exchange *base)
{
    return dlb_whole_pages(sizeof(control) + (size_t)base->bucket_count * MARKS * sizeof(int64_t));
}

static size_t array_bytes(const dlb_exchange *base)
{
    return dlb_whole_pages(base->count * sizeof(float));
}

/* Ranks and their numbers on nodes must be as a dlb_division has them. */
static int check_nodes(const dlb_comm *comm, dlb_error *err)
{
    int first = 1;
    while (first < comm->size && comm->places[first].node == 0)
        first++;
    bool even = comm->size % first == 0;
    for (int r = 0; r < comm->size; r++)
        even = even && comm->places[r].node == r / first;
    if (even)
        return 0;
    return dlb_fail(err, DLB_BAD_INPUT,
                    "shared memory needs as many ranks on every node, but of the %d ranks on %d "
                    "nodes %s has %d; use comm = mpi or auto, or spread the ranks evenly",
                    comm->size, comm->nodes, comm->places[0].host, first);
}

static void *in_segment(const shm_exchange *shm, int local, size_t offset)
{
    return shm->window.segments[local] + offset;
}

static bool are_few(const dlb_exchange *base)
{
    return base->count <= DLK_CACHED_FLOATS;
}

/* Control, gradients and, in the first segment, common parameters. */
static int share_memory(shm_exchange *shm, dlb_error *err)
{
    dlb_exchange *base = &shm->base;
    size_t own = control_bytes(base) + array_bytes(base);
    size_t common = are_few(base) ? 0 : array_bytes(base);
    size_t bytes = own + (shm->local == 0 ? common : 0);
    size_t node_bytes = own * (size_t)shm->ranks + common;
    int status = dlb_window_open(&shm->window, base->comm, bytes, node_bytes, err);
    if (status < 0)
        return status;
    if (are_few(base))
        shm->own_parameters = dlb_alloc(base->count, sizeof(float));
    for (int r = 0; r < shm->ranks; r++) {
        shm->controls[r] = in_segment(shm, r, 0);
        shm->gradients[r] = in_segment(shm, r, control_bytes(base));
    }
    base->gradients = in_segment(shm, shm->local, control_bytes(base));
    base->parameters = shm->own_parameters ? shm->own_parameters : in_segment(shm, 0, own);
    return 0;
}

/* The first to write to a page has it near. */
static void touch_memory(shm_exchange *shm)
{
    dlb_exchange *base = &shm->base;
    memset(shm->window.segments[shm->local], 0, control_bytes(base) + array_bytes(base));
    if (shm->own_parameters)
        return;
    for (int b = 0; b < base->bucket_count; b++) {
        dlb_range part = shm->node_parts[b];
        memset(base->parameters + part.first, 0, dlb_range_length(part) * sizeof(float));
    }
}

static int make_messages(shm_exchange *shm, dlb_error *err)
{
    dlb_exchange *base = &shm->base;
    dlb_comm *comm = base->comm;
    MPI_Comm_dup(comm->all, &shm->world);
    MPI_Comm_set_errhandler(shm->world, MPI_ERRORS_RETURN);
    MPI_Comm_split(comm->all, shm->local, comm->rank, &shm->counterparts);
    MPI_Comm_set_errhandler(shm->counterparts, MPI_ERRORS_RETURN);
    shm->rollcall = (dlb_rollcall){.ranks = shm->world, .request = MPI_REQUEST_NULL};
    return dlb_radix_create(&shm->radix,
                            &(dlb_radix_options){
                                .comm = comm,
                                .members = shm->counterparts,
                                .radix = base->radix,
                                .bucket_count = base->bucket_count,
                                .ranges = shm->node_parts,
                                .gradients = base->gradients,
                                .parameters = base->parameters,
                                .bytes = &base->bytes,
                            },
                            err);
}

static void init(shm_exchange *shm)
{
    dlb_exchange *base = &shm->base;
    const dlb_comm *comm = base->comm;
    size_t buckets = (size_t)base->bucket_count, ranks = (size_t)comm->local_size;
    base->division = (dlb_division){comm->local_size, comm->nodes, base->radix};
    shm->local = comm->places[comm->rank].local;
    shm->ranks = comm->local_size;
    shm->window.win = MPI_WIN_NULL;
    shm->counterparts = shm->world = MPI_COMM_NULL;
    shm->rollcall.request = MPI_REQUEST_NULL;
    shm->controls = dlb_alloc(ranks, sizeof(control *));
    shm->gradients = dlb_alloc(ranks, sizeof *shm->gradients);
    shm->buckets = dlb_alloc(buckets, sizeof *shm->buckets);
    shm->node_parts = dlb_alloc(buckets, sizeof *shm->node_parts);
    for (int b = 0; b < base->bucket_count; b++)
        shm->node_parts[b] = dlb_division_node_part(&base->division, base->buckets[b], comm->rank);
}

static int open_shm(dlb_exchange *exchange, dlb_error *err)
{
    shm_exchange *shm = of(exchange);
    init(shm);
    int status = check_nodes(exchange->comm, err);
    if (status == 0)
        status = share_memory(shm, err);
    if (status < 0)
        return status;
    touch_memory(shm);
    if (several_nodes(shm))
        status = make_messages(shm, err);
    return dlb_comm_agree(exchange->comm, status, err);
}

static bool close_shm(dlb_exchange *exchange, bool whole)
{
    shm_exchange *shm = of(exchange);
    bool quiet = whole && shm->rollcall.request == MPI_REQUEST_NULL &&
                 (!shm->radix || dlb_radix_is_quiet(shm->radix));
    dlb_radix_free(shm->radix);
    if (quiet && shm->world != MPI_COMM_NULL) {
        MPI_Comm_free(&shm->counterparts);
        MPI_Comm_free(&shm->world);
    }
    dlb_window_close(&shm->window, quiet);
    dlb_mpi_release(shm->own_parameters, quiet);
    free(shm->node_parts);
    free(shm->buckets);
    free(shm->gradients);
    free(shm->controls);
    return quiet;
}

static void set_mark(const shm_exchange *shm, int bucket, enum mark mark)
{
    _Atomic int64_t *own = &shm->controls[shm->local]->marks[bucket][mark];
    atomic_store_explicit(own, shm->buckets[bucket].step, memory_order_release);
}

/* Whether all ranks of the node have set the mark in this step. */
static bool all_reached(const shm_exchange *shm, int bucket, enum mark mark)
{
    shm_bucket *b = &shm->buckets[bucket];
    while (b->reached < shm->ranks) {
        _Atomic int64_t *theirs = &shm->controls[b->reached]->marks[bucket][mark];
        if (atomic_load_explicit(theirs, memory_order_acquire) < b->step)
            return false;
        b->reached++;
    }
    return true;
}

static void enter(shm_bucket *bucket, enum shm_phase phase)
{
    bucket->phase = phase;
    bucket->reached = 0;
}

/* This rank is the only one on its node that reads this range of the others' gradients. */
static void sum_and_take_over(const shm_exchange *shm, size_t first, size_t end)
{
    dlk_tree_sum_range(shm->ranks, (const float *const *)shm->gradients, first, end,
                       shm->base.gradients);
    for (int r = 0; r < shm->ranks; r++)
        if (r != shm->local)
            dlk_take_over(shm->gradients[r] + first, (end - first) * sizeof(float));
}

/* So little at a time that what was read is still in cache when it is taken over. */
static void sum_over_node(const shm_exchange *shm, dlb_range range)
{
    enum { MOST = 32 * 1024, LEAST = 256 }; /* floats, of all ranks and of one */
    size_t step = MOST / (size_t)shm->ranks / LEAST * LEAST;
    step = step > LEAST ? step : LEAST;
    for (size_t first = range.first; first < range.end; first += step)
        sum_and_take_over(shm, first, first + step < range.end ? first + step : range.end);
}

/* All gradients of the node are there: go on with the other nodes, if any. */
static void leave_started(shm_exchange *shm, int bucket)
{
    if (several_nodes(shm)) {
        sum_over_node(shm, shm->node_parts[bucket]);
        dlb_radix_start(shm->radix, bucket);
    }
    enter(&shm->buckets[bucket], several_nodes(shm) ? EXCHANGING : ARRIVED);
}

static void copy(float *to, const float *from, dlb_range range)
{
    memcpy(to + range.first, from + range.first, dlb_range_length(range) * sizeof *to);
}

/* Leave what this rank, or its counterparts, have updated to the others on the node. */
static void hand_out(const shm_exchange *shm, int bucket)
{
    for (int r = 0; r < shm->ranks; r++)
        if (r != shm->local)
            copy(shm->gradients[r], shm->own_parameters, shm->node_parts[bucket]);
}

/* Take what the others have left. Gradients will be written there next. */
static void take_in(const shm_exchange *shm, int bucket)
{
    const dlb_exchange *base = &shm->base;
    for (int r = 0; r < shm->ranks; r++) {
        dlb_range part = dlb_division_node_part(&base->division, base->buckets[bucket], r);
        if (r == shm->local)
            continue;
        copy(shm->own_parameters, base->gradients, part);
        dlk_take_over(base->gradients + part.first, dlb_range_length(part) * sizeof(float));
    }
}

static void be_done(shm_exchange *shm, int bucket)
{
    if (shm->own_parameters)
        hand_out(shm, bucket);
    set_mark(shm, bucket, DONE);
    enter(&shm->buckets[bucket], SHARED);
}

/* Everyone on the node is done. */
static void leave_shared(shm_exchange *shm, int bucket)
{
    if (shm->own_parameters)
        take_in(shm, bucket);
    enter(&shm->buckets[bucket], IDLE);
}

/* As far as it can go. */
static void advance(shm_exchange *shm, int bucket)
{
    shm_bucket *b = &shm->buckets[bucket];
    if (b->phase == STARTED && all_reached(shm, bucket, READY))
        leave_started(shm, bucket);
    if (b->phase == EXCHANGING && dlb_radix_arrived(shm->radix, bucket))
        enter(b, ARRIVED);
    if (b->phase == SHARING && dlb_radix_shared(shm->radix, bucket))
        be_done(shm, bucket);
    if (b->phase == SHARED && all_reached(shm, bucket, DONE))
        leave_shared(shm, bucket);
}

/* Other nodes may wait for any bucket; on this node nobody waits for what advance does. */
static void progress(dlb_exchange *exchange)
{
    shm_exchange *shm = of(exchange);
    if (!several_nodes(shm))
        return;
    dlb_radix_progress(shm->radix);
    for (int b = 0; b < exchange->bucket_count; b++)
        advance(shm, b);
}

static void start(dlb_exchange *exchange, int bucket)
{
    shm_exchange *shm = of(exchange);
    shm_bucket *b = &shm->buckets[bucket];
    enter(b, STARTED);
    b->step++;
    set_mark(shm, bucket, READY);
}

static bool arrived(dlb_exchange *exchange, int bucket)
{
    shm_exchange *shm = of(exchange);
    progress(exchange);
    advance(shm, bucket);
    return shm->buckets[bucket].phase == ARRIVED;
}

static void sum(dlb_exchange *exchange, int bucket, dlb_range part)
{
    shm_exchange *shm = of(exchange);
    if (several_nodes(shm))
        dlb_radix_sum(shm->radix, bucket, part);
    else
        sum_over_node(shm, part);
}

/* What this rank has read of the others on its node, and is about to write for them. */
static void count_bytes(shm_exchange *shm, int bucket)
{
    int64_t bytes = (int64_t)(dlb_range_length(shm->node_parts[bucket]) * sizeof(float));
    int others = shm->ranks - 1, places = shm->own_parameters ? others : others > 0;
    shm->base.bytes.received += bytes * others;
    shm->base.bytes.sent += bytes * places;
}

static void share(dlb_exchange *exchange, int bucket)
{
    shm_exchange *shm = of(exchange);
    count_bytes(shm, bucket);
    if (several_nodes(shm)) {
        dlb_radix_share(shm->radix, bucket);
        enter(&shm->buckets[bucket], SHARING);
    } else {
        be_done(shm, bucket);
    }
}

static bool shared(dlb_exchange *exchange, int bucket)
{
    shm_exchange *shm = of(exchange);
    progress(exchange);
    advance(shm, bucket);
    return shm->buckets[bucket].phase == IDLE;
}

static void arrive(dlb_exchange *exchange, const dlb_arrival *mine)
{
    shm_exchange *shm = of(exchange);
    if (several_nodes(shm)) {
        dlb_rollcall_begin(&shm->rollcall, exchange->comm, mine, exchange->arrivals);
        return;
    }
    control *own = shm->controls[shm->local];
    shm->all_arrived = false;
    shm->step++;
    own->arrival[shm->step % 2] = *mine;
    atomic_store_explicit(&own->arrived, shm->step, memory_order_release);
}

static bool all_arrived(dlb_exchange *exchange)
{
    shm_exchange *shm = of(exchange);
    if (several_nodes(shm))
        return dlb_rollcall_complete(&shm->rollcall, exchange->comm);
    for (int r = 0; r < shm->ranks && !shm->all_arrived; r++) {
        const control *theirs = shm->controls[r];
        if (atomic_load_explicit(&theirs->arrived, memory_order_acquire) < shm->step)
            return false;
        exchange->arrivals[r] = theirs->arrival[shm->step % 2];
    }
    shm->all_arrived = true;
    return true;
}

static bool needs_poll(const dlb_exchange *exchange)
{
    return exchange->division.nodes > 1;
}

static void poll(dlb_exchange *exchange)
{
    dlb_radix_poll(of(exchange)->radix);
}

/* Nobody reads the parameters while they come in, and nobody goes on before they are there. */
static int broadcast(dlb_exchange *exchange, dlb_error *err)
{
    shm_exchange *shm = of(exchange);
    if (shm->own_parameters)
        return dlb_comm_broadcast(exchange->comm, exchange->parameters,
                                  exchange->count * sizeof(float), err);
    int status = dlb_comm_barrier(exchange->comm, err);
    if (status == 0 && several_nodes(shm) && shm->local == 0)
        status = dlb_comm_broadcast_on(exchange->comm, shm->counterparts, 0, exchange->parameters,
                                       exchange->count * sizeof(float), err);
    return status < 0 ? status : dlb_comm_barrier(exchange->comm, err);
}

const dlb_exchange_funcs dlb_exchange_shm = {
    .kind = DLB_EXCHANGE_SHM,
    .name = "shm",
    .size = sizeof(shm_exchange),
    .open = open_shm,
    .close = close_shm,
    .start = start,
    .arrived = arrived,
    .sum = sum,
    .share = share,
    .shared = shared,
    .arrive = arrive,
    .all_arrived = all_arrived,
    .needs_poll = needs_poll,
    .poll = poll,
    .progress = progress,
    .broadcast = broadcast,
};
