#include <criterion/criterion.h>
#include <math.h>

#include "stats/spread.h"

Test(quantile, is_an_element_where_the_fraction_falls_on_one)
{
    const double values[] = {1, 2, 4, 8, 16};
    cr_assert_eq(dlb_quantile(values, 5, 0), 1);
    cr_assert_eq(dlb_quantile(values, 5, 0.25), 2);
    cr_assert_eq(dlb_quantile(values, 5, 0.5), 4);
    cr_assert_eq(dlb_quantile(values, 5, 1), 16);
}

Test(quantile, is_linear_between_elements)
{
    const double values[] = {10, 20};
    cr_assert_float_eq(dlb_quantile(values, 2, 0.25), 12.5, 1e-12);
    cr_assert_float_eq(dlb_quantile(values, 2, 0.9), 19, 1e-12);
}

/* The default of R, type 7 of R. J. Hyndman and Y. Fan (1996): quantile(c(1, 3, 4, 8, 9, 20)). */
Test(quantile, is_that_of_r)
{
    const double values[] = {1, 3, 4, 8, 9, 20};
    const struct {
        double p, quantile;
    } known[] = {{0, 1}, {0.1, 2}, {0.25, 3.25}, {0.5, 6}, {0.75, 8.75}, {0.9, 14.5}, {1, 20}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        cr_expect_float_eq(dlb_quantile(values, 6, known[i].p), known[i].quantile, 1e-12);
}

Test(quantile, keeps_the_infinite_out_of_its_neighbours)
{
    const double values[] = {1, 2, INFINITY};
    cr_assert_eq(dlb_quantile(values, 3, 0.5), 2);
    cr_assert_eq(dlb_quantile(values, 3, 1), INFINITY);
}

Test(median, of_an_even_number_of_values_is_between_the_two_in_the_middle)
{
    const double values[] = {9, 1, 4, 2};
    cr_assert_eq(dlb_median(values, 4), 3);
}

Test(median, of_one_value_is_that_value)
{
    cr_assert_eq(dlb_median((double[]){7}, 1), 7);
}

Test(spread, does_not_depend_on_the_order_and_leaves_the_array_as_it_was)
{
    double values[] = {5, 1, 4, 2, 3};
    dlb_spread spread = dlb_spread_of(values, 5);
    cr_assert_eq(spread.count, 5);
    cr_assert_eq(spread.min, 1);
    cr_assert_eq(spread.lower, 2);
    cr_assert_eq(spread.median, 3);
    cr_assert_eq(spread.upper, 4);
    cr_assert_eq(spread.max, 5);
    cr_assert_eq(values[0], 5, "a pure function changed its input");
}

Test(spread, leaves_out_what_is_missing)
{
    const double values[] = {NAN, 3, NAN, 1, 2};
    dlb_spread spread = dlb_spread_of(values, 5);
    cr_assert_eq(spread.count, 3);
    cr_assert_eq(spread.median, 2);
    cr_assert_eq(spread.max, 3);
}

Test(spread, of_nothing_is_missing_and_not_0)
{
    dlb_spread none = dlb_spread_of(NULL, 0), missing = dlb_spread_of((double[]){NAN}, 1);
    cr_assert_eq(none.count, 0);
    cr_assert(isnan(none.median) && isnan(none.min) && isnan(none.max));
    cr_assert(isnan(missing.lower) && isnan(missing.upper));
}
