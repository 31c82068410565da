/*
 * IDX, the format of the MNIST files: two zero bytes, the type of an element, the number of
 * dimensions, each dimension as a big-endian 32-bit number, then the elements. Elements must be
 * unsigned bytes. Plain and gzipped files are told apart by their contents, not by their names.
 *
 * A dlb_idx that was read is released with dlb_idx_release; one whose reading failed is empty and
 * needs no release. Memory grows with the bytes that are really there, never with what a header
 * merely announces.
 */
#ifndef DLB_DATA_IDX_H
#define DLB_DATA_IDX_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { DLB_IDX_MAX_RANK = 4 };

typedef struct dlb_idx {
    int rank;                  /* 1 … DLB_IDX_MAX_RANK */
    int dim[DLB_IDX_MAX_RANK]; /* as the header has them, all positive; 1 beyond the rank */
    size_t count_bytes;        /* read: the product of the dimensions, or less by read_first */
    uint8_t *bytes;            /* the last dimension varies fastest */
} dlb_idx;

/* Read the whole file; a file that is not exactly one sound IDX array is DLB_BAD_INPUT. */
int dlb_idx_read(dlb_idx *idx, const char *path, dlb_error *err);

/*
 * Read no more than the first `items` (> 0) along the first dimension, which saves inflating the
 * rest; what follows them is then not checked.
 */
int dlb_idx_read_first(dlb_idx *idx, const char *path, int items, dlb_error *err);

/* As dlb_idx_read, from an open descriptor, which is closed in any case; `name` is for messages. */
int dlb_idx_read_fd(dlb_idx *idx, int fd, const char *name, dlb_error *err);

void dlb_idx_release(dlb_idx *idx);

#endif
