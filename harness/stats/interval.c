#include "stats/interval.h"

#include <math.h>

#include "base/mem.h"
#include "stats/law.h"
#include "stats/order.h"
#include "stats/spread.h"

/* What an interval leaves out on both sides together, unless a caller says otherwise. */
static const double usual_chance = 0.05;

static dlb_interval without_ends(size_t count, double value)
{
    return (dlb_interval){count, value, NAN, NAN};
}

/*
 * The ends: low is the least value with half of `chance` at or below it, high the greatest with
 * half of it at or above it. The rounding keeps arithmetic from deciding where a chance is just
 * that.
 */
static double low_level(double chance)
{
    static const double rounding = 1e-9;
    return 0.5 * chance - fmin(rounding, 0.25 * chance);
}

static double high_level(double chance)
{
    return 1 - low_level(chance);
}

static dlb_interval within(dlb_law *law, size_t count, double value, double chance)
{
    return (dlb_interval){count, value, dlb_law_quantile(law, low_level(chance)),
                          dlb_law_quantile(law, high_level(chance))};
}

static dlb_interval median_of_sorted(const double *ascending, size_t count, double chance)
{
    double median = dlb_quantile(ascending, count, 0.5);
    if (count < 2)
        return without_ends(count, median);
    dlb_law law = DLB_LAW_INIT;
    dlb_law_of_median(&law, ascending, count);
    dlb_interval interval = within(&law, count, median, chance);
    dlb_law_release(&law);
    return interval;
}

dlb_interval dlb_interval_median(const double *values, size_t count)
{
    size_t known;
    double *ascending = dlb_ascending(values, count, &known);
    dlb_interval interval = median_of_sorted(ascending, known, usual_chance);
    free(ascending);
    return interval;
}

/*
 * How many values may be left out at each end. Of n values k or fewer lie below their
 * distribution's median with the chance of as many heads in n throws.
 */
static size_t spared(size_t count, double chance)
{
    double heads = ldexp(1, -(int)count), sum = heads;
    size_t k = 0;
    while (2 * sum <= chance && k < count / 2) {
        heads *= (double)(count - k) / (double)(k + 1);
        sum += heads;
        k++;
    }
    return k > 0 ? k - 1 : 0;
}

dlb_interval dlb_interval_median_sure(const double *values, size_t count, double chance)
{
    size_t known;
    double *ascending = dlb_ascending(values, count, &known);
    dlb_interval interval = median_of_sorted(ascending, known, chance);
    if (known >= 2) {
        size_t out = spared(known, chance);
        interval.low = fmin(interval.low, ascending[out]);
        interval.high = fmax(interval.high, ascending[known - 1 - out]);
    }
    free(ascending);
    return interval;
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

static dlb_interval normal_mean(const double *values, size_t count, double mean)
{
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    double reach = 1.959963984540054 * sqrt(squares) / (double)count;
    return (dlb_interval){count, mean, mean - reach, mean + reach};
}

static dlb_interval mean_of_known(const double *values, size_t count)
{
    enum { NORMAL_ABOVE = 1000 };
    double mean = mean_of(values, count);
    if (count < 2)
        return without_ends(count, mean);
    if (count > NORMAL_ABOVE)
        return normal_mean(values, count, mean);
    dlb_law law = DLB_LAW_INIT;
    dlb_law_of_mean(&law, values, count);
    dlb_interval interval = within(&law, count, mean, usual_chance);
    dlb_law_release(&law);
    return interval;
}

dlb_interval dlb_interval_mean(const double *values, size_t count)
{
    size_t known;
    double *ascending = dlb_ascending(values, count, &known);
    dlb_interval interval = mean_of_known(ascending, known);
    free(ascending);
    return interval;
}

dlb_interval dlb_interval_paired_ratio(const double *above, const double *below, size_t count)
{
    double *ratios = dlb_alloc(count, sizeof *ratios);
    for (size_t i = 0; i < count; i++)
        ratios[i] = above[i] / below[i];
    dlb_interval interval = dlb_interval_median(ratios, count);
    free(ratios);
    return interval;
}

/* Both ascending and not empty. */
static dlb_interval ratio_of_sorted(const double *above, size_t above_count, const double *below,
                                    size_t below_count)
{
    size_t count = above_count < below_count ? above_count : below_count;
    double ratio = dlb_quantile(above, above_count, 0.5) / dlb_quantile(below, below_count, 0.5);
    if (count < 2 || above[0] <= 0 || below[0] <= 0)
        return without_ends(count, ratio);
    dlb_law a = DLB_LAW_INIT, b = DLB_LAW_INIT;
    dlb_law_of_median(&a, above, above_count);
    dlb_law_of_median(&b, below, below_count);
    dlb_interval interval = {count, ratio, dlb_law_ratio_quantile(&a, &b, low_level(usual_chance)),
                             dlb_law_ratio_quantile(&a, &b, high_level(usual_chance))};
    dlb_law_release(&b);
    dlb_law_release(&a);
    return interval;
}

dlb_interval dlb_interval_ratio(const double *above, size_t above_count, const double *below,
                                size_t below_count)
{
    size_t tops, bottoms;
    double *top = dlb_ascending(above, above_count, &tops);
    double *bottom = dlb_ascending(below, below_count, &bottoms);
    dlb_interval interval =
        tops && bottoms ? ratio_of_sorted(top, tops, bottom, bottoms) : without_ends(0, NAN);
    free(bottom);
    free(top);
    return interval;
}
