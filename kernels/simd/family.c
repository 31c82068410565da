#include "family.h"

#include "simd/table.h"

static const struct {
    dlk_simd_fill_fn *fill;
    const char *detail;
} tables[] = {
    [DLK_ISA_SSE] = {dlk_sse_fill, "vectors of 4 floats"},
#if defined(__x86_64__)
    [DLK_ISA_AVX2] = {dlk_avx2_fill, "vectors of 8 floats: AVX2 and FMA"},
    [DLK_ISA_AVX512] = {dlk_avx512_fill, "vectors of 16 floats: AVX-512 F, CD, BW, DQ, VL"},
#endif
};

int dlk_simd_override(dlk_kernels *kernels, dlk_isa isa, dlb_error *err)
{
    (void)err;
    if (isa == DLK_ISA_AUTO)
        isa = dlk_isa_best();
    kernels->family = DLK_FAMILY_SIMD;
    kernels->isa = isa;
    kernels->detail = tables[isa].detail;
    tables[isa].fill(kernels);
    return 0;
}
