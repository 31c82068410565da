/*
 * A data set in memory: training and test images as bytes, with their labels.
 *
 * dlb_data_load fills a dlb_data that dlb_data_release frees; after a failure there is nothing to
 * release. The data is read-only from then on and may be shared by any number of loaders.
 */
#ifndef DLB_DATA_DATASET_H
#define DLB_DATA_DATASET_H

#include <limits.h>
#include <stdint.h>

#include "base/error.h"

/* All labels are below `classes`, all of count, h, w, c are positive, and h*w*c fits an int. */
typedef struct dlb_dataset {
    int count, h, w, c, classes;
    uint8_t *images; /* [count][h][w][c] */
    uint8_t *labels; /* [count] */
} dlb_dataset;

typedef struct dlb_data {
    dlb_dataset train, test; /* of the same h, w, c and classes */
    char source[PATH_MAX];   /* the absolute path of the folder, or "synthetic" */
    uint64_t checksum;       /* dlb_checksum of the images and labels in use */
} dlb_data;

/*
 * name: "mnist"          $DLBENCH_DATA/mnist if DLBENCH_DATA is set, else the bundled copy
 *       "fashion-mnist"  of Debian's package dataset-fashion-mnist
 *       "synthetic"      made up from `seed`: a pattern for each class, under noise
 *       anything else    a folder with train-images-idx3-ubyte, train-labels-idx1-ubyte,
 *                        t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, each plain or .gz,
 *                        also spelt train-images.idx3-ubyte; images with channels are idx4
 */
typedef struct dlb_data_source {
    const char *name;
    int train_images, test_images; /* use the first N; 0 = all, or 60000 and 10000 synthetic */
    uint32_t seed;                 /* of synthetic data, as are the following */
    int h, w, c, classes;          /* 0 = as MNIST: 28, 28, 1 and 10 */
} dlb_data_source;

int dlb_data_load(dlb_data *data, const dlb_data_source *source, dlb_error *err);
void dlb_data_release(dlb_data *data);

#endif
