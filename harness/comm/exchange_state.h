/* What the kinds of exchange have in common, and the functions in which they differ. */
#ifndef DLB_COMM_EXCHANGE_STATE_H
#define DLB_COMM_EXCHANGE_STATE_H

#include "comm/comm_state.h"
#include "comm/exchange.h"
#include "comm/stages.h"

/*
 * A kind. Its own struct begins with a dlb_exchange. The functions do what those of the same name
 * in exchange.h say, and are not called any more once the comm is broken, except close.
 */
typedef struct dlb_exchange_funcs {
    dlb_exchange_kind kind;
    const char *name;
    size_t size; /* of its struct */

    /*
     * Sets the division, the arrays and what else there is; all ranks agree on the outcome. After
     * a failure, close releases what there is.
     */
    int (*open)(dlb_exchange *exchange, dlb_error *err);
    /*
     * `whole`: all ranks have come to close it, so that collective calls may be made. Returns
     * whether MPI will not use the exchange any more.
     */
    bool (*close)(dlb_exchange *exchange, bool whole);

    void (*start)(dlb_exchange *exchange, int bucket);
    bool (*arrived)(dlb_exchange *exchange, int bucket);
    void (*sum)(dlb_exchange *exchange, int bucket, dlb_range part);
    void (*share)(dlb_exchange *exchange, int bucket);
    bool (*shared)(dlb_exchange *exchange, int bucket);
    void (*arrive)(dlb_exchange *exchange, const dlb_arrival *mine);
    bool (*all_arrived)(dlb_exchange *exchange); /* then exchange->arrivals is filled */

    bool (*needs_poll)(const dlb_exchange *exchange);
    void (*poll)(dlb_exchange *exchange);     /* with MPI locked */
    void (*progress)(dlb_exchange *exchange); /* of all buckets, as far as they can */
    int (*broadcast)(dlb_exchange *exchange, dlb_error *err);
} dlb_exchange_funcs;

extern const dlb_exchange_funcs dlb_exchange_single, dlb_exchange_mpi, dlb_exchange_shm;

struct dlb_exchange {
    const dlb_exchange_funcs *funcs;
    dlb_comm *comm;
    size_t count;
    int bucket_count, radix;
    dlb_range *buckets; /* [bucket_count] */
    dlb_range *slices;  /* [bucket_count]: this rank's */
    dlb_division division;
    float *parameters, *gradients;
    dlb_arrival *arrivals; /* [ranks] */
    dlb_exchange_bytes bytes;
};

#endif
