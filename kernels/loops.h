/* What the loops of all families share: cutting into tasks, and a hint for the vectoriser. */
#ifndef DLK_LOOPS_H
#define DLK_LOOPS_H

#include <stddef.h>

#include "dlk/team.h"

/* Elements of a task of an elementwise operation. A multiple of what a Philox block decides. */
enum { DLK_CHUNK = 16384 };

typedef struct dlk_range {
    size_t first, end;
} dlk_range;

/* Into how many pieces of at most `piece` elements `count` elements are cut. */
static inline int dlk_pieces(size_t count, size_t piece)
{
    return (int)((count + piece - 1) / piece);
}

/* The elements of piece number `index`. */
static inline dlk_range dlk_piece(size_t count, size_t piece, int index)
{
    size_t first = (size_t)index * piece;
    return (dlk_range){first, first + piece < count ? first + piece : count};
}

/*
 * Before a loop whose operands may be one and the same array but never overlap otherwise: its
 * iterations are independent, which the compiler cannot know. What such a loop reads, it reads
 * before it chooses: a conditional read cannot become a vector.
 */
#if defined(__clang__)
#define DLK_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define DLK_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* y += a * x */
static inline void dlk_axpy(int count, float a, const float *restrict x, float *restrict y)
{
    for (int i = 0; i < count; i++)
        y[i] += a * x[i];
}

/* y += x */
static inline void dlk_add(size_t count, const float *restrict x, float *restrict y)
{
    for (size_t i = 0; i < count; i++)
        y[i] += x[i];
}

#endif
