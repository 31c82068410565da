/*
 * Reduce-scatter and allgather by messages, in the stages of stages.h, for every bucket apart.
 *
 * In a stage, each member sends the parts of its gradients that others keep straight from the
 * array and receives theirs of its own part beside it; sums, taken in order of digits, are in
 * place. Parameters travel the other way round, from array to array. All receives of a bucket are
 * posted when it starts, and the memory for them is about one array of gradients.
 *
 * The functions return at once; one thread at a time calls them, except sum and poll.
 */
#ifndef DLB_COMM_RADIX_H
#define DLB_COMM_RADIX_H

#include "comm/comm_state.h"
#include "comm/exchange.h"
#include "comm/stages.h"

typedef struct dlb_radix dlb_radix;

typedef struct dlb_radix_options {
    dlb_comm *comm;
    MPI_Comm members; /* for this alone; MPI_COMM_NULL for one member */
    int radix;
    int bucket_count;
    const dlb_range *ranges; /* of each bucket what the members divide among them */
    float *gradients, *parameters;
    dlb_exchange_bytes *bytes; /* that messages are counted in */
} dlb_radix_options;

/* Local, but for a failure of one rank only, which the caller makes known. */
int dlb_radix_create(dlb_radix **radix, const dlb_radix_options *options, dlb_error *err);

/* Whether no transfer is under way: else MPI may still use the arrays. */
bool dlb_radix_is_quiet(const dlb_radix *radix);

/* The arrays stay the caller's. */
void dlb_radix_free(dlb_radix *radix);

/* Begin with a bucket: its gradients are final, and its parameters are not read any more. */
void dlb_radix_start(dlb_radix *radix, int bucket);

/* Whether all contributions to this member's slice are here. */
bool dlb_radix_arrived(const dlb_radix *radix, int bucket);

/* The last stage's sum of a part of the slice. */
void dlb_radix_sum(const dlb_radix *radix, int bucket, dlb_range part);

/* This member's slice of the parameters is final. */
void dlb_radix_share(dlb_radix *radix, int bucket);

/* Whether the parameters of the others are here, too, and nothing is being sent any more. */
bool dlb_radix_shared(const dlb_radix *radix, int bucket);

/* Take all buckets as far as they can go. */
void dlb_radix_progress(dlb_radix *radix);

/* With MPI locked: have MPI move messages along. */
void dlb_radix_poll(dlb_radix *radix);

#endif
