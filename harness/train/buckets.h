/*
 * How the flat gradient is cut for its exchange, or for the updates of a rank alone.
 *
 * From the last layer down, as gradients become final: layers are fused while they fit into one
 * bucket, and a layer that is larger is cut into several. Buckets that become ready together, with
 * the last of their layers, are a group.
 */
#ifndef DLB_TRAIN_BUCKETS_H
#define DLB_TRAIN_BUCKETS_H

#include "comm/exchange.h"
#include "graph/graph.h"

typedef struct dlb_group {
    int first_block, end_block;   /* blocks of the graph */
    int first_bucket, end_bucket; /* of the buckets */
} dlb_group;

typedef struct dlb_buckets {
    int group_count, bucket_count;
    dlb_group *groups;  /* in the order in which they become ready */
    dlb_range *buckets; /* likewise */
    size_t bucket_capacity;
} dlb_buckets;

typedef enum dlb_fusion {
    DLB_FUSE_SMALL,    /* only layers that stay in a core's cache together; none is cut */
    DLB_FUSE_TO_LIMIT, /* as above */
    DLB_FUSE_ALL,      /* one group: everything becomes ready together, at the end */
} dlb_fusion;

/* Layers that are fused because they are small, at most. */
enum { DLB_FUSED_SMALL = 5 };

/* `limit`: floats of a bucket, where layers are fused to it. */
void dlb_buckets_init(dlb_buckets *buckets, const dlb_graph *graph, size_t limit,
                      dlb_fusion fusion);
void dlb_buckets_release(dlb_buckets *buckets);

/* The group that a block is in. */
int dlb_buckets_group_of(const dlb_buckets *buckets, int block);

#endif
