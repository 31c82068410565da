/*
 * The product that a convolution is, by OpenBLAS alone: patches lie there unfolded, and nothing
 * follows. What sgemm reaches with these sizes, however a convolution may come to them.
 */
#ifndef DLB_CLI_BENCH_KERNELS_PRODUCT_H
#define DLB_CLI_BENCH_KERNELS_PRODUCT_H

#include "dlk/conv2d.h"

typedef struct dlb_bench_product dlb_bench_product;

/* Of a convolution of one image, for a batch of `images`. OpenBLAS must have been loaded. */
dlb_bench_product *dlb_bench_product_create(const dlk_conv2d *conv, int images);
void dlb_bench_product_free(dlb_bench_product *product);

/* One batch, image by image. */
void dlb_bench_product_run(void *product);

#endif
