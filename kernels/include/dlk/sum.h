/* Sums over rows of floats, such as the gradients of groups of images. */
#ifndef DLK_SUM_H
#define DLK_SUM_H

#include <stddef.h>

#include "dlk/team.h"

/*
 * sum[i] = rows[0][i] + rows[1][i] + …, always in this order, whoever computes it. Row r starts
 * at rows + r * stride; the sum may be row 0 itself.
 */
void dlk_sum_rows(dlk_team *team, int count_rows, size_t stride, const float *rows, size_t count,
                  float *sum);

#endif
