#include "stats/survival.h"

#include <math.h>

#include "base/mem.h"

/* At one time a run that ends is still seen by those that reach the target: they come first. */
static int compare(const void *a, const void *b)
{
    const dlb_observation *x = a, *y = b;
    int order = (x->time > y->time) - (x->time < y->time);
    return order ? order : y->reached - x->reached;
}

static dlb_observation *in_order(const dlb_observation *runs, size_t count, size_t *known)
{
    dlb_observation *sorted = dlb_alloc(count, sizeof *sorted);
    *known = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(runs[i].time))
            sorted[(*known)++] = runs[i];
    qsort(sorted, *known, sizeof *sorted, compare);
    return sorted;
}

/* The curve steps down at each time at which runs reach the target. */
typedef struct step {
    double time;
    double left;      /* the fraction that has not reached it then */
    double low, high; /* its interval; NaN if none is left */
} step;

/* On the scale log(-log(left)), where `greenwood` / log(left)^2 is the variance. */
static void set_interval(step *at, double greenwood)
{
    double log_left = log(at->left);
    double reach = exp(1.959963984540054 * sqrt(greenwood) / fabs(log_left));
    bool none = at->left <= 0;
    at->low = none ? NAN : exp(log_left * reach);
    at->high = none ? NAN : exp(log_left / reach);
}

/* The steps of runs in order, at most `count`; returns how many there are. */
static size_t make_steps(step *steps, const dlb_observation *runs, size_t count)
{
    size_t found = 0;
    double left = 1, greenwood = 0;
    for (size_t start = 0, end; start < count; start = end) {
        double reached = 0, at_risk = (double)(count - start);
        for (end = start; end < count && runs[end].time == runs[start].time; end++)
            reached += runs[end].reached;
        if (reached == 0)
            continue;
        left = reached < at_risk ? left * (at_risk - reached) / at_risk : 0;
        greenwood += reached / (at_risk * (at_risk - reached));
        steps[found] = (step){.time = runs[start].time, .left = left};
        set_interval(&steps[found++], greenwood);
    }
    return found;
}

enum curve { LEFT, LOW, HIGH };

static double value_at(const step *at, enum curve curve)
{
    return curve == LEFT ? at->left : curve == LOW ? at->low : at->high;
}

/* The time at which a curve comes down to one half, or NaN. */
static double half_time(const step *steps, size_t count, enum curve curve)
{
    const double half = 0.5, rounding = 1e-9;
    size_t first = 0;
    while (first < count && !(value_at(&steps[first], curve) <= half + rounding))
        first++;
    if (first == count)
        return NAN;
    size_t below = first;
    while (below < count && !(value_at(&steps[below], curve) < half - rounding))
        below++;
    bool stays = below > first && below < count;
    return stays ? steps[first].time / 2 + steps[below].time / 2 : steps[first].time;
}

static dlb_survival summarise(const dlb_observation *sorted, size_t count)
{
    step *steps = dlb_alloc(count, sizeof *steps);
    size_t step_count = make_steps(steps, sorted, count);
    dlb_survival survival = {.count = count,
                             .median = half_time(steps, step_count, LEFT),
                             .low = half_time(steps, step_count, LOW),
                             .high = half_time(steps, step_count, HIGH)};
    for (size_t i = 0; i < count; i++)
        survival.reached += sorted[i].reached;
    free(steps);
    return survival;
}

dlb_survival dlb_survival_of(const dlb_observation *runs, size_t count)
{
    size_t known;
    dlb_observation *sorted = in_order(runs, count, &known);
    dlb_survival survival = summarise(sorted, known);
    free(sorted);
    return survival;
}

double dlb_survival_at(const dlb_observation *runs, size_t count, double time)
{
    size_t known;
    dlb_observation *sorted = in_order(runs, count, &known);
    step *steps = dlb_alloc(known, sizeof *steps);
    size_t step_count = make_steps(steps, sorted, known);
    double left = known ? 1 : NAN;
    for (size_t i = 0; i < step_count && steps[i].time <= time; i++)
        left = steps[i].left;
    free(steps);
    free(sorted);
    return left;
}
