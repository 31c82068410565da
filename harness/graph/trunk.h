/*
 * A trunk: consecutive fused stages, run depth first. One image goes through all of them while its
 * values are in cache, then the next; only what backward needs is kept for the batch: a byte a
 * pool window, and those values between stages that are dearer to compute again than to keep.
 * Backward takes groups of images, whose sums of gradients are added in a fixed order.
 *
 * Where all stages can, many images go forward at once (dlk_lanes).
 *
 * Private to graph/. Life: create → (buffers are allocated) → bind → bind_parameters → operations.
 */
#ifndef DLB_GRAPH_TRUNK_H
#define DLB_GRAPH_TRUNK_H

#include "graph/buffers.h"
#include "graph/fusion.h"
#include "graph/node.h"

typedef struct dlb_trunk dlb_trunk;

/* The trunk of `count` stages from *stages on; buffers beside x, y, dx and dy are planned. */
dlb_trunk *dlb_trunk_create(const dlb_model *model, const dlk_kernels *kernels,
                            const dlb_stage *stages, int count, int batch, dlb_buffers *buffers);
void dlb_trunk_free(dlb_trunk *trunk);

/* Its layers are [first, end). */
int dlb_trunk_first(const dlb_trunk *trunk);
int dlb_trunk_end(const dlb_trunk *trunk);

size_t dlb_trunk_scratch_floats(const dlb_trunk *trunk);

/* Room for weights that each of so many threads has for itself; false: there is none. What was not
 * asked for comes with the first pass. */
bool dlb_trunk_try_room(dlb_trunk *trunk, int threads);

/* `nodes` are the graph's, bound already: those of the trunk's ends have its x, y, dx and dy. */
void dlb_trunk_bind(dlb_trunk *trunk, const dlb_buffers *buffers, const dlb_node *nodes);

void dlb_trunk_add_forward(dlb_trunk *trunk, dlb_program *program);

/* Makes the gradients of all its layers final, unless sums are left for who updates them. */
void dlb_trunk_add_backward(dlb_trunk *trunk, dlb_program *program);

/* It leaves them where layers are so small that one thread updates all of a layer. */
bool dlb_trunk_leaves_sums(const dlb_trunk *trunk);

/* Then: make the gradients of that layer final. */
void dlb_trunk_finish(dlb_trunk *trunk, const dlb_node_context *context, const dlb_block *block);

#endif
