/* The exchange of radix.h from within: one flow a bucket, with one hop a stage. */
#ifndef DLB_COMM_RADIX_STATE_H
#define DLB_COMM_RADIX_STATE_H

#include "comm/radix.h"

/* The two ways that numbers go: gradients to where they are summed, parameters back. */
enum radix_way { REDUCE, GATHER, WAYS };

/* Persistent requests of one hop and way, which begin together. */
typedef struct radix_batch {
    MPI_Request *requests;
    int count;
    int64_t bytes;
} radix_batch;

typedef struct radix_hop {
    dlb_range part; /* that this member keeps */
    float **inputs; /* [size of the stage]: contributions to it, in order of places */
    radix_batch receives[WAYS], sends[WAYS];
} radix_hop;

/*
 * A bucket goes through these phases again and again. While it is being reduced, the hops before
 * `hop` have been summed; while it is being gathered, those after `hop` have been received.
 */
enum radix_phase { IDLE, REDUCING, ARRIVED, GATHERING, SENDING };

typedef struct radix_flow {
    enum radix_phase phase;
    int hop;
    radix_hop *hops;       /* [stages] */
    float *received;       /* contributions to all hops, one after the other */
    float **inputs;        /* of all hops */
    MPI_Request *requests; /* of all hops: those that receive, then those that send */
    int receive_count, request_count;
} radix_flow;

struct dlb_radix {
    dlb_radix_options options;
    dlb_stages stages;
    radix_flow *flows; /* [bucket_count] */
};

#endif
