#include "stats/rank_test.h"

#include <math.h>
#include <stdbool.h>

#include "base/mem.h"

enum { EXACT_UP_TO = 20 };

typedef struct ranked {
    double value;
    bool of_a;
} ranked;

static int compare(const void *a, const void *b)
{
    double x = ((const ranked *)a)->value, y = ((const ranked *)b)->value;
    return (x > y) - (x < y);
}

/* What the ranks of both samples together come to. */
typedef struct ranking {
    double a, b; /* how many values each has */
    double u;
    double ties; /* the sum of t^3 - t over groups of t equal values */
} ranking;

static size_t add_known(ranked *pool, size_t at, const double *values, size_t count, bool of_a)
{
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            pool[at++] = (ranked){values[i], of_a};
    return at;
}

/* The values ascend, group by group of equal ones. */
static ranking rank(const ranked *pool, size_t count)
{
    ranking found = {0};
    for (size_t start = 0, end; start < count; start = end) {
        double a = 0, b = 0;
        for (end = start; end < count && pool[end].value == pool[start].value; end++)
            *(pool[end].of_a ? &a : &b) += 1;
        found.u += a * (found.b + b / 2);
        found.ties += (a + b) * (a + b) * (a + b) - (a + b);
        found.a += a;
        found.b += b;
    }
    return found;
}

/*
 * The chance of a u of at most `u`, which is whole, if all orders of a + b different values are
 * alike. The orders that give u = k are the coefficient of q^k in the product of
 * (1 - q^(b + i)) / (1 - q^i) for i = 1 ... a; they stay exact in a double.
 */
static double exact_at_most(int a, int b, int u)
{
    double orders[EXACT_UP_TO * EXACT_UP_TO + 1] = {1};
    int last = a * b;
    for (int i = 1; i <= a; i++) {
        for (int k = last; k >= b + i; k--)
            orders[k] -= orders[k - b - i];
        for (int k = i; k <= last; k++)
            orders[k] += orders[k - i];
    }
    double below = 0, all = 0;
    for (int k = 0; k <= last; k++) {
        all += orders[k];
        below += k <= u ? orders[k] : 0;
    }
    return below / all;
}

static double exact_p(const ranking *r)
{
    double farther = fmin(r->u, r->a * r->b - r->u);
    return fmin(1, 2 * exact_at_most((int)r->a, (int)r->b, (int)farther));
}

static double normal_p(const ranking *r)
{
    double n = r->a + r->b;
    double variance = r->a * r->b / 12 * (n + 1 - r->ties / (n * (n - 1)));
    double distance = fmax(0, fabs(r->u - r->a * r->b / 2) - 0.5); /* continuity */
    return distance > 0 ? erfc(distance / sqrt(2 * variance)) : 1;
}

dlb_rank_test dlb_mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count)
{
    ranked *pool = dlb_alloc(a_count + b_count, sizeof *pool);
    size_t count = add_known(pool, 0, a, a_count, true);
    count = add_known(pool, count, b, b_count, false);
    qsort(pool, count, sizeof *pool, compare);
    ranking r = rank(pool, count);
    free(pool);
    if (r.a == 0 || r.b == 0)
        return (dlb_rank_test){NAN, NAN, NAN};
    bool exact = r.ties == 0 && r.a <= EXACT_UP_TO && r.b <= EXACT_UP_TO;
    return (dlb_rank_test){r.u, exact ? exact_p(&r) : normal_p(&r), r.u / (r.a * r.b)};
}
