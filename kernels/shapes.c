#include "shapes.h"

#include "base/mem.h"
#include "dlk/sum.h"
#include "loops.h"

/* What a block gathers should stay in the second-level cache. */
enum { BLOCK_FLOATS = 128 * 1024 };

/* Enough tasks for many cores, few enough that the partial sums stay small. */
enum { DENSE_TASKS = 64, MAX_GROUPS = 32 };

static int at_least_one(size_t value)
{
    return value > 1 ? (int)value : 1;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A layer with more than a small product in a single row takes blocks as large as the cache. */
int dlk_conv2d_block_rows(const dlk_conv2d *s)
{
    size_t row_floats = (size_t)dlk_conv2d_ow(s) * (size_t)dlk_conv2d_patch_row(s);
    size_t fitting = BLOCK_FLOATS / (row_floats * (size_t)dlk_conv2d_strip_rows(s, 1));
    size_t small = DLK_SMALL_PRODUCT / (row_floats * (size_t)s->oc);
    size_t rows = small ? smaller(small, fitting) : fitting;
    return at_least_one(smaller(rows, (size_t)dlk_conv2d_oh(s)));
}

size_t dlk_conv2d_scratch(const dlk_conv2d *s)
{
    size_t rows = (size_t)dlk_conv2d_strip_rows(s, dlk_conv2d_block_rows(s));
    size_t row_floats = (size_t)dlk_conv2d_ow(s) * (size_t)dlk_conv2d_patch_row(s);
    return dlb_whole_lines(rows * row_floats + dlk_conv2d_weights(s));
}

int dlk_grad_groups(int n)
{
    return n < MAX_GROUPS ? n : MAX_GROUPS;
}

void dlk_grad_group(int n, int g, int *first, int *end)
{
    int groups = dlk_grad_groups(n);
    *first = (int)((long long)n * g / groups);
    *end = (int)((long long)n * (g + 1) / groups);
}

void dlk_conv2d_sum_groups(dlk_team *team, const dlk_conv2d *s, const float *partial,
                           float *dweights, float *dbias)
{
    int groups = dlk_grad_groups(s->n);
    size_t stride = dlk_conv2d_gradient(s), weights = dlk_conv2d_weights(s);
    dlk_sum_rows(team, groups, stride, partial, weights, dweights);
    dlk_sum_rows(team, groups, stride, partial + weights, (size_t)s->oc, dbias);
}

static size_t most_slices(const dlk_dense *s)
{
    return (size_t)dlk_pieces((size_t)s->in, DLK_DENSE_SLICE);
}

int dlk_dense_slices(const dlk_dense *s)
{
    int rows = dlk_pieces((size_t)s->n, DLK_DENSE_TILE);
    int columns = dlk_pieces((size_t)s->out, DLK_DENSE_TILE);
    size_t tiles = (size_t)rows * (size_t)columns;
    return at_least_one(smaller(most_slices(s), DENSE_TASKS / tiles));
}

/* What simd/ knows of dy, or of its transpose, cut at least as coarsely as this in both directions,
 * and once more between halves. */
static size_t dense_factors(const dlk_dense *s)
{
    size_t rows = (size_t)dlk_pieces((size_t)s->n, DLK_DENSE_LEAST_TILE) + 1;
    size_t columns = (size_t)dlk_pieces((size_t)s->out, DLK_DENSE_LEAST_TILE);
    return rows * columns * DLK_DENSE_FACTORS;
}

size_t dlk_dense_scratch(void)
{
    return DLK_DENSE_BLOCK + 2 * DLK_DENSE_BLOCK_SUMS;
}

/* The sums of one slice or more; or dy transposed, and what simd/ knows of it. */
size_t dlk_dense_shared(const dlk_dense *s)
{
    size_t out = (size_t)dlk_pieces((size_t)s->out, DLK_DENSE_TILE) * DLK_DENSE_TILE;
    size_t slice = (size_t)s->n * out;
    size_t slices =
        smaller(most_slices(s) * slice, (size_t)DENSE_TASKS * DLK_DENSE_TILE * DLK_DENSE_TILE);
    return dlb_whole_lines((slices > slice ? slices : slice) + dense_factors(s));
}
