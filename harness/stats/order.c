#include "stats/order.h"

#include <math.h>

#include "base/mem.h"

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Most samples are a few repeats, for which a call of qsort is the greater part of the work. */
static void sort_few(double *values, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        double value = values[i];
        size_t place = i;
        for (; place > 0 && values[place - 1] > value; place--)
            values[place] = values[place - 1];
        values[place] = value;
    }
}

double *dlb_ascending(const double *values, size_t count, size_t *known)
{
    enum { FEW = 32 };
    double *ascending = dlb_alloc(count, sizeof *ascending);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            ascending[n++] = values[i];
    if (n <= FEW)
        sort_few(ascending, n);
    else
        qsort(ascending, n, sizeof *ascending, compare);
    *known = n;
    return ascending;
}
