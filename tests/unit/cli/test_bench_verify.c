#include "cli/bench_verify.h"

#include <criterion/criterion.h>
#include <math.h>

Test(bench_verify, equal_arrays_do_not_differ)
{
    const float values[] = {1, -2, 0}, zeros[] = {0, 0, 0};
    cr_assert_eq(dlb_verify_difference(values, values, 3), 0);
    cr_assert_eq(dlb_verify_difference(zeros, zeros, 3), 0);
    cr_assert_eq(dlb_verify_difference(values, zeros, 0), 0);
}

Test(bench_verify, a_difference_is_in_parts_of_what_is_expected)
{
    const float expected[] = {3, 4}, actual[] = {3, 4.5F}, zeros[] = {0, 0};
    cr_assert_float_eq(dlb_verify_difference(actual, expected, 2), 0.1, 1e-6);
    cr_assert(dlb_verify_difference(actual, zeros, 2) > 1e6, "nothing was expected");
}

Test(bench_verify, what_is_not_finite_is_infinitely_wrong)
{
    const float expected[] = {1, 2}, lost[] = {1, NAN}, huge[] = {INFINITY, 2};
    cr_assert_eq(dlb_verify_difference(lost, expected, 2), INFINITY);
    cr_assert_eq(dlb_verify_difference(huge, expected, 2), INFINITY);
    cr_assert_eq(dlb_verify_difference(expected, lost, 2), INFINITY);
}
