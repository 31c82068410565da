#include "stats/spread.h"

#include <math.h>

#include "stats/order.h"

double dlb_quantile(const double *ascending, size_t count, double p)
{
    if (count == 0)
        return NAN;
    double place = p * (double)(count - 1);
    size_t below = (size_t)place;
    double beyond = place - (double)below;
    if (beyond == 0)
        return ascending[below];
    return ascending[below] * (1 - beyond) + ascending[below + 1] * beyond;
}

dlb_spread dlb_spread_of(const double *values, size_t count)
{
    size_t n;
    double *known = dlb_ascending(values, count, &n);
    dlb_spread spread = {.count = n,
                         .min = dlb_quantile(known, n, 0),
                         .lower = dlb_quantile(known, n, 0.25),
                         .median = dlb_quantile(known, n, 0.5),
                         .upper = dlb_quantile(known, n, 0.75),
                         .max = dlb_quantile(known, n, 1)};
    free(known);
    return spread;
}

double dlb_median(const double *values, size_t count)
{
    return dlb_spread_of(values, count).median;
}
