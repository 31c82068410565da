/*
 * The gradients of all ranks become one sum, each rank updates a slice of the parameters with its
 * slice of the sum, and the updated slices become everyone's parameters: reduce-scatter and
 * allgather, bucket by bucket, while the backward pass goes on.
 *
 * Both arrays are flat and cut into buckets. In every step, for every bucket, each rank calls
 *
 *     start      my gradients of the bucket are final, and I read its parameters no more; from here
 *                on other ranks may write to my gradients outside my slice
 *     arrived    … until true: the gradients of the others are here
 *     sum        my slice of the gradients becomes the sum over ranks, part by part
 *                (then the caller updates that slice of the parameters)
 *     share      my slice of the parameters is updated
 *     shared     … until true: so are all others; gradients may be written, parameters be read
 *
 * and buckets in the same order of starts on every rank. Several buckets may be under way. The sum
 * over ranks has the shape of dlk/tree.h for every power of two of them. Calls come from one
 * thread at a time, except sum (any thread, parts that do not overlap) and poll.
 *
 * One arrival a step ends it: arrive tells the others that all buckets have been started, and a
 * few figures; arrivals returns everyone's once the last rank has arrived. No rank arrives again
 * before it has had them.
 *
 * A failure (a rank that hangs, MPI) is remembered: arrived and shared then return true, so that
 * no loop is endless, and dlb_exchange_check says what happened.
 */
#ifndef DLB_COMM_EXCHANGE_H
#define DLB_COMM_EXCHANGE_H

#include <stdint.h>

#include "comm/comm.h"

typedef struct dlb_exchange dlb_exchange;

typedef struct dlb_range {
    size_t first, end;
} dlb_range;

static inline size_t dlb_range_length(dlb_range range)
{
    return range.end - range.first;
}

/* Buckets and slices begin and end at multiples of this many floats, but for the end of all. */
enum { DLB_EXCHANGE_GRAIN = 1024 };

typedef enum dlb_exchange_kind {
    DLB_EXCHANGE_AUTO, /* single, else shm where windows can be had, else mpi */
    DLB_EXCHANGE_SINGLE,
    DLB_EXCHANGE_MPI,
    DLB_EXCHANGE_SHM,
} dlb_exchange_kind;

const char *dlb_exchange_kind_name(dlb_exchange_kind kind);

typedef struct dlb_exchange_options {
    dlb_exchange_kind kind;
    size_t count; /* floats of a flat array */
    int bucket_count;
    const dlb_range *buckets; /* disjoint, together all of it; copied */
    int radix;                /* ranks that exchange directly in a stage, at least 2 */
} dlb_exchange_options;

/* What a rank tells the others at the end of a step. */
typedef struct dlb_arrival {
    double loss_sum;
    int64_t correct;
    int64_t stop; /* not 0: this rank was asked to stop */
} dlb_arrival;

/* What the exchange has cost this rank since the last take. */
typedef struct dlb_exchange_bytes {
    int64_t sent, received; /* shm: written for others, and read from their windows */
} dlb_exchange_bytes;

/*
 * Collective; `comm` must outlive the exchange. A kind that cannot be had is refused, saying why;
 * with AUTO, *note (at least 256 bytes, "" when there is nothing to say) tells why not shm.
 */
int dlb_exchange_create(dlb_exchange **exchange, dlb_comm *comm,
                        const dlb_exchange_options *options, char *note, dlb_error *err);
void dlb_exchange_free(dlb_exchange *exchange); /* collective, unless the comm is broken */

dlb_exchange_kind dlb_exchange_kind_of(const dlb_exchange *exchange); /* never AUTO */

/* The flat arrays, zeroed at first. With shm a node's ranks may have one array of parameters. */
float *dlb_exchange_parameters(dlb_exchange *exchange);
float *dlb_exchange_gradients(dlb_exchange *exchange);

/* The part of a bucket that this rank sums and updates; may be empty. */
dlb_range dlb_exchange_slice(const dlb_exchange *exchange, int bucket);

void dlb_exchange_start(dlb_exchange *exchange, int bucket);
bool dlb_exchange_arrived(dlb_exchange *exchange, int bucket);
void dlb_exchange_sum(dlb_exchange *exchange, int bucket, dlb_range part); /* within the slice */
void dlb_exchange_share(dlb_exchange *exchange, int bucket);
bool dlb_exchange_shared(dlb_exchange *exchange, int bucket);

void dlb_exchange_arrive(dlb_exchange *exchange, const dlb_arrival *mine);
/* One a rank, valid until the next arrive; NULL until all have arrived, or after a failure. */
const dlb_arrival *dlb_exchange_arrivals(dlb_exchange *exchange);

/* Whether poll does anything: whether messages want to be moved along while ranks compute. */
bool dlb_exchange_needs_poll(const dlb_exchange *exchange);

/* Move messages along; cheap, from any thread, does nothing when another thread is at it. */
void dlb_exchange_poll(dlb_exchange *exchange);

/*
 * In a loop that waits for others: let go of the CPU for as long as seems good after `since_ns`
 * (dlb_clock_ns at the loop's begin), and give up when that is more than the comm's hang_s.
 */
void dlb_exchange_pause(dlb_exchange *exchange, int64_t since_ns);

int dlb_exchange_check(const dlb_exchange *exchange, dlb_error *err); /* 0, or the failure */

/*
 * Collective: make whole, on every rank, an array like the parameters of which each rank has its
 * slices; `values` has `count` floats.
 */
int dlb_exchange_collect(dlb_exchange *exchange, float *values, dlb_error *err);

/* Collective: the parameters of rank 0 become everyone's. */
int dlb_exchange_broadcast(dlb_exchange *exchange, dlb_error *err);

dlb_exchange_bytes dlb_exchange_take_bytes(dlb_exchange *exchange);

#endif
