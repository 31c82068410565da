/* A layer with its buffers, and the operations that it is made of. Private to graph/, and to
 * benchmarks of single operations. */
#ifndef DLB_GRAPH_NODE_H
#define DLB_GRAPH_NODE_H

#include <stdatomic.h>

#include "graph/copies.h"
#include "graph/graph.h"

/* What one run of a program works on. */
typedef struct dlb_node_context {
    const dlk_kernels *kernels;
    const dlb_step *step;
    dlb_blocks *blocks; /* of the program: which images those that follow a chain can take */
    dlb_copies *copies; /* of the parameters, one a thread */
    bool leaves_sums;   /* gradients are made final by who updates parameters */
    bool evaluating;
} dlb_node_context;

typedef struct dlb_node {
    const dlb_layer *layer;
    int index;               /* of the layer: the random stream of its dropout */
    struct dlb_trunk *trunk; /* that computes it; NULL: it is computed by itself */
    bool small;              /* threads had better take images through it than share it */

    /* Values, and gradients of the loss by them. In place: y == x and dx == dy. x is NULL for
     * the batch itself; dx is NULL where no gradient is wanted. All are NULL within a trunk. */
    float *x, *y, *dx, *dy;
    const dlb_block *block; /* NULL: a layer without parameters */
    const float *weights, *bias;
    float *partial;      /* conv2d: sums of groups of images; small dense: of the second half */
    _Atomic int halves;  /* small dense: 1 while the gradients of one half are there */
    _Atomic bool apart;  /* small dense: the second half's are not added, but left in `partial` */
    uint8_t *winner;     /* maxpool */
    float *losses;       /* softmax */
    _Atomic int correct; /* softmax: answers counted so far, where it is computed by parts */

    /* The same as operands. */
    int x_buffer, y_buffer, dx_buffer, dy_buffer;
    int partial_buffer, winner_buffer, losses_buffer;
} dlb_node;

/* What the decisions of a dropout layer are drawn from. */
dlk_rng_key dlb_dropout_key(int layer, const dlb_step *step);

/* The pixels of an image of the batch; the next one's are asked for. NULL: the batch is floats. */
const uint8_t *dlb_step_pixels(const dlb_node_context *context, int index, size_t floats);

void dlb_node_add_forward(dlb_node *node, dlb_program *program);

/* A layer without parameters has no weights' gradient, the first one of a model no data's, and one
 * of a trunk neither. */
void dlb_node_add_backward_data(dlb_node *node, dlb_program *program);
void dlb_node_add_backward_weights(dlb_node *node, int batch, dlb_program *program);

/* Whether a layer's weights have their gradients by halves of a batch of so many images. */
bool dlb_node_has_halves(const dlb_node *node, int images);

/* Where sums are left, [first, end) of a layer's gradients: weights, then biases. */
void dlb_node_finish(const dlb_node *node, const dlb_node_context *context, size_t first,
                     size_t end);

/* Scratch that a thread needs which takes some images of a batch through a layer by itself. */
size_t dlb_node_part_scratch(const dlb_layer *layer, int batch);

/* Softmax and loss; `train` also wants the gradient. */
void dlb_node_add_loss(dlb_node *node, dlb_program *program, bool train);

#endif
