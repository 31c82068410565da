/*
 * The batches of an epoch, prepared ahead by `readers` threads.
 *
 *     dlb_loader_create → (dlb_loader_begin_epoch → dlb_loader_next … until NULL) … →
 * dlb_loader_free
 *
 * An epoch shows every image once. Its order is a function of (seed, epoch) alone, so batches are
 * identical for every number of readers. All buffers are allocated by dlb_loader_create. One
 * thread at a time may use a loader; several loaders may share a data set.
 */
#ifndef DLB_DATA_LOADER_H
#define DLB_DATA_LOADER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "data/dataset.h"

typedef struct dlb_loader dlb_loader;

typedef struct dlb_batch {
    int count;               /* images; smaller in the last batch of an epoch that has a rest */
    int step;                /* 0 … dlb_loader_steps - 1 */
    const float *x;          /* [count][h][w][c], normalised, aligned to a cache line */
    const uint8_t *labels;   /* [count] */
    const uint32_t *indices; /* [count], positions in the set */
} dlb_batch;

typedef struct dlb_loader_options {
    const dlb_dataset *set; /* must outlive the loader */
    int batch;              /* images; more than the set has means all of them */
    bool drop_last;         /* leave out the last, smaller batch */
    bool shuffle;           /* else in the order of the set */
    int readers;            /* threads; 0: dlb_loader_next prepares the batch itself */
    float mean, std;        /* a pixel becomes (pixel/255 - mean) / std */
    uint32_t seed;          /* of the shuffles */
} dlb_loader_options;

/* A loader for the options, before its first epoch. Its threads inherit the caller's CPU mask. */
int dlb_loader_create(dlb_loader **loader, const dlb_loader_options *options, dlb_error *err);

/* Waits for the readers to end; allowed at any time, also with NULL. */
void dlb_loader_free(dlb_loader *loader);

/* Start on an epoch; what is left of the one before is abandoned. */
void dlb_loader_begin_epoch(dlb_loader *loader, uint32_t epoch);

/* The next batch, valid until the next call on this loader; NULL when the epoch is over. */
const dlb_batch *dlb_loader_next(dlb_loader *loader);

/* Batches of an epoch; 0 if drop_last leaves none. */
int dlb_loader_steps(const dlb_loader *loader);

#endif
