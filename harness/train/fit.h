/* The data set that a model is to learn. */
#ifndef DLB_TRAIN_FIT_H
#define DLB_TRAIN_FIT_H

#include "data/dataset.h"
#include "graph/model.h"

/*
 * Load the first images of a data set, 0: all of them. Made-up ones are made as the model takes
 * them, and the same for every seed: repeats of a run differ by nothing else. A set that the model
 * cannot take is refused, with nothing to release.
 */
int dlb_fit_load(dlb_data *data, const dlb_model *model, const char *name, int train_images,
                 int test_images, dlb_error *err);

#endif
