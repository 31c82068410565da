#include <math.h>

#include "base/mem.h"
#include "stats/law.h"

static const double negligible = 1e-13;

static double log_choose(size_t n, size_t k)
{
    int sign; /* lgamma has it in a global */
    return lgamma_r((double)n + 1, &sign) - lgamma_r((double)k + 1, &sign) -
           lgamma_r((double)(n - k) + 1, &sign);
}

/* The chance of exactly k of n draws, each with the chance p. */
static double binomial(size_t n, size_t k, double p)
{
    return exp(log_choose(n, k) + (double)k * log(p) + (double)(n - k) * log1p(-p));
}

/* Of at least k: the sum of the side that has less, from its greatest term on. */
static double binomial_at_least(size_t n, size_t k, double p)
{
    if (p >= 1)
        return 1;
    double odds = p / (1 - p), sum = 0;
    if (p * (double)n < (double)k) {
        double term = binomial(n, k, p);
        for (size_t i = k; i <= n && term > negligible * sum; i++) {
            sum += term;
            term *= (double)(n - i) / (double)(i + 1) * odds;
        }
        return sum;
    }
    double term = binomial(n, k - 1, p);
    for (size_t i = k; i > 0 && term > negligible * sum; i--) {
        sum += term;
        term *= (double)(i - 1) / (double)(n - i + 2) / odds;
    }
    return 1 - sum;
}

/* The places, from 1, that a middle value of a resample has in the sample: first ... last. */
typedef struct reach {
    size_t first, last;
} reach;

/* Hoeffding: farther from the middle than this the chance is negligible. */
static reach reach_of(size_t n, size_t rank)
{
    size_t far = (size_t)(4 * sqrt((double)n)) + 1;
    return (reach){rank > far ? rank - far : 1, n - rank > far ? rank + far : n};
}

/* The chance that the value of that rank in a resample is among the first `place` of the sample. */
static double rank_within(size_t n, size_t rank, size_t place)
{
    return place == 0 ? 0 : binomial_at_least(n, rank, (double)place / (double)n);
}

static void law_of_odd(dlb_law *law, const double *ascending, size_t n)
{
    size_t rank = n / 2 + 1;
    reach places = reach_of(n, rank);
    double before = rank_within(n, rank, places.first - 1);
    for (size_t k = places.first; k <= places.last; k++) {
        double until = rank_within(n, rank, k);
        if (until - before > negligible)
            dlb_law_add(law, ascending[k - 1], until - before);
        before = until;
    }
}

/* log of the chance that m draws all fall on the first k of n values, one at least on the k-th. */
static double log_reaches(size_t n, size_t m, size_t k)
{
    double all = (double)m * log((double)k / (double)n);
    return all + log1p(-pow((double)(k - 1) / (double)k, (double)m));
}

/*
 * The resample's ranks m and m + 1 of n = 2 m are the places i < j of the sample when m draws
 * reach up to i from below and the other m down to j from above; what is left of the chance that
 * rank m is i is that both are.
 */
typedef struct pairs {
    const double *ascending;
    size_t n;
    reach places;
    double log_ways;          /* to choose m draws of n */
    const double *log_chance; /* to reach places.first + [.] */
} pairs;

static void add_pairs(dlb_law *law, const pairs *p, size_t i, double chance)
{
    const double *x = p->ascending;
    double lower = p->log_ways + p->log_chance[i - p->places.first], left = chance;
    for (size_t j = i + 1; p->n - j + 1 >= p->places.first; j++) {
        double both = exp(lower + p->log_chance[p->n - j + 1 - p->places.first]);
        if (both <= negligible)
            break;
        left -= both;
        dlb_law_add(law, x[i - 1] / 2 + x[j - 1] / 2, both);
    }
    if (left > negligible)
        dlb_law_add(law, x[i - 1], left);
}

static void law_of_even(dlb_law *law, const double *ascending, size_t n)
{
    size_t rank = n / 2;
    reach places = reach_of(n, rank);
    double *log_chance = dlb_alloc(places.last - places.first + 1, sizeof *log_chance);
    for (size_t k = places.first; k <= places.last; k++)
        log_chance[k - places.first] = log_reaches(n, rank, k);
    pairs middle = {ascending, n, places, log_choose(n, rank), log_chance};
    double before = rank_within(n, rank, places.first - 1);
    for (size_t i = places.first; i <= places.last; i++) {
        double until = rank_within(n, rank, i);
        if (until - before > negligible)
            add_pairs(law, &middle, i, until - before);
        before = until;
    }
    free(log_chance);
}

void dlb_law_of_median(dlb_law *law, const double *ascending, size_t count)
{
    if (count % 2)
        law_of_odd(law, ascending, count);
    else
        law_of_even(law, ascending, count);
}
