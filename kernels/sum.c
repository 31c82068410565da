#include "dlk/sum.h"

#include <string.h>

#include "loops.h"

/* Short enough that the sum stays in the first-level cache while the rows pass by. */
enum { SUM_PIECE = 1024 };

typedef struct sum_job {
    int count_rows;
    size_t stride, count;
    const float *rows;
    float *sum;
} sum_job;

static void sum_piece(void *arg, int task, int thread)
{
    (void)thread;
    const sum_job *job = arg;
    dlk_range piece = dlk_piece(job->count, SUM_PIECE, task);
    size_t count = piece.end - piece.first;
    const float *rows = job->rows + piece.first;
    float *sum = job->sum + piece.first;
    if (sum != rows)
        memcpy(sum, rows, count * sizeof *sum);
    for (int r = 1; r < job->count_rows; r++)
        dlk_add(count, rows + (size_t)r * job->stride, sum);
}

void dlk_sum_rows(dlk_team *team, int count_rows, size_t stride, const float *rows, size_t count,
                  float *sum)
{
    sum_job job = {count_rows, stride, count, rows, sum};
    dlk_parallel(team, dlk_pieces(count, SUM_PIECE), sum_piece, &job);
}
