/*
 * The dense layer as matrix products, cut into tiles by shape alone.
 *
 * A layer on a CNN has long inputs and few outputs (9216 → 128), so forward cuts the inputs into
 * slices: each slice sums into a y of its own in the team's scratch, and these are then added in
 * order. Tiles of y alone would read all weights again and again.
 */
#include <stdbool.h>
#include <string.h>

#include "blas/blas.h"
#include "dlk/gemm.h"
#include "dlk/sum.h"
#include "loops.h"
#include "shapes.h"

/* Columns of dx of a task; what a product is not cut below. */
enum { INPUTS_A_TASK = 512, MIN_STEP = 32 };

typedef struct dense_job {
    const dlk_dense *s;
    const float *x, *dy, *weights, *bias;
    float *out; /* the slices' sums [slice][n][out], dx or dweights */
    int slices;
} dense_job;

/* Part number `index` of `count` elements cut into `parts` nearly equal ones. */
static dlk_range part(int count, int parts, int index)
{
    return (dlk_range){(size_t)((long long)count * index / parts),
                       (size_t)((long long)count * (index + 1) / parts)};
}

static int tiles(int count, int size)
{
    return dlk_pieces((size_t)count, (size_t)size);
}

/* The third dimension of a small product whose other two multiply to `area`. */
static size_t small_step(size_t area)
{
    bool room = area > 0 && area < DLK_SMALL_PRODUCT / MIN_STEP;
    return room ? DLK_SMALL_PRODUCT / area : MIN_STEP;
}

/* Slice 0 starts from the bias, the others from nothing. */
static void forward_tile(const dense_job *job, int slice, dlk_range rows, dlk_range columns)
{
    const dlk_dense *s = job->s;
    size_t out = (size_t)s->out, m = rows.end - rows.first, n = columns.end - columns.first;
    dlk_range inputs = part(s->in, job->slices, slice);
    float *y = job->out + ((size_t)slice * (size_t)s->n + rows.first) * out + columns.first;
    for (size_t row = 0; slice == 0 && row < m; row++)
        memcpy(y + row * out, job->bias + columns.first, n * sizeof *y);
    float beta = slice == 0 ? 1.0F : 0.0F;
    size_t step = small_step(m * n);
    for (size_t i = inputs.first; i < inputs.end; i += step, beta = 1.0F) {
        size_t left = inputs.end - i;
        dlk_gemm(false, false, (int)m, (int)n, (int)(step < left ? step : left),
                 job->x + rows.first * (size_t)s->in + i, s->in,
                 job->weights + i * out + columns.first, s->out, beta, y, s->out);
    }
}

static void forward_task(void *arg, int task, int thread)
{
    (void)thread;
    const dense_job *job = arg;
    const dlk_dense *s = job->s;
    int row_tiles = tiles(s->n, DLK_DENSE_TILE), column_tiles = tiles(s->out, DLK_DENSE_TILE);
    int column = task % column_tiles, row = task / column_tiles % row_tiles;
    forward_tile(job, task / (column_tiles * row_tiles), part(s->n, row_tiles, row),
                 part(s->out, column_tiles, column));
}

static void backward_data_task(void *arg, int task, int thread)
{
    (void)thread;
    const dense_job *job = arg;
    const dlk_dense *s = job->s;
    dlk_range inputs = part(s->in, tiles(s->in, INPUTS_A_TASK), task);
    dlk_gemm(false, true, s->n, (int)(inputs.end - inputs.first), s->out, job->dy, s->out,
             job->weights + inputs.first * (size_t)s->out, s->out, 0.0F, job->out + inputs.first,
             s->in);
}

/* Rows of dweights of a task. */
static size_t weights_step(const dlk_dense *s)
{
    return small_step((size_t)s->n * (size_t)s->out);
}

static void backward_weights_task(void *arg, int task, int thread)
{
    (void)thread;
    const dense_job *job = arg;
    const dlk_dense *s = job->s;
    dlk_range inputs = dlk_piece((size_t)s->in, weights_step(s), task);
    for (int half = 0; half < dlk_dense_halves(s); half++) {
        dlk_range images = dlk_dense_half(s, half);
        dlk_gemm(true, false, (int)(inputs.end - inputs.first), s->out,
                 (int)(images.end - images.first),
                 job->x + images.first * (size_t)s->in + inputs.first, s->in,
                 job->dy + images.first * (size_t)s->out, s->out, half ? 1.0F : 0.0F,
                 job->out + inputs.first * (size_t)s->out, s->out);
    }
}

void dlk_blas_dense_forward(dlk_team *team, const dlk_dense *s, const float *x,
                            const float *weights, const float *bias, float *y)
{
    int slices = dlk_dense_slices(s);
    size_t outputs = (size_t)s->n * (size_t)s->out;
    float *sums = slices > 1 ? team->shared : y;
    dense_job job = {
        .s = s, .x = x, .weights = weights, .bias = bias, .out = sums, .slices = slices};
    int tasks = slices * tiles(s->n, DLK_DENSE_TILE) * tiles(s->out, DLK_DENSE_TILE);
    dlk_parallel(team, tasks, forward_task, &job);
    if (slices > 1)
        dlk_sum_rows(team, slices, outputs, sums, outputs, y);
}

void dlk_blas_dense_backward_data(dlk_team *team, const dlk_dense *s, const float *dy,
                                  const float *weights, float *dx)
{
    dense_job job = {.s = s, .dy = dy, .weights = weights, .out = dx};
    dlk_parallel(team, tiles(s->in, INPUTS_A_TASK), backward_data_task, &job);
}

void dlk_blas_dense_backward_weights(dlk_team *team, const dlk_dense *s, const float *x,
                                     const float *dy, float *dweights, float *dbias)
{
    dense_job job = {.s = s, .x = x, .dy = dy, .out = dweights};
    dlk_parallel(team, dlk_pieces((size_t)s->in, weights_step(s)), backward_weights_task, &job);
    dlk_sum_rows(team, s->n, (size_t)s->out, dy, (size_t)s->out, dbias);
}
