#include "train/slice.h"

#include "base/clock.h"
#include "dlk/lines.h"

typedef struct piece_job {
    dlb_slicer *slicer;
    const dlb_slice *slice;
    size_t piece; /* floats */
    int work;
} piece_job;

/* Whole cells, so that no cell is measured by two threads. */
static size_t whole_cells(size_t floats)
{
    return (floats + DLB_EXCHANGE_GRAIN - 1) / DLB_EXCHANGE_GRAIN * DLB_EXCHANGE_GRAIN;
}

/* Pieces as large as was asked for, but no larger than a thread's share; where threads fetch from
 * each other what a piece is made of, a thread has several, and so all end together. */
static piece_job make_job(dlb_slicer *slicer, const dlb_slice *slice, int work, int threads)
{
    enum { SEVERAL = 4 };
    size_t shares = (size_t)threads * (slicer->graph ? SEVERAL : 1);
    size_t share = (dlb_range_length(slice->range) + shares - 1) / shares;
    size_t piece = share < slicer->piece ? share : slicer->piece;
    return (piece_job){slicer, slice, whole_cells(piece ? piece : 1), work};
}

static int pieces_in(const piece_job *job, dlb_range range)
{
    return (int)((dlb_range_length(range) + job->piece - 1) / job->piece);
}

static dlb_range piece_in(const piece_job *job, dlb_range range, int index)
{
    size_t first = range.first + (size_t)index * job->piece, end = first + job->piece;
    return (dlb_range){first, end < range.end ? end : range.end};
}

/* ---- Where a graph expects updates: within its blocks ---- */

static dlb_range range_of(const dlb_block *block)
{
    return (dlb_range){block->offset, block->offset + block->weights + block->biases};
}

/* The first of the slice, which has whole ones. */
static const dlb_block *first_block(const piece_job *job)
{
    return dlb_graph_block_at(job->slicer->graph, job->slice->range.first);
}

static int pieces_of_block(const piece_job *job, const dlb_block *block)
{
    bool parts = dlb_graph_has_parts(job->slicer->graph, block);
    return parts ? pieces_in(job, range_of(block)) : 1;
}

static dlb_range block_piece_at(const piece_job *job, int index)
{
    const dlb_block *block = first_block(job);
    for (; index >= pieces_of_block(job, block); block++)
        index -= pieces_of_block(job, block);
    dlb_range all = range_of(block);
    return pieces_of_block(job, block) == 1 ? all : piece_in(job, all, index);
}

static int count_block_pieces(const piece_job *job)
{
    const dlb_graph *graph = job->slicer->graph;
    int pieces = 0;
    for (int i = first_block(job)->index; i < dlb_graph_block_count(graph); i++) {
        const dlb_block *block = dlb_graph_block(graph, i);
        if (block->offset < job->slice->range.end)
            pieces += pieces_of_block(job, block);
    }
    return pieces;
}

/* ---- Pieces ---- */

static int pieces_of(const piece_job *job)
{
    return job->slicer->graph ? count_block_pieces(job) : pieces_in(job, job->slice->range);
}

static dlb_range piece_at(const piece_job *job, int index)
{
    return job->slicer->graph ? block_piece_at(job, index)
                              : piece_in(job, job->slice->range, index);
}

static void sum_piece(dlb_slicer *slicer, int bucket, dlb_range piece)
{
    dlb_exchange *x = slicer->exchange;
    if (slicer->graph)
        dlb_graph_finish(slicer->graph, piece.first, piece.end);
    dlb_exchange_sum(x, bucket, piece);
    if (slicer->norms)
        dlb_norms_measure(slicer->norms, piece, dlb_exchange_parameters(x),
                          dlb_exchange_gradients(x));
}

static void update_range(dlb_slicer *slicer, const dlb_slice *slice, dlb_range range, float ratio)
{
    dlb_exchange *x = slicer->exchange;
    size_t count = dlb_range_length(range);
    float *parameters = dlb_exchange_parameters(x) + range.first;
    dlk_own(parameters, count); /* other threads or ranks may have read them */
    dlb_optimizer_update(slicer->optimizer, slice->state + (range.first - slice->range.first),
                         count, ratio, dlb_exchange_gradients(x) + range.first, parameters);
    if (slicer->graph)
        dlb_graph_hand_out(slicer->graph, range.first, range.end);
}

static void update_piece(dlb_slicer *slicer, const dlb_slice *slice, dlb_range piece)
{
    if (!slicer->norms) {
        update_range(slicer, slice, piece, 1);
        return;
    }
    while (piece.first < piece.end) {
        float ratio;
        dlb_range same = dlb_norms_same_ratio(slicer->norms, piece, &ratio);
        update_range(slicer, slice, same, ratio);
        piece.first = same.end;
    }
}

static void update_timed(dlb_slicer *slicer, const dlb_slice *slice, dlb_range piece)
{
    int64_t start = dlb_clock_ns();
    update_piece(slicer, slice, piece);
    atomic_fetch_add_explicit(&slicer->update_ns, dlb_clock_ns() - start, memory_order_relaxed);
}

static void run_piece(void *arg, int task, int thread)
{
    (void)thread;
    const piece_job *job = arg;
    dlb_range piece = piece_at(job, task);
    if (job->work & DLB_SLICE_SUM)
        sum_piece(job->slicer, job->slice->bucket, piece);
    if (!(job->work & DLB_SLICE_UPDATE))
        return;
    if (job->slicer->graph)
        update_piece(job->slicer, job->slice, piece);
    else
        update_timed(job->slicer, job->slice, piece);
}

/* One so small is not worth another core's help. */
void dlb_slice_run(dlb_slicer *slicer, const dlb_slice *slice, int work, dlk_team *team)
{
    enum { LEADERS_OWN = 8 * 1024 };
    piece_job job = make_job(slicer, slice, work, team->size);
    if (dlb_range_length(slice->range) > LEADERS_OWN)
        dlk_parallel(team, pieces_of(&job), run_piece, &job);
    else
        dlk_alone(team, pieces_of(&job), run_piece, &job);
}

void dlb_slice_run_here(dlb_slicer *slicer, const dlb_slice *slice)
{
    piece_job job = make_job(slicer, slice, DLB_SLICE_SUM | DLB_SLICE_UPDATE, 1);
    for (int piece = 0; piece < pieces_of(&job); piece++)
        run_piece(&job, piece, 0);
}
