#include "graph/blocks.h"

#include "base/mem.h"

void dlb_blocks_init(dlb_blocks *blocks, int images)
{
    size_t count = (size_t)dlb_blocks_of(images);
    *blocks = (dlb_blocks){.last = dlb_alloc(count, sizeof *blocks->last)};
}

void dlb_blocks_release(dlb_blocks *blocks)
{
    free(blocks->last);
    *blocks = (dlb_blocks){0};
}

void dlb_blocks_begin(dlb_blocks *blocks, int images)
{
    blocks->count = dlb_blocks_of(images);
    blocks->run++;
}

void dlb_blocks_end(dlb_blocks *blocks)
{
    blocks->count = 0;
}

void dlb_blocks_note(dlb_blocks *blocks, int block)
{
    atomic_store_explicit(&blocks->last[block], blocks->run, memory_order_release);
    atomic_fetch_add(&blocks->ended.value, 1);
    dlk_gate_wake(&blocks->ended);
}

bool dlb_blocks_are_through(dlb_blocks *blocks, int first, int end)
{
    if (blocks->count == 0)
        return true;
    for (int block = first / DLB_BLOCK_IMAGES; block < dlb_blocks_of(end); block++)
        if (atomic_load_explicit(&blocks->last[block], memory_order_acquire) != blocks->run)
            return false;
    return true;
}

void dlb_blocks_await(dlb_blocks *blocks, int first, int end, int64_t spin_ns)
{
    for (;;) {
        uint32_t seen = dlk_gate_value(&blocks->ended);
        if (dlb_blocks_are_through(blocks, first, end))
            return;
        dlk_gate_wait(&blocks->ended, seen, spin_ns);
    }
}
