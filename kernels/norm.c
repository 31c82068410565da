#include "dlk/norm.h"

/* As eight sums of every eighth element that are then added in order: vectors can compute it. */
static double square_sum(const float *values, size_t count)
{
    enum { LANES = 8 };
    double lane[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int j = 0; j < LANES; j++)
            lane[j] += (double)values[i + j] * (double)values[i + j];
    for (int j = 0; i < count; i++, j++)
        lane[j] += (double)values[i] * (double)values[i];
    double sum = 0;
    for (int j = 0; j < LANES; j++)
        sum += lane[j];
    return sum;
}

void dlk_square_sums(const float *a, const float *b, size_t count, double *sum_a, double *sum_b)
{
    *sum_a = square_sum(a, count);
    *sum_b = square_sum(b, count);
}
