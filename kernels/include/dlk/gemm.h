/*
 * Row-major single-precision matrix product C = A·B + beta·C, each operand optionally
 * transposed, on the calling thread. It is OpenBLAS's sgemm, the serial build, loaded at run time
 * and made safe to call from several threads at once.
 */
#ifndef DLK_GEMM_H
#define DLK_GEMM_H

#include <stdbool.h>

#include "base/error.h"
#include "dlk/dispatch.h"

/*
 * Load OpenBLAS for `isa` (not AUTO, and at most dlk_isa_best). Idempotent; another isa than the
 * first is refused. A user's OPENBLAS_CORETYPE prevails. The environment is changed for a moment:
 * load before other threads read it.
 */
int dlk_gemm_load(dlk_isa isa, dlb_error *err);

/* op(A) is m×k, op(B) k×n, C m×n; lda, ldb, ldc are row lengths. Needs dlk_gemm_load. */
void dlk_gemm(bool transpose_a, bool transpose_b, int m, int n, int k, const float *a, int lda,
              const float *b, int ldb, float beta, float *c, int ldc);

typedef struct dlk_gemm_info {
    const char *path;   /* of the library */
    const char *config; /* its own description, with version and threading */
    const char *core;   /* the kernel set in use: Haswell, SkylakeX, … */
    bool threaded;      /* true if it could start threads of its own: a fault */
} dlk_gemm_info;

/* What is loaded; false before dlk_gemm_load. */
bool dlk_gemm_describe(dlk_gemm_info *info);

#endif
