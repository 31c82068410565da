/*
 * The families of kernels. Each has one function that puts its operations into the table, which
 * has those of the families below it, and sets `family`, `isa` and `detail`. dispatch.c lists them,
 * and nothing else knows them.
 *
 * `isa` is what was asked for, possibly AUTO. On failure the table may be half filled.
 */
#ifndef DLK_FAMILY_H
#define DLK_FAMILY_H

#include "dlk/dispatch.h"

typedef int dlk_family_fn(dlk_kernels *kernels, dlk_isa isa, dlb_error *err);

dlk_family_fn dlk_ref_fill;      /* every operation; compiled for the baseline only */
dlk_family_fn dlk_blas_override; /* the products: convolution and dense layers */
dlk_family_fn dlk_simd_override; /* stages, and all else that vectors make faster */

#endif
