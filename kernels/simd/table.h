/* The tables of simd/: one an instruction set, each made by table.c. */
#ifndef DLK_SIMD_TABLE_H
#define DLK_SIMD_TABLE_H

#include "dlk/dispatch.h"

/* Put all that was compiled for one instruction set into the table. */
typedef void dlk_simd_fill_fn(dlk_kernels *kernels);

dlk_simd_fill_fn dlk_sse_fill, dlk_avx2_fill, dlk_avx512_fill;

#endif
