/*
 * Which blocks of a batch's images have been through a chain of operations (graph/program.h), for
 * who takes images further while others are still in the chain.
 */
#ifndef DLB_GRAPH_BLOCKS_H
#define DLB_GRAPH_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mem.h"
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

/*
 * Memory with so many bytes for each image, and where in it those of one begin. Every block begins
 * with a page, as the memory does: processors fetch ahead what lies behind the lines that they
 * read, up to the end of a page, and a line that has come to another core so takes long to write.
 */
static inline size_t dlb_blocks_at(int image, size_t bytes)
{
    size_t block = dlb_whole_pages(DLB_BLOCK_IMAGES * bytes);
    return (size_t)(image / DLB_BLOCK_IMAGES) * block + (size_t)(image % DLB_BLOCK_IMAGES) * bytes;
}

static inline size_t dlb_blocks_bytes(int images, size_t bytes)
{
    return dlb_blocks_at(images - 1, bytes) + bytes;
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
