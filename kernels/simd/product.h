/*
 * C += S · D, where many elements of S may be zero: a zero is skipped with the multiply-adds that
 * it would take, unless D has elements that are not finite, so that these are not lost. A NaN is no
 * zero.
 *
 * D comes in blocks that stay in the first-level cache: up to DEPTH rows of whole vectors, packed
 * one after the other. A row of S says which rows of D a row of C needs, and how much of each.
 * Where S is dense, groups of its rows share what is loaded of D.
 */
#ifndef DLK_SIMD_PRODUCT_H
#define DLK_SIMD_PRODUCT_H

#include <stdbool.h>
#include <stddef.h>

#include "simd/vec.h"

enum { DEPTH = 64, BLOCK_VECTORS = 8, BLOCK_COLUMNS = BLOCK_VECTORS * V, MOST_ROWS = 128 };

/* D: rows of `vectors` vectors, as many as block_vectors may say. */
typedef struct block {
    int depth, vectors;
    const float *rows;
    bool finite; /* all of it */
} block;

/* Up to MOST_ROWS rows of S, which start every `stride` floats, and where they are not zero. */
typedef struct factors {
    const float *s;
    size_t stride;
    int rows, depth;
    uint64_t wanted[MOST_ROWS]; /* bit k: element k of the row is not zero */
    uint8_t order[MOST_ROWS];   /* the rows by their number of non-zeros, the least first */
} factors;

/* The vectors of a block of `columns`, at most BLOCK_COLUMNS: 1, 2, 3, 4, 6 or 8. */
static inline int block_vectors(int columns)
{
    int vectors = vectors_of(columns);
    return vectors > 4 ? (vectors + 1) / 2 * 2 : vectors;
}

/*
 * What is to be known of S[rows][depth] for products with blocks of D, in pieces of DEPTH, the last
 * one less deep: `found` has room for all of them.
 */
void DLK_SIMD(find_factors)(const float *s, size_t stride, int rows, int depth, factors *found);

/*
 * C[rows][vectors * V] (+)= S · D; rows of C start every c_stride floats. `fresh`: C is
 * overwritten.
 */
void DLK_SIMD(add_product)(const factors *s, const block *d, bool fresh, float *c, size_t c_stride);

#endif
