/*
 * The batches of an epoch for the workers that this process plays, prepared ahead by `readers`
 * threads.
 *
 *     create → (begin_epoch → next … until NULL) … → free
 *
 * The set is cut into one shard a worker: shard w of W has the positions [w * N / W, (w+1) * N / W)
 * of the epoch's order, so that shards differ by one image at most and an epoch shows every image
 * once. Step s of a worker is the s-th batch of its shard. Batches come step by step, and within a
 * step worker by worker.
 *
 * The order is a function of (seed, epoch) alone, within shards of (seed, epoch, worker), and
 * batches are identical for every number of readers and however workers are spread over processes.
 * All buffers are allocated by create. One thread at a time may use a loader; several loaders may
 * share a data set.
 */
#ifndef DLB_DATA_LOADER_H
#define DLB_DATA_LOADER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "data/dataset.h"
#include "dlk/pixels.h"

typedef struct dlb_loader dlb_loader;

typedef struct dlb_batch {
    int count;               /* images; smaller in the last step of an epoch that has a rest, down
                                to 0 for some workers */
    int worker;              /* among all workers */
    int step;                /* 0 … dlb_loader_steps - 1 */
    int step_images;         /* images of all workers in this step */
    const float *x;          /* [count][h][w][c], normalised, aligned to a cache line; NULL if the
                                loader leaves pixels to its user */
    const uint8_t *labels;   /* [count] */
    const uint32_t *indices; /* [count], positions in the set */
} dlb_batch;

typedef enum dlb_shuffle {
    DLB_SHUFFLE_NONE,   /* the order of the set */
    DLB_SHUFFLE_GLOBAL, /* a new order of the whole set for each epoch */
    DLB_SHUFFLE_SHARD,  /* shards of the set as it is, a new order within each for each epoch */
} dlb_shuffle;

typedef struct dlb_loader_options {
    const dlb_dataset *set; /* must outlive the loader */
    int batch;              /* images of a worker in a step; more than its shard has means all */
    bool drop_last;         /* leave out the last step if any of its batches is smaller */
    dlb_shuffle shuffle;
    int workers;      /* in all; 0: one, which this process plays, and the next two are 0 as well */
    int first_worker; /* of those that this process plays */
    int worker_count; /* of those; where `workers` is given, 0 means none and so no batches */
    int readers;      /* threads; 0: dlb_loader_next prepares the batch itself */
    bool pixels;      /* leave the images to the user, who finds them by their indices: there is
                         nothing to prepare ahead, and no reader is started */
    double mean, std; /* a pixel becomes (pixel/255 - mean) / std */
    uint32_t seed;    /* of the shuffles */
} dlb_loader_options;

/* A loader for the options, before its first epoch. Its threads inherit the caller's CPU mask. */
int dlb_loader_create(dlb_loader **loader, const dlb_loader_options *options, dlb_error *err);

/* Waits for the readers to end; allowed at any time, also with NULL. */
void dlb_loader_free(dlb_loader *loader);

/*
 * Start on an epoch at a step of it, 0 … dlb_loader_steps; what is left of the one before is
 * abandoned.
 */
void dlb_loader_begin_epoch(dlb_loader *loader, uint32_t epoch, int first_step);

/* The next batch, valid until the next call on this loader; NULL when the epoch is over. */
const dlb_batch *dlb_loader_next(dlb_loader *loader);

/* What pixels become, as long as the loader lives. */
const dlk_pixels *dlb_loader_scale(const dlb_loader *loader);

/* Steps of an epoch, the same for every process; 0 if drop_last leaves none. */
int dlb_loader_steps(const dlb_loader *loader);

#endif
