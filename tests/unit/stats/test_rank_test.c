#include <criterion/criterion.h>
#include <math.h>

#include "stats/rank_test.h"

/*
 * M. Hollander and D. A. Wolfe, Nonparametric Statistical Methods (1973), p. 69, the example of R's
 * wilcox.test: W = 35, one-sided p = 0.1272.
 */
Test(mann_whitney, is_exact_for_few_values)
{
    const double term[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
    const double early[] = {1.15, 0.88, 0.90, 0.74, 1.21};
    dlb_rank_test found = dlb_mann_whitney(term, 10, early, 5);
    cr_assert_eq(found.u, 35);
    cr_assert_float_eq(found.p, 2 * 0.1272, 1e-4);
    cr_assert_float_eq(found.superiority, 0.7, 1e-12);
}

/*
 * The ozone of May and August in R's data set airquality, also of wilcox.test: W = 127.5,
 * p-value = 0.0001208.
 */
Test(mann_whitney, corrects_the_normal_approximation_for_ties_and_continuity)
{
    const double may[] = {41, 36, 12, 18, NAN, 28, 23, 19, 8,   NAN, 7,   16, 11, 14,  18, 14,
                          34, 6,  30, 11, 1,   11, 4,  32, NAN, NAN, NAN, 23, 45, 115, 37};
    const double august[] = {39, 9,  16, 78, 35, 66, 122, 89, 110, NAN, NAN, 44, 28,  65, NAN, 22,
                             59, 23, 31, 44, 21, 9,  NAN, 45, 168, 73,  NAN, 76, 118, 84, 85};
    dlb_rank_test found = dlb_mann_whitney(may, 31, august, 31);
    cr_assert_eq(found.u, 127.5);
    cr_assert_float_eq(found.p, 0.0001208, 5e-8);
}

/* H. B. Mann and D. R. Whitney, Ann. Math. Statist. 18 (1947), tables I: P(U <= u), one-sided. */
Test(mann_whitney, agrees_with_the_published_tables)
{
    const struct {
        size_t a, b, u;
        double p;
    } table[] = {{3, 3, 0, 0.050}, {3, 3, 2, 0.200}, {4, 4, 1, 0.029}, {5, 5, 2, 0.016},
                 {5, 6, 3, 0.015}, {6, 6, 5, 0.021}, {7, 7, 8, 0.019}, {8, 8, 13, 0.025}};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        double a[8], b[8];
        for (size_t i = 0; i < table[k].b; i++)
            b[i] = (double)i + 1;
        for (size_t i = 0; i < table[k].a; i++)
            a[i] = -(double)i - 1;
        size_t left = table[k].u;
        for (size_t i = 0; left > 0; i++) { /* lift values of a above as many of b as needed */
            size_t above = left < table[k].b ? left : table[k].b;
            a[i] = (double)above + 0.5 + 0.01 * (double)i;
            left -= above;
        }
        dlb_rank_test found = dlb_mann_whitney(a, table[k].a, b, table[k].b);
        cr_assert_eq(found.u, (double)table[k].u);
        cr_expect_float_eq(found.p / 2, table[k].p, 5e-4, "%zu, %zu, %zu: %g", table[k].a,
                           table[k].b, table[k].u, found.p / 2);
    }
}

/* The u of every choice of 5 places of 11 for the values of a, counted. */
static double enumerated_p(double u)
{
    int as_far = 0, all = 0;
    for (unsigned places = 0; places < 1u << 11; places++) {
        if (__builtin_popcount(places) != 5)
            continue;
        int pairs = 0;
        for (int i = 0; i < 11; i++)
            if (places & (1u << i))
                pairs += i - __builtin_popcount(places & ((1u << i) - 1));
        all++;
        as_far += fabs(pairs - 15.0) >= fabs(u - 15);
    }
    return (double)as_far / all;
}

Test(mann_whitney, is_that_of_all_orders_enumerated)
{
    for (unsigned places = 31; places < 1u << 11; places += 17) {
        double values[2][11];
        size_t counts[2] = {0};
        for (int i = 0; i < 11; i++) {
            int of_a = (places >> i) & 1;
            values[of_a][counts[of_a]++] = i;
        }
        if (counts[1] != 5)
            continue;
        dlb_rank_test found = dlb_mann_whitney(values[1], 5, values[0], 6);
        cr_assert_float_eq(found.p, enumerated_p(found.u), 1e-12);
    }
}

Test(mann_whitney, does_not_care_which_sample_comes_first)
{
    const double a[] = {1, 5, 7, 8}, b[] = {2, 3, 4, 6, 9};
    dlb_rank_test there = dlb_mann_whitney(a, 4, b, 5), back = dlb_mann_whitney(b, 5, a, 4);
    cr_assert_eq(there.p, back.p);
    cr_assert_eq(there.u + back.u, 20);
    cr_assert_float_eq(there.superiority + back.superiority, 1, 1e-12);
}

Test(mann_whitney, of_a_sample_with_itself_finds_nothing)
{
    const double same[] = {4, 4, 4};
    dlb_rank_test found = dlb_mann_whitney(same, 3, same, 3);
    cr_assert_eq(found.p, 1);
    cr_assert_eq(found.superiority, 0.5);
}

Test(mann_whitney, changes_little_where_the_exact_way_ends)
{
    double a[21], b[21];
    for (size_t i = 0; i < 21; i++) {
        a[i] = (double)(2 * i);
        b[i] = (double)(2 * i) + 7;
    }
    double exact = dlb_mann_whitney(a, 20, b, 20).p, normal = dlb_mann_whitney(a, 21, b, 21).p;
    cr_assert_float_eq(exact, normal, 0.05);
}

Test(mann_whitney, of_an_empty_sample_is_missing)
{
    dlb_rank_test found = dlb_mann_whitney((double[]){1, 2}, 2, (double[]){NAN}, 1);
    cr_assert(isnan(found.u) && isnan(found.p) && isnan(found.superiority));
}
