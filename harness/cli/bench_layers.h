/*
 * Layers of any shape without a file: "26x26x32; conv2d filters=64 kernel=3; relu; maxpool size=2"
 * is an image and what is done with it, as lines of a model file (docs/models.md). What a network
 * needs to be trained, a dense layer of ten units and a softmax, follows where it is not there.
 */
#ifndef DLB_CLI_BENCH_LAYERS_H
#define DLB_CLI_BENCH_LAYERS_H

#include "graph/model.h"

/* What --only knows such a network by. */
#define DLB_LAYERS_NAME "layers"

int dlb_bench_layers_parse(dlb_model *model, const char *layers, dlb_error *err);

#endif
