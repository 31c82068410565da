/* Transposing matrices in memory. */
#ifndef DLK_SIMD_MATRIX_H
#define DLK_SIMD_MATRIX_H

#include <stddef.h>

#include "simd/squares.h"

/* to[c][r] = from[r][c] of a square of V by V; rows start every `stride` floats. */
DLK_INLINE void transpose_square(const float *from, size_t stride, float *to, size_t to_stride)
{
    vec column[V];
    load_columns(from, stride, column);
    for (int c = 0; c < V; c++)
        store(to + (size_t)c * to_stride, column[c]);
}

/* Of a matrix which is narrow in one direction; the loop along the other is the inner one. */
static inline void transpose_singly(int rows, int columns, const float *from, size_t stride,
                                    float *to, size_t to_stride)
{
    if (columns < rows) {
        for (int c = 0; c < columns; c++)
            for (int r = 0; r < rows; r++)
                to[(size_t)c * to_stride + (size_t)r] = from[(size_t)r * stride + (size_t)c];
    } else {
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < columns; c++)
                to[(size_t)c * to_stride + (size_t)r] = from[(size_t)r * stride + (size_t)c];
    }
}

/* The same of any matrix. */
static inline void transpose_matrix(int rows, int columns, const float *from, size_t stride,
                                    float *to, size_t to_stride)
{
    int whole_rows = rows / V * V, whole_columns = columns / V * V;
    for (int r = 0; r < whole_rows; r += V)
        for (int c = 0; c < whole_columns; c += V)
            transpose_square(from + (size_t)r * stride + (size_t)c, stride,
                             to + (size_t)c * to_stride + (size_t)r, to_stride);
    transpose_singly(whole_rows, columns - whole_columns, from + whole_columns, stride,
                     to + (size_t)whole_columns * to_stride, to_stride);
    transpose_singly(rows - whole_rows, columns, from + (size_t)whole_rows * stride, stride,
                     to + whole_rows, to_stride);
}

#endif
