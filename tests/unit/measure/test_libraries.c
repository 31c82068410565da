#include <criterion/criterion.h>

#include "machines.h"
#include "measure/libraries.h"

Test(libraries, the_runtime_in_this_process_is_the_compilers)
{
#ifdef __clang__
    cr_expect_eq(strncmp(dlb_openmp_runtime(), "LLVM libomp", 11), 0, "%s", dlb_openmp_runtime());
    cr_expect(dlb_openmp_has_kmp());
#else
    cr_expect_str_eq(dlb_openmp_runtime(), "GNU libgomp");
    cr_expect_not(dlb_openmp_has_kmp(), "KMP_* has no effect on libgomp");
#endif
}

Test(libraries, this_process_has_one_runtime_only)
{
    dlb_openmp openmp;
    dlb_openmp_find(&openmp, "");
    cr_expect_eq(openmp.runtimes.count, 1);
    cr_expect_geq(openmp.max_threads, 1);
}

Test(libraries, the_version_of_libomp_is_that_of_its_folder)
{
    dlb_openmp openmp;
    dlb_openmp_find(&openmp, MACHINE("kvm-guest"));
    cr_expect_str_eq(openmp.name, "LLVM libomp 14");
    cr_expect(openmp.has_kmp);
}

Test(libraries, two_runtimes_are_both_reported)
{
    dlb_openmp openmp;
    dlb_openmp_find(&openmp, MACHINE("two-socket-smt"));
    cr_expect_eq(openmp.runtimes.count, 2);
    cr_expect_str_eq(openmp.name, "Intel libiomp5");
}

Test(libraries, libgomp_is_told_apart)
{
    dlb_openmp openmp;
    dlb_openmp_find(&openmp, MACHINE("container"));
    cr_expect_str_eq(openmp.name, "GNU libgomp");
    cr_expect_not(openmp.has_kmp);
}

Test(libraries, a_process_without_openmp_has_no_runtime)
{
    dlb_openmp openmp;
    dlb_openmp_find(&openmp, MACHINE("container-v1"));
    cr_expect_eq(openmp.runtimes.count, 0);
    cr_expect_str_eq(openmp.name, "");
}

Test(libraries, linear_algebra_is_found_by_any_of_its_names)
{
    dlb_library_list blas;
    dlb_blas_find(&blas, MACHINE("two-socket-smt"));
    cr_assert_eq(blas.count, 1);
    cr_expect_str_eq(blas.path[0], "/opt/intel/mkl/lib/libmkl_rt.so.2");
    dlb_blas_find(&blas, MACHINE("container"));
    cr_expect_eq(blas.count, 0);
}
