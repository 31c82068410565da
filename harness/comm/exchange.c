#include "comm/exchange.h"

#include <limits.h>

#include "base/mem.h"
#include "comm/exchange_state.h"
#include "comm/runtime.h"
#include "comm/wait.h"

enum { NOTE = 256 };

static const dlb_exchange_funcs *funcs_of(dlb_exchange_kind kind)
{
    switch (kind) {
    case DLB_EXCHANGE_MPI:
        return &dlb_exchange_mpi;
    case DLB_EXCHANGE_SHM:
        return &dlb_exchange_shm;
    default:
        return &dlb_exchange_single;
    }
}

const char *dlb_exchange_kind_name(dlb_exchange_kind kind)
{
    return kind == DLB_EXCHANGE_AUTO ? "auto" : funcs_of(kind)->name;
}

/* ---- Creation ---- */

static bool is_cut_well(dlb_range range, size_t count)
{
    bool ends_well = range.end % DLB_EXCHANGE_GRAIN == 0 || range.end == count;
    bool starts_well = range.first % DLB_EXCHANGE_GRAIN == 0 || range.first == range.end;
    return range.first <= range.end && range.end <= count && starts_well && ends_well;
}

static int check_bucket(const dlb_exchange_options *options, int bucket, dlb_error *err)
{
    dlb_range range = options->buckets[bucket];
    if (!is_cut_well(range, options->count))
        return dlb_fail(err, DLB_BAD_INPUT, "bucket %d: %zu … %zu is no range of %zu in grains",
                        bucket, range.first, range.end, options->count);
    if (dlb_range_length(range) > INT_MAX)
        return dlb_fail(err, DLB_BAD_INPUT, "bucket %d has %zu numbers; at most %d can be sent",
                        bucket, dlb_range_length(range), INT_MAX);
    return 0;
}

static int check(const dlb_exchange_options *options, dlb_error *err)
{
    size_t covered = 0;
    if (options->radix < 2)
        return dlb_fail(err, DLB_BAD_INPUT, "a radix of %d: it is at least 2", options->radix);
    for (int b = 0; b < options->bucket_count; b++) {
        int status = check_bucket(options, b, err);
        if (status < 0)
            return status;
        covered += dlb_range_length(options->buckets[b]);
    }
    if (covered != options->count)
        return dlb_fail(err, DLB_BAD_INPUT, "buckets have %zu of %zu numbers", covered,
                        options->count);
    return 0;
}

static dlb_exchange *make_exchange(const dlb_exchange_funcs *funcs, dlb_comm *comm,
                                   const dlb_exchange_options *options)
{
    size_t buckets = (size_t)options->bucket_count;
    dlb_exchange *exchange = dlb_alloc(1, funcs->size);
    exchange->funcs = funcs;
    exchange->comm = comm;
    exchange->count = options->count;
    exchange->bucket_count = options->bucket_count;
    exchange->radix = options->radix;
    exchange->buckets = dlb_alloc(buckets, sizeof *exchange->buckets);
    if (buckets)
        memcpy(exchange->buckets, options->buckets, buckets * sizeof *exchange->buckets);
    exchange->slices = dlb_alloc(buckets, sizeof *exchange->slices);
    exchange->arrivals = dlb_alloc((size_t)comm->size, sizeof *exchange->arrivals);
    return exchange;
}

static void release(dlb_exchange *exchange, bool whole)
{
    bool quiet = exchange->funcs->close(exchange, whole);
    dlb_mpi_release(exchange->arrivals, quiet);
    free(exchange->slices);
    free(exchange->buckets);
    dlb_mpi_release(exchange, quiet);
}

static int open_kind(dlb_exchange **out, const dlb_exchange_funcs *funcs, dlb_comm *comm,
                     const dlb_exchange_options *options, dlb_error *err)
{
    dlb_exchange *exchange = make_exchange(funcs, comm, options);
    int status = funcs->open(exchange, err);
    if (status < 0) {
        release(exchange, !dlb_comm_is_broken(comm));
        return status;
    }
    for (int b = 0; b < options->bucket_count; b++)
        exchange->slices[b] =
            dlb_division_slice(&exchange->division, exchange->buckets[b], comm->rank);
    *out = exchange;
    return 0;
}

/* Shared memory if it can be had, else messages and the reason in *note. */
static int open_best(dlb_exchange **exchange, dlb_comm *comm, const dlb_exchange_options *options,
                     char *note, dlb_error *err)
{
    dlb_error reason;
    if (comm->size == 1)
        return open_kind(exchange, &dlb_exchange_single, comm, options, err);
    if (comm->nodes == comm->size)
        dlb_fail(&reason, DLB_FAIL, "every node has one rank, which shares memory with none");
    else if (open_kind(exchange, &dlb_exchange_shm, comm, options, &reason) == 0)
        return 0;
    snprintf(note, NOTE, "%.*s", NOTE - 1, reason.message);
    return open_kind(exchange, &dlb_exchange_mpi, comm, options, err);
}

int dlb_exchange_create(dlb_exchange **exchange, dlb_comm *comm,
                        const dlb_exchange_options *options, char *note, dlb_error *err)
{
    note[0] = '\0';
    int status = dlb_comm_agree(comm, check(options, err), err);
    if (status < 0)
        return status;
    if (options->kind == DLB_EXCHANGE_AUTO)
        return open_best(exchange, comm, options, note, err);
    return open_kind(exchange, funcs_of(options->kind), comm, options, err);
}

void dlb_exchange_free(dlb_exchange *exchange)
{
    if (exchange)
        release(exchange, dlb_comm_barrier(exchange->comm, NULL) == 0);
}

/* ---- Steps ---- */

static bool is_broken(const dlb_exchange *exchange)
{
    return dlb_comm_is_broken(exchange->comm);
}

dlb_exchange_kind dlb_exchange_kind_of(const dlb_exchange *exchange)
{
    return exchange->funcs->kind;
}

float *dlb_exchange_parameters(dlb_exchange *exchange)
{
    return exchange->parameters;
}

float *dlb_exchange_gradients(dlb_exchange *exchange)
{
    return exchange->gradients;
}

dlb_range dlb_exchange_slice(const dlb_exchange *exchange, int bucket)
{
    return exchange->slices[bucket];
}

void dlb_exchange_start(dlb_exchange *exchange, int bucket)
{
    if (!is_broken(exchange))
        exchange->funcs->start(exchange, bucket);
}

bool dlb_exchange_arrived(dlb_exchange *exchange, int bucket)
{
    return is_broken(exchange) || exchange->funcs->arrived(exchange, bucket);
}

void dlb_exchange_sum(dlb_exchange *exchange, int bucket, dlb_range part)
{
    if (!is_broken(exchange))
        exchange->funcs->sum(exchange, bucket, part);
}

void dlb_exchange_share(dlb_exchange *exchange, int bucket)
{
    if (!is_broken(exchange))
        exchange->funcs->share(exchange, bucket);
}

bool dlb_exchange_shared(dlb_exchange *exchange, int bucket)
{
    return is_broken(exchange) || exchange->funcs->shared(exchange, bucket);
}

void dlb_exchange_arrive(dlb_exchange *exchange, const dlb_arrival *mine)
{
    if (!is_broken(exchange))
        exchange->funcs->arrive(exchange, mine);
}

const dlb_arrival *dlb_exchange_arrivals(dlb_exchange *exchange)
{
    if (is_broken(exchange) || !exchange->funcs->all_arrived(exchange))
        return NULL;
    return exchange->arrivals;
}

bool dlb_exchange_needs_poll(const dlb_exchange *exchange)
{
    return exchange->funcs->needs_poll(exchange);
}

void dlb_exchange_poll(dlb_exchange *exchange)
{
    if (!dlb_exchange_needs_poll(exchange) || pthread_mutex_trylock(&exchange->comm->mpi) != 0)
        return;
    if (!is_broken(exchange))
        exchange->funcs->poll(exchange);
    dlb_comm_unlock(exchange->comm);
}

void dlb_exchange_pause(dlb_exchange *exchange, int64_t since_ns)
{
    if (dlb_comm_watch(exchange->comm, since_ns) < 0)
        return;
    exchange->funcs->progress(exchange);
    dlb_wait_pause(since_ns);
}

int dlb_exchange_check(const dlb_exchange *exchange, dlb_error *err)
{
    return is_broken(exchange) ? dlb_comm_failure(exchange->comm, err) : 0;
}

/* ---- Whole arrays ---- */

/* The slices of a bucket, of each rank from where it is in the bucket. */
static void find_slices(const dlb_exchange *exchange, int bucket, int *counts, int *places)
{
    dlb_range whole = exchange->buckets[bucket];
    for (int r = 0; r < exchange->comm->size; r++) {
        dlb_range slice = dlb_division_slice(&exchange->division, whole, r);
        counts[r] = (int)dlb_range_length(slice);
        places[r] = (int)(slice.first - whole.first);
    }
}

static int collect_bucket(const dlb_exchange *exchange, float *values, const int *counts,
                          const int *places, dlb_error *err)
{
    dlb_comm *comm = exchange->comm;
    int status = dlb_comm_lock(comm, err);
    if (status < 0)
        return status;
    int code = MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, counts, places,
                               MPI_FLOAT, comm->all, &comm->request);
    return dlb_comm_complete(comm, code, err);
}

int dlb_exchange_collect(dlb_exchange *exchange, float *values, dlb_error *err)
{
    int ranks = exchange->comm->size, status = 0;
    if (ranks == 1)
        return 0;
    int *counts = dlb_alloc((size_t)ranks * 2, sizeof *counts), *places = counts + ranks;
    for (int b = 0; b < exchange->bucket_count && status == 0; b++) {
        find_slices(exchange, b, counts, places);
        float *bucket = values + exchange->buckets[b].first;
        status = collect_bucket(exchange, bucket, counts, places, err);
    }
    free(counts);
    return status;
}

int dlb_exchange_broadcast(dlb_exchange *exchange, dlb_error *err)
{
    return exchange->funcs->broadcast(exchange, err);
}

dlb_exchange_bytes dlb_exchange_take_bytes(dlb_exchange *exchange)
{
    dlb_exchange_bytes taken = exchange->bytes;
    exchange->bytes = (dlb_exchange_bytes){0};
    return taken;
}
