/* What a benchmark trains on: a data set that fits its model, and how much of it. */
#ifndef DLB_CLI_BENCH_DATA_H
#define DLB_CLI_BENCH_DATA_H

#include "data/dataset.h"
#include "graph/model.h"

/* Images to train and to evaluate on. */
typedef struct dlb_bench_images {
    long long train, test;
} dlb_bench_images;

/* How many the data set has for the model; of made-up ones, as many as anybody could ask for. */
int dlb_bench_data_count(dlb_bench_images *images, const char *name, const dlb_model *model,
                         dlb_error *err);

/* How long a training is. */
typedef struct dlb_bench_length {
    dlb_bench_images epoch; /* whole batches */
    long long epochs;
} dlb_bench_length;

/*
 * That of a training on at least so many images. An epoch has as many of them as the set has; more
 * epochs make up for what it lacks. Evaluated are as many as an epoch trains, if the set has them.
 * The set must have one batch to train and one to evaluate on.
 */
dlb_bench_length dlb_bench_length_of(double images, long long batch, const dlb_bench_images *set);

#endif
