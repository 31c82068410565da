/* The exchange by messages among all ranks, wherever they are. */
#include "base/mem.h"
#include "comm/exchange_state.h"
#include "comm/radix.h"
#include "comm/rollcall.h"
#include "comm/runtime.h"

typedef struct mpi_exchange {
    dlb_exchange base;
    MPI_Comm ranks; /* for the messages of this exchange; MPI_COMM_NULL for one rank */
    dlb_radix *radix;
    dlb_rollcall rollcall;
} mpi_exchange;

static mpi_exchange *of(dlb_exchange *exchange)
{
    return (mpi_exchange *)exchange;
}

static int make_messages(mpi_exchange *mpi, dlb_error *err)
{
    dlb_exchange *base = &mpi->base;
    if (base->comm->size > 1) {
        MPI_Comm_dup(base->comm->all, &mpi->ranks);
        MPI_Comm_set_errhandler(mpi->ranks, MPI_ERRORS_RETURN);
    }
    mpi->rollcall = (dlb_rollcall){.ranks = mpi->ranks, .request = MPI_REQUEST_NULL};
    return dlb_radix_create(&mpi->radix,
                            &(dlb_radix_options){
                                .comm = base->comm,
                                .members = mpi->ranks,
                                .radix = base->radix,
                                .bucket_count = base->bucket_count,
                                .ranges = base->buckets,
                                .gradients = base->gradients,
                                .parameters = base->parameters,
                                .bytes = &base->bytes,
                            },
                            err);
}

static int open_mpi(dlb_exchange *exchange, dlb_error *err)
{
    mpi_exchange *mpi = of(exchange);
    mpi->ranks = MPI_COMM_NULL;
    mpi->rollcall.request = MPI_REQUEST_NULL;
    exchange->division = (dlb_division){1, exchange->comm->size, exchange->radix};
    exchange->parameters = dlb_try_alloc(exchange->count, sizeof(float));
    exchange->gradients = dlb_try_alloc(exchange->count, sizeof(float));
    int status = 0;
    if (!exchange->parameters || !exchange->gradients)
        status = dlb_fail(err, DLB_FAIL, "no memory for %zu parameters", exchange->count);
    status = dlb_comm_agree(exchange->comm, status, err);
    if (status < 0)
        return status;
    return dlb_comm_agree(exchange->comm, make_messages(mpi, err), err);
}

static bool close_mpi(dlb_exchange *exchange, bool whole)
{
    mpi_exchange *mpi = of(exchange);
    bool quiet = whole && mpi->rollcall.request == MPI_REQUEST_NULL &&
                 (!mpi->radix || dlb_radix_is_quiet(mpi->radix));
    dlb_radix_free(mpi->radix);
    if (quiet && mpi->ranks != MPI_COMM_NULL)
        MPI_Comm_free(&mpi->ranks);
    dlb_mpi_release(exchange->gradients, quiet);
    dlb_mpi_release(exchange->parameters, quiet);
    return quiet;
}

static void start(dlb_exchange *exchange, int bucket)
{
    dlb_radix_start(of(exchange)->radix, bucket);
}

static void progress(dlb_exchange *exchange)
{
    dlb_radix_progress(of(exchange)->radix);
}

static bool arrived(dlb_exchange *exchange, int bucket)
{
    progress(exchange);
    return dlb_radix_arrived(of(exchange)->radix, bucket);
}

static void sum(dlb_exchange *exchange, int bucket, dlb_range part)
{
    dlb_radix_sum(of(exchange)->radix, bucket, part);
}

static void share(dlb_exchange *exchange, int bucket)
{
    dlb_radix_share(of(exchange)->radix, bucket);
}

static bool shared(dlb_exchange *exchange, int bucket)
{
    progress(exchange);
    return dlb_radix_shared(of(exchange)->radix, bucket);
}

static void arrive(dlb_exchange *exchange, const dlb_arrival *mine)
{
    dlb_rollcall_begin(&of(exchange)->rollcall, exchange->comm, mine, exchange->arrivals);
}

static bool all_arrived(dlb_exchange *exchange)
{
    return dlb_rollcall_complete(&of(exchange)->rollcall, exchange->comm);
}

static bool needs_poll(const dlb_exchange *exchange)
{
    return exchange->comm->size > 1;
}

static void poll(dlb_exchange *exchange)
{
    dlb_radix_poll(of(exchange)->radix);
}

static int broadcast(dlb_exchange *exchange, dlb_error *err)
{
    return dlb_comm_broadcast(exchange->comm, exchange->parameters, exchange->count * sizeof(float),
                              err);
}

const dlb_exchange_funcs dlb_exchange_mpi = {
    .kind = DLB_EXCHANGE_MPI,
    .name = "mpi",
    .size = sizeof(mpi_exchange),
    .open = open_mpi,
    .close = close_mpi,
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
