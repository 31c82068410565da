#include "family.h"

#include <stdbool.h>

#include "simd/table.h"

/* What is computed layer by layer is blas's, if OpenBLAS could be loaded for that instruction set.
 */
static const struct {
    dlk_simd_fill_fn *fill;
    const char *detail, *without_blas;
} tables[] = {
    [DLK_ISA_SSE] = {dlk_sse_fill, "vectors of 4 floats", "vectors of 4 floats, no OpenBLAS"},
#if defined(DLK_HAS_AVX)
    [DLK_ISA_AVX2] = {dlk_avx2_fill, "vectors of 8 floats: AVX2 and FMA",
                      "vectors of 8 floats: AVX2 and FMA, no OpenBLAS"},
    [DLK_ISA_AVX512] = {dlk_avx512_fill, "vectors of 16 floats: AVX-512",
                        "vectors of 16 floats: AVX-512, no OpenBLAS"},
#endif
};

int dlk_simd_override(dlk_kernels *kernels, dlk_isa isa, dlb_error *err)
{
    (void)err;
    if (isa == DLK_ISA_AUTO)
        isa = dlk_isa_best();
    bool blas = kernels->family == DLK_FAMILY_BLAS;
    kernels->family = DLK_FAMILY_SIMD;
    kernels->isa = isa;
    kernels->detail = blas ? tables[isa].detail : tables[isa].without_blas;
    tables[isa].fill(kernels);
    return 0;
}
