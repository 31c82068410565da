#include "dlk/norm.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "kit.h"

enum { MOST = 1000 };

/* Squares of small integers add up without rounding in any order. */
Test(norm, sums_of_squares_are_those_of_each_array)
{
    float *a = kit_integers(MOST, 1), *b = kit_integers(MOST, 2);
    for (size_t count = 0; count <= MOST; count += count < 40 ? 1 : 96) {
        double sum_a, sum_b;
        dlk_square_sums(a, b, count, &sum_a, &sum_b);
        cr_assert_eq(sum_a, kit_dot(count, a, a), "%zu elements", count);
        cr_assert_eq(sum_b, kit_dot(count, b, b), "%zu elements", count);
    }
    free(b);
    free(a);
}

Test(norm, extreme_values_neither_overflow_nor_vanish)
{
    float a[] = {3e38F, 3e38F}, b[] = {1e-38F, 0};
    double sum_a, sum_b;
    dlk_square_sums(a, b, 2, &sum_a, &sum_b);
    cr_assert_eq(sum_a, 2 * ((double)3e38F * (double)3e38F));
    cr_assert_eq(sum_b, (double)1e-38F * (double)1e-38F);
}

Test(norm, what_is_not_finite_is_seen)
{
    float a[] = {1, NAN, 1}, b[] = {1, 1, -INFINITY};
    double sum_a, sum_b;
    dlk_square_sums(a, b, 3, &sum_a, &sum_b);
    cr_assert(isnan(sum_a));
    cr_assert(isinf(sum_b));
}

/* Every eighth element, then these eight sums in order. */
static double in_order(const float *values, size_t count)
{
    double lane[8] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++)
        lane[i % 8] += (double)values[i] * (double)values[i];
    for (int i = 0; i < 8; i++)
        sum += lane[i];
    return sum;
}

Test(norm, results_depend_on_the_values_alone_to_the_last_bit)
{
    float *values = kit_uniform(MOST, 3), *moved = kit_zeros(MOST + 16);
    for (size_t start = 0; start < 16; start++) {
        size_t count = MOST - 7 * start;
        double sum, sum_of_moved;
        memcpy(moved + start, values, count * sizeof *values);
        dlk_square_sums(values, moved + start, count, &sum, &sum_of_moved);
        cr_assert_eq(sum, in_order(values, count));
        cr_assert_eq(sum_of_moved, sum, "another sum from another address");
    }
    free(moved);
    free(values);
}
