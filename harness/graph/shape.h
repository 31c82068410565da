/* What a layer makes of the shape that reaches it. */
#ifndef DLB_GRAPH_SHAPE_H
#define DLB_GRAPH_SHAPE_H

#include <stdbool.h>

#include "dlk/conv2d.h"
#include "dlk/dense.h"
#include "dlk/dropout.h"
#include "dlk/pool.h"
#include "graph/model.h"

/* Whether a shape has at most DLB_FLOATS_MAX elements; its product may exceed an int. */
bool dlb_shape_fits(dlb_shape shape);

/*
 * Complete *layer, which is to follow the layers already in *model: its name, input and output
 * shapes and numbers of parameters. Refuses what cannot be, in a sentence without a place.
 */
int dlb_shape_infer(const dlb_model *model, dlb_layer *layer, dlb_error *err);

/* The kernels' view of a layer for a batch of n. */
dlk_conv2d dlb_layer_conv2d(const dlb_layer *layer, int n);
dlk_pool dlb_layer_pool(const dlb_layer *layer, int n);
dlk_dense dlb_layer_dense(const dlb_layer *layer, int n);
dlk_dropout dlb_layer_dropout(const dlb_layer *layer, int n);

#endif
