#include <criterion/criterion.h>
#include <stdlib.h>

#include "dlk/dispatch.h"
#include "dlk/gemm.h"

static void expect_full(const dlk_kernels *k)
{
#define EXPECT_ENTRY(name, type) cr_assert(k->name != NULL, #name " is empty");
    DLK_OPERATIONS(EXPECT_ENTRY)
#undef EXPECT_ENTRY
}

Test(dispatch, auto_takes_simd_with_the_best_instruction_set)
{
    dlk_kernels k;
    dlb_error err = {.code = 77};
    cr_assert(dlk_kernels_select(&k, DLK_FAMILY_AUTO, DLK_ISA_AUTO, &err) == 0);
    cr_assert(k.family == DLK_FAMILY_SIMD && k.isa == dlk_isa_best());
    cr_assert(strncmp(k.detail, "vectors of ", 11) == 0, "%s", k.detail);
    cr_assert(err.code == 77, "an error is left untouched on success");
    expect_full(&k);
}

Test(dispatch, what_a_family_does_not_do_is_left_to_the_next)
{
    dlk_kernels simd, blas, ref;
    dlb_error err;
    cr_assert(dlk_kernels_select(&simd, DLK_FAMILY_SIMD, DLK_ISA_AUTO, &err) == 0);
    cr_assert(dlk_kernels_select(&blas, DLK_FAMILY_BLAS, DLK_ISA_AUTO, &err) == 0);
    cr_assert(dlk_kernels_select(&ref, DLK_FAMILY_REF, DLK_ISA_AUTO, &err) == 0);
    cr_assert_eq(simd.origin[DLK_OP_adam], DLK_FAMILY_SIMD);
    cr_assert_eq(simd.origin[DLK_OP_conv2d_backward_data], DLK_FAMILY_BLAS);
    cr_assert_eq(simd.conv2d_backward_data, blas.conv2d_backward_data);
    cr_assert_eq(blas.origin[DLK_OP_adam], DLK_FAMILY_REF);
    cr_assert_eq(blas.adam, ref.adam);
    cr_assert_null(blas.stage_forward);
    cr_assert_not_null(simd.stage_forward[0]);
}

Test(dispatch, ref_is_compiled_for_the_baseline)
{
    dlk_kernels k;
    dlb_error err;
    cr_assert(dlk_kernels_select(&k, DLK_FAMILY_REF, DLK_ISA_AUTO, &err) == 0);
    cr_assert(k.family == DLK_FAMILY_REF && k.isa == DLK_ISA_SSE);
    cr_assert(dlk_kernels_select(&k, DLK_FAMILY_REF, DLK_ISA_SSE, &err) == 0);
    expect_full(&k);
}

Test(dispatch, ref_needs_no_openblas)
{
    dlk_kernels k;
    dlk_gemm_info info;
    cr_assert(dlk_kernels_select(&k, DLK_FAMILY_REF, DLK_ISA_AUTO, NULL) == 0);
    cr_assert(!dlk_gemm_describe(&info));
}

static void expect_refusal(dlk_family family, dlk_isa isa, const char *word)
{
    dlk_kernels k = {.detail = "untouched"};
    dlb_error err = {0};
    cr_assert(dlk_kernels_select(&k, family, isa, &err) == DLB_BAD_INPUT);
    cr_assert(err.code == DLB_BAD_INPUT && strstr(err.message, word), "%s", err.message);
    cr_assert_str_eq(k.detail, "untouched");
    cr_assert(dlk_kernels_select(&k, family, isa, NULL) == DLB_BAD_INPUT);
}

Test(dispatch, what_is_not_there_is_refused)
{
    if (dlk_isa_best() >= DLK_ISA_AVX2)
        expect_refusal(DLK_FAMILY_REF, DLK_ISA_AVX2, "baseline");
    if (dlk_isa_best() < DLK_ISA_AVX512)
        expect_refusal(DLK_FAMILY_BLAS, DLK_ISA_AVX512, "avx512");
    expect_refusal(DLK_FAMILY_AUTO, (dlk_isa)99, dlk_isa_name(dlk_isa_best()));
    expect_refusal((dlk_family)99, DLK_ISA_AUTO, "99");
}

Test(dispatch, openblas_takes_its_instruction_set_once)
{
    dlk_kernels k;
    dlb_error err;
    cr_assert(dlk_kernels_select(&k, DLK_FAMILY_BLAS, DLK_ISA_SSE, &err) == 0);
    cr_assert(k.isa == DLK_ISA_SSE);
    cr_assert(dlk_kernels_select(&k, DLK_FAMILY_BLAS, DLK_ISA_SSE, &err) == 0);
    if (dlk_isa_best() != DLK_ISA_SSE)
        expect_refusal(DLK_FAMILY_BLAS, dlk_isa_best(), "sse");
}

Test(dispatch, names_are_those_of_the_options)
{
    cr_assert_str_eq(dlk_family_name(DLK_FAMILY_AUTO), "auto");
    cr_assert_str_eq(dlk_family_name(DLK_FAMILY_REF), "ref");
    cr_assert_str_eq(dlk_family_name(DLK_FAMILY_BLAS), "blas");
    cr_assert_str_eq(dlk_isa_name(DLK_ISA_AUTO), "auto");
    cr_assert_str_eq(dlk_isa_name(DLK_ISA_SSE), "sse");
    cr_assert_str_eq(dlk_isa_name(DLK_ISA_AVX2), "avx2");
    cr_assert_str_eq(dlk_isa_name(DLK_ISA_AVX512), "avx512");
}
