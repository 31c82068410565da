#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>

#include "base/mem.h"
#include "stats/interval.h"
#include "stats/spread.h"

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double middle_of(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return values[(count - 1) / 2] / 2 + values[count / 2] / 2;
}

static double average_of(double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* The estimate of every one of the n^n resamples, ascending; *count: how many. */
static double *all_resamples(const double *values, size_t n, double (*estimate)(double *, size_t),
                             size_t *count)
{
    *count = (size_t)pow((double)n, (double)n);
    double *all = dlb_alloc(*count, sizeof *all);
    for (size_t code = 0; code < *count; code++) {
        double drawn[8];
        size_t digits = code;
        for (size_t i = 0; i < n; i++, digits /= n)
            drawn[i] = values[digits % n];
        all[code] = estimate(drawn, n);
    }
    qsort(all, *count, sizeof *all, compare);
    return all;
}

static const double skewed[] = {3.1, 2.0, 17.5, 2.3, 2.9, 5.75};

static void assert_as_enumerated(dlb_interval found, size_t n, double (*estimate)(double *, size_t))
{
    size_t count;
    double *all = all_resamples(skewed, n, estimate, &count);
    size_t low = (size_t)ceil(0.025 * (double)count) - 1;
    cr_assert_eq(found.count, n);
    cr_assert_float_eq(found.low, all[low], 1e-12, "%zu values: %g, not %g", n, found.low,
                       all[low]);
    cr_assert_float_eq(found.high, all[count - 1 - low], 1e-12, "%zu values: %g, not %g", n,
                       found.high, all[count - 1 - low]);
    free(all);
}

Test(interval_median, is_that_of_all_resamples_enumerated)
{
    for (size_t n = 2; n <= 6; n++)
        assert_as_enumerated(dlb_interval_median(skewed, n), n, middle_of);
}

Test(interval_mean, is_that_of_all_resamples_enumerated)
{
    for (size_t n = 2; n <= 6; n++)
        assert_as_enumerated(dlb_interval_mean(skewed, n), n, average_of);
}

/* The order statistics that are the ends, from the binomial of B. Efron (1979), section 3. */
Test(interval_median, of_an_odd_number_ends_at_known_order_statistics)
{
    const struct {
        size_t n, low;
    } known[] = {{3, 1}, {5, 1}, {7, 2}, {9, 2}, {11, 3}, {15, 4}, {21, 7}, {31, 11}, {51, 19}};
    double values[51];
    for (size_t i = 0; i < 51; i++)
        values[i] = (double)i + 1;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        size_t n = known[k].n;
        dlb_interval found = dlb_interval_median(values, n);
        cr_assert_eq(found.value, (double)(n + 1) / 2);
        cr_expect_eq(found.low, (double)known[k].low, "%zu values: %g", n, found.low);
        cr_expect_eq(found.high, (double)(n + 1 - known[k].low), "%zu values: %g", n, found.high);
    }
}

Test(interval_median, spans_all_values_when_they_are_five_or_fewer)
{
    for (size_t n = 2; n <= 5; n++) {
        dlb_interval found = dlb_interval_median(skewed, n);
        dlb_spread spread = dlb_spread_of(skewed, n);
        cr_assert_eq(found.value, spread.median);
        cr_assert_eq(found.low, spread.min);
        cr_assert_eq(found.high, spread.max);
    }
}

Test(interval_median, leaves_out_what_is_missing)
{
    const double values[] = {NAN, 4, 1, NAN, 2, 3};
    dlb_interval found = dlb_interval_median(values, 6);
    cr_assert_eq(found.count, 4);
    cr_assert_eq(found.value, 2.5);
    cr_assert_eq(found.low, 1);
    cr_assert_eq(found.high, 4);
}

Test(interval_median, of_one_value_has_no_ends)
{
    dlb_interval found = dlb_interval_median((double[]){7}, 1);
    cr_assert_eq(found.count, 1);
    cr_assert_eq(found.value, 7);
    cr_assert(isnan(found.low) && isnan(found.high));
}

Test(interval_median, of_nothing_is_missing)
{
    dlb_interval found = dlb_interval_median((double[]){NAN}, 1);
    cr_assert_eq(found.count, 0);
    cr_assert(isnan(found.value) && isnan(found.low) && isnan(found.high));
}

Test(interval_median, of_equal_values_has_no_width)
{
    double values[1001];
    for (size_t i = 0; i < 1001; i++)
        values[i] = 0.1;
    for (size_t n = 2; n <= 1001; n += 111) {
        dlb_interval found = dlb_interval_median(values, n);
        cr_assert(found.low == 0.1 && found.value == 0.1 && found.high == 0.1);
    }
}

Test(interval_median, of_mirrored_values_is_mirrored)
{
    for (size_t n = 2; n <= 6; n++) {
        double mirrored[6];
        for (size_t i = 0; i < n; i++)
            mirrored[i] = -skewed[i];
        dlb_interval found = dlb_interval_median(skewed, n), mirror;
        mirror = dlb_interval_median(mirrored, n);
        cr_assert_eq(found.low, -mirror.high);
        cr_assert_eq(found.high, -mirror.low);
    }
}

/* The standard error of a uniform sample's median is about its width / (2 sqrt n). */
Test(interval_median, of_many_values_is_as_wide_as_the_normal_one)
{
    enum { MANY = 100000 };
    double *values = dlb_alloc(MANY, sizeof *values);
    for (size_t i = 0; i < MANY; i++)
        values[i] = (double)(i * 7919 % MANY) / MANY;
    for (size_t n = MANY - 1; n <= MANY; n++) {
        dlb_interval found = dlb_interval_median(values, n);
        double reach = 1.96 / (2 * sqrt((double)n));
        cr_assert_float_eq(found.value - found.low, reach, reach / 100);
        cr_assert_float_eq(found.high - found.value, reach, reach / 100);
    }
    free(values);
}

/* Uniform numbers of 0 ... 1, a sequence of its own for each test. */
static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* How often, in per cent, the interval of n exponential values has their true median in it. */
static double coverage(dlb_interval (*method)(const double *, size_t), size_t n, double truth)
{
    enum { TRIALS = 20000 };
    uint64_t state = n;
    int covered = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double values[32];
        for (size_t i = 0; i < n; i++)
            values[i] = -log1p(-uniform(&state));
        dlb_interval found = method(values, n);
        covered += found.low <= truth && truth <= found.high;
    }
    return 100.0 * covered / TRIALS;
}

/*
 * Between the order statistics k and n + 1 - k the true median lies but for twice the chance of
 * fewer than k heads in n tosses, whatever the distribution. The trials' standard error is up to
 * 0.35.
 */
Test(interval_median, covers_the_truth_as_often_as_is_known_for_that_many_values)
{
    const struct {
        size_t n;
        double per_cent;
    } known[] = {{2, 50}, {3, 75}, {4, 87.5}, {5, 93.75}, {7, 87.5}, {9, 96.09}, {21, 92.16}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        double found = coverage(dlb_interval_median, known[k].n, log(2));
        cr_expect_float_eq(found, known[k].per_cent, 1.2, "%zu values: %g %%", known[k].n, found);
    }
}

Test(interval_median, covers_the_truth_for_even_numbers_too)
{
    for (size_t n = 6; n <= 22; n += 4) {
        double found = coverage(dlb_interval_median, n, log(2));
        cr_expect(found > 90 && found < 97.5, "%zu values: %g %%", n, found);
    }
}

Test(interval_mean, of_more_values_does_not_depend_on_their_order)
{
    double values[20], reversed[20];
    for (size_t i = 0; i < 20; i++)
        values[i] = reversed[19 - i] = exp((double)i / 5);
    dlb_interval found = dlb_interval_mean(values, 20), again = dlb_interval_mean(reversed, 20);
    cr_assert(found.low == again.low && found.value == again.value && found.high == again.high);
}

/* The seam between resampling and the normal interval does not show. */
Test(interval_mean, of_many_values_is_the_normal_one)
{
    double values[1001];
    uint64_t state = 1;
    for (size_t i = 0; i < 1001; i++)
        values[i] = uniform(&state);
    double reach = 1.96 * sqrt(1.0 / 12 / 1000);
    for (size_t n = 1000; n <= 1001; n++) {
        dlb_interval found = dlb_interval_mean(values, n);
        cr_assert_float_eq(found.value - found.low, reach, reach / 10);
        cr_assert_float_eq(found.high - found.value, reach, reach / 10);
    }
}

Test(interval_paired_ratio, is_not_touched_by_a_drift_that_hits_both)
{
    double slow[10], fast[10];
    for (size_t i = 0; i < 10; i++) {
        double drift = i < 5 ? 1 : 2; /* the machine halves its clock */
        fast[i] = drift * (1 + 0.001 * (double)i);
        slow[i] = drift * (3 + 0.001 * (double)(i * 7 % 10));
    }
    dlb_interval paired = dlb_interval_paired_ratio(slow, fast, 10);
    dlb_interval unpaired = dlb_interval_ratio(slow, 10, fast, 10);
    cr_assert(paired.low > 2.97 && paired.high < 3.01, "%g ... %g", paired.low, paired.high);
    cr_assert(unpaired.low < 2 && unpaired.high > 4, "%g ... %g", unpaired.low, unpaired.high);
}

Test(interval_paired_ratio, leaves_out_pairs_with_a_missing_value)
{
    const double above[] = {2, NAN, 6, 8, 5}, below[] = {1, 1, 2, NAN, 5};
    dlb_interval found = dlb_interval_paired_ratio(above, below, 5);
    cr_assert_eq(found.count, 3);
    cr_assert_eq(found.value, 2);
    cr_assert_eq(found.low, 1);
    cr_assert_eq(found.high, 3);
}

/* Every median of one sample's resamples over every one of the other's. */
static double *all_ratios(size_t n, const double *below, size_t m, size_t *count)
{
    size_t tops, bottoms;
    double *top = all_resamples(skewed, n, middle_of, &tops);
    double *bottom = all_resamples(below, m, middle_of, &bottoms);
    *count = tops * bottoms;
    double *all = dlb_alloc(*count, sizeof *all);
    for (size_t i = 0; i < *count; i++)
        all[i] = top[i % tops] / bottom[i / tops];
    qsort(all, *count, sizeof *all, compare);
    free(bottom);
    free(top);
    return all;
}

Test(interval_ratio, is_that_of_all_pairs_of_resamples_enumerated)
{
    const double below[] = {1.5, 1.1, 1.2, 4.0};
    for (size_t n = 3; n <= 5; n++) {
        size_t count;
        double *all = all_ratios(n, below, 4, &count);
        size_t low = (size_t)ceil(0.025 * (double)count) - 1;
        dlb_interval found = dlb_interval_ratio(skewed, n, below, 4);
        cr_assert_eq(found.count, n < 4 ? n : 4);
        cr_assert_float_eq(found.value, dlb_median(skewed, n) / 1.35, 1e-12);
        cr_assert_float_eq(found.low, all[low], 1e-12);
        cr_assert_float_eq(found.high, all[count - 1 - low], 1e-12);
        free(all);
    }
}

Test(interval_ratio, has_no_ends_where_a_value_is_not_above_zero)
{
    const double above[] = {1, 2, 3}, below[] = {0, 1, 2};
    dlb_interval found = dlb_interval_ratio(above, 3, below, 3);
    cr_assert_eq(found.value, 2);
    cr_assert(isnan(found.low) && isnan(found.high));
}

Test(interval_ratio, to_nothing_is_missing)
{
    dlb_interval found = dlb_interval_ratio((double[]){1, 2}, 2, NULL, 0);
    cr_assert_eq(found.count, 0);
    cr_assert(isnan(found.value) && isnan(found.low) && isnan(found.high));
}

Test(interval, a_sure_one_reaches_to_the_order_statistics_that_enclose_the_median)
{
    const double values[] = {7, 1, 5, 3, 2, 6, 4, 8, NAN};
    dlb_interval wide = dlb_interval_median_sure(values, 9, 0.05);
    cr_assert_eq(wide.count, 8);
    cr_assert_eq(wide.value, 4.5);
    cr_assert(wide.low == 1 && wide.high == 8, "%g %g", wide.low,
              wide.high); /* 2 / 256, 18 / 256 */
    dlb_interval narrow = dlb_interval_median_sure(values, 9, 0.08);
    cr_assert(narrow.low == 2 && narrow.high == 7, "%g %g", narrow.low, narrow.high);
    cr_assert(isnan(dlb_interval_median_sure(values, 1, 0.05).low));
}
