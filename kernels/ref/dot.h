/* The dot product of the reference family. */
#ifndef DLK_REF_DOT_H
#define DLK_REF_DOT_H

/*
 * In float, as eight sums of every eighth element that are then added in order: a fixed order
 * which a compiler may still compute with vectors.
 */
static inline float dlk_dot(int count, const float *restrict a, const float *restrict b)
{
    enum { LANES = 8 };
    float lane[LANES] = {0};
    int i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int j = 0; j < LANES; j++)
            lane[j] += a[i + j] * b[i + j];
    for (int j = 0; i < count; i++, j++)
        lane[j] += a[i] * b[i];
    float sum = 0;
    for (int j = 0; j < LANES; j++)
        sum += lane[j];
    return sum;
}

#endif
