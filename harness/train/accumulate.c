#include "train/accumulate.h"

#include "base/mem.h"
#include "dlk/tree.h"

/* A tree of 2^30 workers has 31 levels. */
enum { SLOTS_MAX = 32 };

/* Floats of a merge's task, and of what it keeps in the first-level cache meanwhile. */
enum { TASK = 16384, PIECE = 1024 };

/* Where a worker writes its gradient, and how many subtrees are complete after it. */
typedef struct leaf {
    int slot, merges;
} leaf;

typedef struct merge {
    dlb_accumulator *accumulator;
    size_t offset, count;
} merge;

struct dlb_accumulator {
    int workers;
    leaf *leaves; /* [workers] */
    leaf now;
    int slot_count;
    float *slots[SLOTS_MAX]; /* all but the first are owned */
    merge *merges;           /* one a block */
};

static void plant(leaf *leaves, int workers, int slot)
{
    if (workers == 1) {
        leaves->slot = slot;
        return;
    }
    int left = dlk_tree_left(workers);
    plant(leaves, left, slot);
    plant(leaves + left, workers - left, slot + 1);
    leaves[workers - 1].merges++;
}

int dlb_accumulator_slots(int workers)
{
    if (workers == 1)
        return 1;
    int left = dlb_accumulator_slots(dlk_tree_left(workers));
    int right = 1 + dlb_accumulator_slots(workers - dlk_tree_left(workers));
    return left > right ? left : right;
}

int dlb_accumulator_create(dlb_accumulator **created, const dlb_graph *graph, int workers,
                           float *first, dlb_error *err)
{
    dlb_accumulator *a = dlb_alloc(1, sizeof *a);
    a->workers = workers;
    a->leaves = dlb_alloc((size_t)workers, sizeof *a->leaves);
    plant(a->leaves, workers, 0);
    a->merges = dlb_alloc((size_t)dlb_graph_block_count(graph), sizeof *a->merges);
    a->slots[0] = first;
    a->slot_count = 1;
    for (int slots = dlb_accumulator_slots(workers); a->slot_count < slots; a->slot_count++) {
        a->slots[a->slot_count] = dlb_try_alloc(dlb_graph_size(graph), sizeof(float));
        if (a->slots[a->slot_count])
            continue;
        dlb_accumulator_free(a);
        return dlb_fail(err, DLB_FAIL,
                        "%d workers on a rank need memory for %d gradients of %.1f MB; take more "
                        "ranks or fewer workers",
                        workers, slots, 4e-6 * (double)dlb_graph_size(graph));
    }
    *created = a;
    return 0;
}

void dlb_accumulator_free(dlb_accumulator *a)
{
    if (!a)
        return;
    for (int slot = 1; slot < a->slot_count; slot++)
        free(a->slots[slot]);
    free(a->merges);
    free(a->leaves);
    free(a);
}

float *dlb_accumulator_begin(dlb_accumulator *a, int index)
{
    a->now = a->leaves[index];
    return a->slots[a->now.slot];
}

/* From the top of the stack down: each subtree's left half plus what is right of it. */
static void merge_piece(const dlb_accumulator *a, size_t at, size_t count)
{
    float right[PIECE];
    int top = a->now.slot, bottom = top - a->now.merges;
    memcpy(right, a->slots[top] + at, count * sizeof *right);
    for (int slot = top - 1; slot > bottom; slot--)
        for (size_t i = 0; i < count; i++)
            right[i] += a->slots[slot][at + i];
    float *restrict left = a->slots[bottom] + at;
    for (size_t i = 0; i < count; i++)
        left[i] += right[i];
}

static void merge_task(void *arg, int task, int thread)
{
    (void)thread;
    const merge *m = arg;
    size_t end = ((size_t)task + 1) * TASK;
    if (end > m->count)
        end = m->count;
    for (size_t at = (size_t)task * TASK; at < end; at += PIECE)
        merge_piece(m->accumulator, m->offset + at, end - at < PIECE ? end - at : PIECE);
}

static void run_merge(void *self, void *context, dlk_team *team)
{
    (void)context;
    merge *m = self;
    if (m->accumulator->now.merges)
        dlk_parallel(team, (int)((m->count + TASK - 1) / TASK), merge_task, m);
}

void dlb_accumulator_add_op(dlb_accumulator *a, dlb_program *program, const dlb_block *block)
{
    if (a->workers == 1)
        return;
    merge *m = &a->merges[block->index];
    *m = (merge){a, block->offset, (size_t)block->weights + (size_t)block->biases};
    dlb_op op = {.phase = DLB_PHASE_BACKWARD,
                 .run = run_merge,
                 .self = m,
                 .write_count = 1,
                 .writes = {block->gradient_buffer}};
    snprintf(op.name, sizeof op.name, "%s merge", block->layer->name);
    dlb_program_add(program, &op);
}
