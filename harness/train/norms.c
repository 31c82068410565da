#include "train/norms.h"

#include "base/mem.h"
#include "dlk/norm.h"

enum { WEIGHTS, BIASES, TENSORS }; /* of a block */

/* What one cell adds to the squared norms of its block's tensors. */
typedef struct cell {
    double parameters[TENSORS], gradients[TENSORS];
} cell;

_Static_assert(sizeof(cell) == 2 * TENSORS * sizeof(double), "cells are exchanged as doubles");

struct dlb_norms {
    const dlb_graph *graph;
    size_t cell_count;
    cell *cells;
    float (*ratios)[TENSORS]; /* one a block */
};

dlb_norms *dlb_norms_create(const dlb_graph *graph)
{
    dlb_norms *n = dlb_alloc(1, sizeof *n);
    n->graph = graph;
    n->cell_count = (dlb_graph_size(graph) + DLB_EXCHANGE_GRAIN - 1) / DLB_EXCHANGE_GRAIN;
    n->cells = dlb_alloc(n->cell_count, sizeof *n->cells);
    n->ratios = dlb_alloc((size_t)dlb_graph_block_count(graph), sizeof *n->ratios);
    return n;
}

void dlb_norms_free(dlb_norms *n)
{
    if (!n)
        return;
    free(n->ratios);
    free(n->cells);
    free(n);
}

void dlb_norms_begin(dlb_norms *n)
{
    memset(n->cells, 0, n->cell_count * sizeof *n->cells);
}

static dlb_range tensor_of(const dlb_block *block, int tensor)
{
    size_t biases = block->offset + (size_t)block->weights;
    return tensor == WEIGHTS ? (dlb_range){block->offset, biases}
                             : (dlb_range){biases, biases + (size_t)block->biases};
}

static dlb_range overlap(dlb_range a, dlb_range b)
{
    dlb_range both = {a.first > b.first ? a.first : b.first, a.end < b.end ? a.end : b.end};
    return both.first < both.end ? both : (dlb_range){both.first, both.first};
}

static void measure_cell(dlb_norms *n, size_t index, const float *parameters,
                         const float *gradients)
{
    dlb_range all = {index * DLB_EXCHANGE_GRAIN, (index + 1) * DLB_EXCHANGE_GRAIN};
    const dlb_block *block = dlb_graph_block_at(n->graph, all.first);
    for (int t = 0; t < TENSORS; t++) {
        dlb_range part = overlap(all, tensor_of(block, t));
        dlk_square_sums(parameters + part.first, gradients + part.first, part.end - part.first,
                        &n->cells[index].parameters[t], &n->cells[index].gradients[t]);
    }
}

void dlb_norms_measure(dlb_norms *n, dlb_range range, const float *parameters,
                       const float *gradients)
{
    for (size_t at = range.first; at < range.end; at += DLB_EXCHANGE_GRAIN)
        measure_cell(n, at / DLB_EXCHANGE_GRAIN, parameters, gradients);
}

static float ratio_of(const dlb_norms *n, const dlb_block *block, int tensor,
                      const dlb_optimizer *optimizer)
{
    dlb_range range = tensor_of(block, tensor);
    double parameters = 0, gradients = 0;
    for (size_t c = range.first / DLB_EXCHANGE_GRAIN; c * DLB_EXCHANGE_GRAIN < range.end; c++) {
        parameters += n->cells[c].parameters[tensor];
        gradients += n->cells[c].gradients[tensor];
    }
    return dlb_optimizer_ratio(optimizer, parameters, gradients);
}

void dlb_norms_agree(dlb_norms *n, dlb_comm *comm, const dlb_optimizer *optimizer)
{
    size_t values = n->cell_count * sizeof *n->cells / sizeof(double);
    if (dlb_comm_sum(comm, n->cells->parameters, values, NULL) < 0)
        return;
    for (int b = 0; b < dlb_graph_block_count(n->graph); b++)
        for (int t = 0; t < TENSORS; t++)
            n->ratios[b][t] = ratio_of(n, dlb_graph_block(n->graph, b), t, optimizer);
}

/* Padding after the biases goes with them; it is zero and stays so. */
dlb_range dlb_norms_same_ratio(const dlb_norms *n, dlb_range range, float *ratio)
{
    const dlb_block *block = dlb_graph_block_at(n->graph, range.first);
    int next = block->index + 1;
    bool weights = range.first < tensor_of(block, WEIGHTS).end;
    size_t end = weights                                  ? tensor_of(block, WEIGHTS).end
                 : next < dlb_graph_block_count(n->graph) ? dlb_graph_block(n->graph, next)->offset
                                                          : range.end;
    *ratio = n->ratios[block->index][weights ? WEIGHTS : BIASES];
    return (dlb_range){range.first, end < range.end ? end : range.end};
}
