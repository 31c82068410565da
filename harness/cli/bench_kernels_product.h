/*
 * The product that a convolution is, by OpenBLAS alone: patches lie there unfolded, and nothing
 * follows. What sgemm reaches with these sizes, however a convolution may come to them.
 */
#ifndef DLB_CLI_BENCH_KERNELS_PRODUCT_H
#define DLB_CLI_BENCH_KERNELS_PRODUCT_H

#include "dlk/conv2d.h"
#include "dlk/cost.h"

typedef struct dlb_bench_product dlb_bench_product;

/* Of a convolution of one image, for a batch of `images`. OpenBLAS must have been loaded. */
dlb_bench_product *dlb_bench_product_create(const dlk_conv2d *conv, int images);
void dlb_bench_product_free(dlb_bench_product *product);

/* Of a batch: both matrices are read, y is written. */
dlk_cost dlb_bench_product_cost(const dlk_conv2d *conv, int images);

/* One batch, image by image. */
void dlb_bench_product_run(void *product);

#endif
