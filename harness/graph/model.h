/*
 * A model is data: a list of layers in a text file, one a line, with named arguments.
 *
 *     model   tiny
 *     input   28x28x1 mean=0.1307 std=0.3081
 *     init    torch
 *     train   batch=64 optimizer=sgd lr=0.01
 *     conv2d  filters=8 kernel=3 stride=2 padding=same
 *     relu
 *     flatten
 *     dense   units=10
 *     softmax
 *
 * `#` begins a comment. `train` gives the model's own values for keys of a workload. docs/models.md
 * has the whole grammar.
 */
#ifndef DLB_GRAPH_MODEL_H
#define DLB_GRAPH_MODEL_H

#include "base/error.h"

/* One image between two layers. Flat data is 1 × 1 × c. */
typedef struct dlb_shape {
    int h, w, c;
} dlb_shape;

/* No shape in a model has more elements, and no layer more weights: both fit an int. */
enum { DLB_FLOATS_MAX = 1 << 28 };

static inline int dlb_shape_size(dlb_shape s)
{
    return s.h * s.w * s.c;
}

typedef enum dlb_layer_kind {
    DLB_CONV2D,
    DLB_MAXPOOL,
    DLB_RELU,
    DLB_DROPOUT,
    DLB_DROPOUT2D,
    DLB_FLATTEN,
    DLB_DENSE,
    DLB_SOFTMAX,
    DLB_LAYER_KINDS,
} dlb_layer_kind;

enum { DLB_PADDING_SAME = -1 };

typedef struct dlb_layer {
    dlb_layer_kind kind;
    char name[24];  /* "conv2d_1", unique in the model */
    int line;       /* of the file, for messages */
    int filters;    /* conv2d */
    int units;      /* dense */
    int kernel[2];  /* conv2d, maxpool (its size): rows, columns */
    int stride[2];  /* conv2d, maxpool; 0 for maxpool: the size */
    int padding[2]; /* conv2d */
    double rate;    /* dropout, dropout2d */

    /* Derived from the layers before. */
    dlb_shape in, out;
    int weights, biases; /* parameters */
} dlb_layer;

typedef enum dlb_init { DLB_INIT_GLOROT, DLB_INIT_TORCH } dlb_init;

/* key=value of a `train` line; a key is given once only. */
typedef struct dlb_model_default {
    char *key, *value;
    int line, column; /* where the key stands, from 1 */
    char *text;       /* the beginning of that line, for messages */
} dlb_model_default;

typedef struct dlb_model {
    char name[64];
    char *origin; /* the file or built-in model it comes from */
    dlb_shape input;
    double mean, std; /* a pixel p becomes (p / 255 - mean) / std */
    dlb_init init;
    int classes;
    int layer_count;
    dlb_layer *layers;
    int default_count;
    dlb_model_default *defaults;
} dlb_model;

enum { DLB_MODEL_BYTES_MAX = 1 << 20, DLB_LAYERS_MAX = 1000 };

/*
 * Parse `text`; `origin` names it in messages, which give line and place. On failure *model is
 * empty. Release it with dlb_model_release.
 */
int dlb_model_parse(dlb_model *model, const char *origin, const char *text, dlb_error *err);

/* A built-in model by name, or the file if `name` has a '/' or ends in ".model". */
int dlb_model_load(dlb_model *model, const char *name, dlb_error *err);

void dlb_model_release(dlb_model *model);

/*
 * For who knows the keys of a workload, as this folder does not: refuse a default with the message
 * "file:line: why", its line and a caret under the key. Returns DLB_BAD_INPUT.
 */
int dlb_model_refuse_default(const dlb_model *model, int index, const char *why, dlb_error *err);

/* Parameters of all layers. */
long long dlb_model_parameters(const dlb_model *model);

const char *dlb_layer_kind_name(dlb_layer_kind kind);

#endif
