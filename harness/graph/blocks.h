/*
 * Which blocks of a batch's images have been through a chain of operations (graph/program.h), for
 * who takes images further while others are still in the chain.
 */
#ifndef DLB_GRAPH_BLOCKS_H
#define DLB_GRAPH_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#include "dlk/gate.h"

enum { DLB_BLOCK_IMAGES = 16 };

typedef struct dlb_blocks {
    int count; /* that may be in the chain; 0: no image is in one */
    uint32_t run;
    _Atomic uint32_t *last; /* [block]: the run in which it was through last */
    dlk_gate ended;         /* advances with each that is */
} dlb_blocks;

static inline int dlb_blocks_of(int images)
{
    return (images + DLB_BLOCK_IMAGES - 1) / DLB_BLOCK_IMAGES;
}

/* Images of the first half: whole blocks, and all of them where there is but one. */
static inline int dlb_blocks_half(int images)
{
    int half = (dlb_blocks_of(images) + 1) / 2 * DLB_BLOCK_IMAGES;
    return half < images ? half : images;
}

/* So many images at most. */
void dlb_blocks_init(dlb_blocks *blocks, int images);
void dlb_blocks_release(dlb_blocks *blocks);

/* Leader: so many images are about to enter the chain; none is in it any more. */
void dlb_blocks_begin(dlb_blocks *blocks, int images);
void dlb_blocks_end(dlb_blocks *blocks);

/* A block is through. */
void dlb_blocks_note(dlb_blocks *blocks, int block);

/* Whether images [first, end) are through; and to wait until they are, spinning for so long. */
bool dlb_blocks_are_through(dlb_blocks *blocks, int first, int end);
void dlb_blocks_await(dlb_blocks *blocks, int first, int end, int64_t spin_ns);

#endif
