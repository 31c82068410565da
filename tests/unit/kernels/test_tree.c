#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dlk/tree.h"
#include "kit.h"

enum { MOST = 20 };

/* The definition, for one element. */
// NOLINTNEXTLINE(misc-no-recursion): as deep as the tree
static float defined_sum(int n, const float *const *in, size_t i)
{
    if (n == 1)
        return in[0][i];
    int left = (n + 1) / 2;
    return defined_sum(left, in, i) + defined_sum(n - left, in + left, i);
}

typedef struct inputs {
    float *arrays[MOST];
    int n;
} inputs;

/* Numbers of very different sizes, so that every other order of summation rounds differently. */
static inputs make_inputs(int n, size_t count)
{
    inputs made = {.n = n};
    for (int k = 0; k < n; k++) {
        made.arrays[k] = kit_uniform(count, (uint32_t)k + 1);
        for (size_t i = 0; i < count; i++)
            made.arrays[k][i] =
                ldexpf(made.arrays[k][i], kit_pick((uint32_t)k, (uint32_t)i, 0, 20));
    }
    return made;
}

static void release(inputs *made)
{
    for (int k = 0; k < made->n; k++)
        free(made->arrays[k]);
}

static void expect_bits(const float *got, const float *want, size_t count, int n)
{
    cr_assert_eq(memcmp(got, want, count * sizeof *got), 0, "n = %d, count = %zu", n, count);
}

/* Shorter than a vector, not a multiple of one, and longer than any block. */
static const size_t counts[] = {0, 1, 7, 512, 513, 2000};
enum { COUNTS = sizeof counts / sizeof *counts };

Test(tree, sums_are_those_of_the_definition_bit_for_bit)
{
    for (int n = 1; n <= MOST; n++) {
        for (int c = 0; c < COUNTS; c++) {
            inputs made = make_inputs(n, counts[c]);
            const float *const *in = (const float *const *)made.arrays;
            float *want = kit_zeros(counts[c]), *got = kit_zeros(counts[c]);
            for (size_t i = 0; i < counts[c]; i++)
                want[i] = defined_sum(n, in, i);
            dlk_tree_sum(n, in, counts[c], got);
            expect_bits(got, want, counts[c], n);
            free(got);
            free(want);
            release(&made);
        }
    }
}

Test(tree, out_may_be_any_of_the_inputs)
{
    enum { COUNT = 1500 };
    for (int n = 1; n <= MOST; n++) {
        for (int aliased = 0; aliased < n; aliased++) {
            inputs made = make_inputs(n, COUNT);
            const float *const *in = (const float *const *)made.arrays;
            float *want = kit_zeros(COUNT);
            dlk_tree_sum(n, in, COUNT, want);
            dlk_tree_sum(n, in, COUNT, made.arrays[aliased]);
            expect_bits(made.arrays[aliased], want, COUNT, n);
            free(want);
            release(&made);
        }
    }
}

Test(tree, ranges_summed_apart_are_the_whole_and_touch_nothing_else)
{
    enum { COUNT = 1500, CUT = 611 };
    for (int n = 1; n <= MOST; n++) {
        inputs made = make_inputs(n, COUNT);
        const float *const *in = (const float *const *)made.arrays;
        float *want = kit_zeros(COUNT), *got = kit_zeros(COUNT);
        dlk_tree_sum(n, in, COUNT, want);
        dlk_tree_sum_range(n, in, CUT, COUNT, got);
        for (size_t i = 0; i < CUT; i++)
            cr_assert_eq(got[i], 0.0F);
        dlk_tree_sum_range(n, in, 0, CUT, got);
        expect_bits(got, want, COUNT, n);
        free(got);
        free(want);
        release(&made);
    }
}

/* What lets ranks divide the workers among them. */
Test(tree, equal_shares_of_a_power_of_two_are_subtrees)
{
    enum { N = 16, COUNT = 700 };
    inputs made = make_inputs(N, COUNT);
    const float *const *in = (const float *const *)made.arrays;
    float *want = kit_zeros(COUNT), *got = kit_zeros(COUNT);
    dlk_tree_sum(N, in, COUNT, want);
    for (int shares = 2; shares <= N; shares *= 2) {
        float *partial[N];
        for (int s = 0; s < shares; s++) {
            partial[s] = kit_zeros(COUNT);
            dlk_tree_sum(N / shares, in + (ptrdiff_t)s * (N / shares), COUNT, partial[s]);
        }
        dlk_tree_sum(shares, (const float *const *)partial, COUNT, got);
        expect_bits(got, want, COUNT, shares);
        for (int s = 0; s < shares; s++)
            free(partial[s]);
    }
    free(got);
    free(want);
    release(&made);
}

Test(tree, negative_zero_and_not_a_number_survive)
{
    for (int n = 1; n <= MOST; n++) {
        float zeros = -0.0F, nothing = NAN, one = 1.0F;
        const float *in[MOST];
        for (int k = 0; k < n; k++)
            in[k] = &zeros;
        float sum = 1.0F;
        dlk_tree_sum(n, in, 1, &sum);
        cr_assert(sum == 0.0F && signbit(sum), "n = %d", n);
        for (int k = 0; k < n; k++)
            in[k] = k == n / 2 ? &nothing : &one;
        dlk_tree_sum(n, in, 1, &sum);
        cr_assert(isnan(sum), "n = %d", n);
    }
}

Test(tree, numbers_are_summed_in_the_same_shape)
{
    /* (1 + 1e-16) + 1e-16 is 1; in the tree of 4 the small ones meet first. */
    const double in[] = {1.0, 0.0, 1.2e-16, 1.2e-16, 5.0};
    cr_assert_eq(dlk_tree_sum_of(1, in), 1.0);
    cr_assert_eq(dlk_tree_sum_of(4, in), (1.0 + 0.0) + (1.2e-16 + 1.2e-16));
    cr_assert_gt(dlk_tree_sum_of(4, in), 1.0);
    cr_assert_eq(dlk_tree_sum_of(5, in), ((1.0 + 0.0) + 1.2e-16) + (1.2e-16 + 5.0));
}
