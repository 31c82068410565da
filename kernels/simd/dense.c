/*
 * The dense layer as products of a matrix with many zeros and blocks of a dense one (product.h).
 *
 *     forward   y[n][out] = x · weights           S = x: zeros of ReLU, pool and dropout
 *     data      dx[n][in] = dy · weightsᵀ         S = dy: zeros of ReLU and dropout
 *     weights   dweightsᵀ[out][in] = dyᵀ · x      S = dyᵀ
 *
 * The scratch of a thread holds a block of D and a tile of C, or one of each half of the images.
 * The team's holds what all threads share: forward's sums, one for each slice of the inputs, or dyᵀ
 * and what is found in it.
 */
#include <string.h>

#include "base/mem.h"
#include "dlk/lines.h"
#include "loops.h"
#include "shapes.h"
#include "simd/matrix.h"
#include "simd/narrow.h"
#include "simd/product.h"
#include "simd/simd.h"

/* A task has TASK_WORK multiply-adds if it can, and about LEAST_TILE to TILE rows of S. */
enum {
    TILE = DLK_DENSE_TILE,
    LEAST_TILE = DLK_DENSE_LEAST_TILE,
    TASK_WORK = 256 * 1024,
    ENOUGH_TASKS = 16,
    BIAS_VECTORS = 4 /* columns of dbias that are summed up together */
};

_Static_assert(DEPTH *BLOCK_COLUMNS <= DLK_DENSE_BLOCK, "room for a block");
_Static_assert(TILE *BLOCK_COLUMNS <= DLK_DENSE_BLOCK_SUMS, "room for a tile of C");
_Static_assert(sizeof(factors) <= DLK_DENSE_FACTORS * sizeof(float), "room for what is found in S");

typedef struct dense_job {
    dlk_team *team;
    const dlk_dense *s;
    const float *x, *weights, *bias;
    float *out;        /* y, dx or dweights */
    float *sums;       /* forward: [slice][n][stride] */
    factors *found[2]; /* backward, of each half: [tile of rows of S][piece of its depth] */
    size_t stride;
    int slices, tile; /* of the inputs; rows of S a task */
} dense_job;

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int pieces(int count, int piece)
{
    return dlk_pieces((size_t)count, (size_t)piece);
}

static float *block_of(const dense_job *job, int thread)
{
    return dlk_scratch(job->team, thread);
}

static float *sums_of(const dense_job *job, int thread)
{
    return dlk_scratch(job->team, thread) + DLK_DENSE_BLOCK;
}

/*
 * Rows of S of a task, about equally many in each. Without cutting them there are `cuts` tasks, and
 * a row takes `work` multiply-adds in each.
 */
static int rows_a_task(int rows, int cuts, long long work)
{
    int tiles = pieces(ENOUGH_TASKS, cuts);
    long long least = (rows + tiles - 1) / tiles;
    if (least < TASK_WORK / work)
        least = TASK_WORK / work;
    if (least < LEAST_TILE)
        least = LEAST_TILE;
    return pieces(rows, pieces(rows, least < TILE ? (int)least : TILE));
}

/* Whether rows can be used where they are: whole vectors, none across two cache lines. */
static bool is_packed(const float *from, size_t stride, int columns)
{
    return stride == (size_t)block_vectors(columns) * V && (uintptr_t)from % sizeof(vec) == 0;
}

/* Becomes a NaN where it meets something that is not finite. */
DLK_INLINE vec note_infinite(vec noted, vec value)
{
    return noted + value * 0.0F;
}

DLK_INLINE bool none_noted(int count, const vec *noted)
{
    vec all = {0};
    for (int i = 0; i < count; i++)
        all += noted[i];
    return mask_bits(all != all) == 0;
}

/* Several are noted at a time, so that one addition need not wait for the other. */
static block block_in(const float *rows, int depth, int vectors)
{
    enum { SUMS = 4 };
    vec noted[SUMS] = {{0}};
    int i = 0, count = depth * vectors;
    for (; i + SUMS <= count; i += SUMS) {
        DLK_UNROLL
        for (int k = 0; k < SUMS; k++)
            noted[k] = note_infinite(noted[k], load(rows + (i + k) * V));
    }
    for (; i < count; i++)
        noted[0] = note_infinite(noted[0], load(rows + i * V));
    return (block){depth, vectors, rows, none_noted(SUMS, noted)};
}

/* The first `count` elements, zeros behind them. `more`: all V may be read. */
DLK_INLINE vec load_rest(const float *from, int count, bool more)
{
    return more ? choose(lane_numbers() < count, load(from), (vec){0}) : load_some(from, count);
}

/* Rows of so many columns to where each has so many vectors, zeros behind them. Behind a row there
 * is another. */
DLK_INLINE bool copy_vectors(const float *from, size_t stride, int depth, int columns, int vectors,
                             float *to)
{
    vec noted[BLOCK_VECTORS] = {{0}};
    for (int k = 1; k <= depth; k++, from += stride, to += vectors * V) {
        bool more = k < depth && stride >= (size_t)(V - columns % V);
        for (int v = 0; v < vectors; v++) {
            int count = columns - v * V;
            vec value = {0};
            if (count >= V)
                value = load(from + v * V);
            else if (count > 0)
                value = load_rest(from + v * V, count, more);
            noted[v] = note_infinite(noted[v], value);
            store(to + v * V, value);
        }
    }
    return none_noted(vectors, noted);
}

/* A loop of its own for each number of vectors that block_vectors knows. */
static bool copy_rows(const float *from, size_t stride, int depth, int columns, int vectors,
                      float *to)
{
    switch (vectors) {
    case 1:
        return copy_vectors(from, stride, depth, columns, 1, to);
    case 2:
        return copy_vectors(from, stride, depth, columns, 2, to);
    case 3:
        return copy_vectors(from, stride, depth, columns, 3, to);
    case 4:
        return copy_vectors(from, stride, depth, columns, 4, to);
    case 6:
        return copy_vectors(from, stride, depth, columns, 6, to);
    default:
        return copy_vectors(from, stride, depth, columns, BLOCK_VECTORS, to);
    }
}

/* Columns [0, columns) of `depth` rows. */
static block pack(const float *from, size_t stride, int depth, int columns, float *rows)
{
    int vectors = block_vectors(columns);
    if (is_packed(from, stride, columns))
        return block_in(from, depth, vectors);
    bool finite = copy_rows(from, stride, depth, columns, vectors, rows);
    return (block){depth, vectors, rows, finite};
}

/* The same of a matrix that is stored as its transpose [columns][depth]. */
static block pack_transposed(const float *from, size_t stride, int depth, int columns, float *rows)
{
    int vectors = block_vectors(columns);
    size_t width = (size_t)vectors * V;
    transpose_matrix(columns, depth, from, stride, rows, width);
    for (int k = 0; k < depth; k++)
        memset(rows + (size_t)k * width + columns, 0, (width - (size_t)columns) * sizeof *rows);
    return block_in(rows, depth, vectors);
}

/* ---- Forward ---- */

/* Floats from one row of the sums to the next: whole blocks, or one as wide as it must be. */
static size_t padded(int out)
{
    if (out <= BLOCK_COLUMNS)
        return (size_t)block_vectors(out) * V;
    return (size_t)pieces(out, BLOCK_COLUMNS) * BLOCK_COLUMNS;
}

/* Inputs whose zeros are found at a time. */
enum { AT_A_TIME = 8 * DEPTH };

_Static_assert(AT_A_TIME / DEPTH * DLK_DENSE_FACTORS <= DLK_DENSE_BLOCK_SUMS, "room for them");

/* Slices are cut at whole blocks. */
static dlk_range slice_of(const dlk_dense *s, int slices, int slice)
{
    long long blocks = pieces(s->in, DEPTH);
    int first = (int)(blocks * slice / slices), end = (int)(blocks * (slice + 1) / slices);
    return (dlk_range){(size_t)first * DEPTH, (size_t)smaller(end * DEPTH, s->in)};
}

/* y = bias + the slices' sums, in order. */
static void add_slices(const dense_job *job, int image)
{
    size_t out = (size_t)job->s->out, slice = (size_t)job->s->n * job->stride;
    const float *sums = job->sums + (size_t)image * job->stride;
    float *y = job->out + (size_t)image * out;
    for (size_t j = 0; j < out; j++)
        y[j] = job->bias[j] + sums[j];
    for (int i = 1; i < job->slices; i++)
        dlk_add(out, sums + (size_t)i * slice, y);
}

static void add_slices_tile(void *arg, int tile, int thread)
{
    (void)thread;
    const dense_job *job = arg;
    dlk_range images = dlk_piece((size_t)job->s->n, V, tile);
    for (size_t image = images.first; image < images.end; image++)
        add_slices(job, (int)image);
}

/* Add the products of some inputs, at most AT_A_TIME, to a tile of the sums. */
static void add_inputs(const dense_job *job, dlk_range images, dlk_range inputs, bool fresh,
                       int thread, float *sums)
{
    const dlk_dense *s = job->s;
    size_t in = (size_t)s->in, out = (size_t)s->out;
    factors *found = (factors *)sums_of(job, thread);
    DLK_SIMD(find_factors)
    (job->x + images.first * in + inputs.first, in, (int)(images.end - images.first),
     (int)(inputs.end - inputs.first), found);
    for (int column = 0; column < s->out; column += BLOCK_COLUMNS)
        for (size_t i = inputs.first; i < inputs.end; i += DEPTH) {
            const factors *x = found + (i - inputs.first) / DEPTH;
            block d = pack(job->weights + i * out + column, out, x->depth,
                           smaller(BLOCK_COLUMNS, s->out - column), block_of(job, thread));
            DLK_SIMD(add_product)(x, &d, fresh && i == inputs.first, sums + column, job->stride);
        }
}

static void forward_task(void *arg, int task, int thread)
{
    const dense_job *job = arg;
    const dlk_dense *s = job->s;
    int slice = task % job->slices;
    dlk_range images = dlk_piece((size_t)s->n, (size_t)job->tile, task / job->slices);
    dlk_range inputs = slice_of(s, job->slices, slice);
    float *sums = job->sums + ((size_t)slice * (size_t)s->n + images.first) * job->stride;
    for (size_t i = inputs.first; i < inputs.end; i += AT_A_TIME) {
        size_t end = i + AT_A_TIME < inputs.end ? i + AT_A_TIME : inputs.end;
        add_inputs(job, images, (dlk_range){i, end}, i == inputs.first, thread, sums);
    }
    for (size_t image = images.first; job->slices == 1 && image < images.end; image++)
        add_slices(job, (int)image);
}

void DLK_SIMD(dense_forward)(dlk_team *team, const dlk_dense *s, const float *x,
                             const float *weights, const float *bias, float *y)
{
    if (is_narrow(s)) {
        DLK_SIMD(narrow_forward)(team, s, x, weights, bias, y);
        return;
    }
    dense_job job = {.team = team,
                     .s = s,
                     .x = x,
                     .weights = weights,
                     .bias = bias,
                     .out = y,
                     .sums = team->shared,
                     .stride = padded(s->out),
                     .slices = dlk_dense_slices(s)};
    job.tile = rows_a_task(s->n, job.slices, (long long)s->in * s->out / job.slices + 1);
    dlk_parallel(team, job.slices * pieces(s->n, job.tile), forward_task, &job);
    if (job.slices > 1)
        dlk_parallel(team, pieces(s->n, V), add_slices_tile, &job);
}

/* ---- Backward: data ---- */

/* What backward needs to know of S, which is the same for all blocks of D. Returns what is behind.
 */
static factors *find_all(const dense_job *job, const float *s, size_t stride, int rows, int depth,
                         factors *found)
{
    for (int r = 0; r < rows; r += job->tile, found += pieces(depth, DEPTH))
        DLK_SIMD(find_factors)
    (s + (size_t)r * stride, stride, smaller(job->tile, rows - r), depth, found);
    return found;
}

/* Columns [first, first + columns) of dx of a tile of images, in `dx` or in a buffer. */
static void data_block(const dense_job *job, int tile, int first, int columns, float *buffer,
                       float *dx, size_t stride)
{
    const dlk_dense *s = job->s;
    size_t out = (size_t)s->out;
    const factors *found = job->found[0] + tile * pieces(s->out, DEPTH);
    for (int j = 0; j < s->out; j += DEPTH) {
        block d = pack_transposed(job->weights + (size_t)first * out + j, out,
                                  smaller(DEPTH, s->out - j), columns, buffer);
        DLK_SIMD(add_product)(found++, &d, j == 0, dx, stride);
    }
}

static void data_task(void *arg, int task, int thread)
{
    const dense_job *job = arg;
    const dlk_dense *s = job->s;
    int blocks = pieces(s->in, BLOCK_COLUMNS), first = task % blocks * BLOCK_COLUMNS;
    int columns = smaller(BLOCK_COLUMNS, s->in - first);
    dlk_range images = dlk_piece((size_t)s->n, (size_t)job->tile, task / blocks);
    float *dx = job->out + images.first * (size_t)s->in + first;
    float *buffer = block_of(job, thread), *sums = sums_of(job, thread);
    if (columns == BLOCK_COLUMNS) {
        data_block(job, task / blocks, first, columns, buffer, dx, (size_t)s->in);
        return;
    }
    size_t width = (size_t)block_vectors(columns) * V;
    data_block(job, task / blocks, first, columns, buffer, sums, width);
    for (size_t i = images.first; i < images.end; i++, sums += width, dx += s->in)
        memcpy(dx, sums, (size_t)columns * sizeof *dx);
}

void DLK_SIMD(dense_backward_data)(dlk_team *team, const dlk_dense *s, const float *dy,
                                   const float *weights, float *dx)
{
    if (is_narrow(s)) {
        DLK_SIMD(narrow_data)(team, s, dy, weights, dx);
        return;
    }
    dense_job job = {
        .team = team, .s = s, .weights = weights, .out = dx, .found = {(factors *)team->shared}};
    int blocks = pieces(s->in, BLOCK_COLUMNS);
    job.tile = rows_a_task(s->n, blocks, (long long)s->out * smaller(BLOCK_COLUMNS, s->in));
    find_all(&job, dy, (size_t)s->out, s->n, s->out, job.found[0]);
    dlk_parallel(team, blocks * pieces(s->n, job.tile), data_task, &job);
}

/* ---- Backward: weights ---- */

/* Columns of a block of x: fewer where there would be too few blocks to share. */
static int columns_a_block(const dlk_dense *s)
{
    int columns = BLOCK_COLUMNS;
    return pieces(s->in, columns) < ENOUGH_TASKS / 2 ? columns / 2 : columns;
}

/* Columns [first, first + columns) of dweightsᵀ, of a tile of its rows and half of the images. */
static void sum_half(const dense_job *job, int half, int first, int columns, int tile, int thread,
                     float *sums)
{
    const dlk_dense *s = job->s;
    dlk_range images = dlk_dense_half(s, half);
    int count = (int)(images.end - images.first);
    const factors *found = job->found[half] + tile * pieces(count, DEPTH);
    for (int i = 0; i < count; i += DEPTH) {
        const float *x = job->x + (images.first + (size_t)i) * (size_t)s->in + first;
        block d = pack(x, (size_t)s->in, smaller(DEPTH, count - i), columns, block_of(job, thread));
        DLK_SIMD(add_product)(found++, &d, i == 0, sums, (size_t)d.vectors * V);
    }
}

/* Rows [first, first + columns) of dweights, in a tile of its columns. */
static void weights_block(const dense_job *job, int first, int columns, int tile, int thread)
{
    size_t out = (size_t)job->s->out, width = (size_t)block_vectors(columns) * V;
    int rows = smaller(job->tile, job->s->out - tile * job->tile);
    float *sums = sums_of(job, thread), *others = sums + DLK_DENSE_BLOCK_SUMS;
    sum_half(job, 0, first, columns, tile, thread, sums);
    if (dlk_dense_halves(job->s) == 2) {
        sum_half(job, 1, first, columns, tile, thread, others);
        dlk_add((size_t)rows * width, others, sums);
    }
    transpose_matrix(rows, columns, sums, width, job->out + (size_t)first * out + tile * job->tile,
                     out);
}

/* In the order of dweights, so that a thread finds in its caches what it then updates. */
static void weights_task(void *arg, int task, int thread)
{
    const dense_job *job = arg;
    int tiles = pieces(job->s->out, job->tile), columns = columns_a_block(job->s);
    int first = task / tiles * columns;
    weights_block(job, first, smaller(columns, job->s->in - first), task % tiles, thread);
}

/* Of the weights' gradient: dy transposed, and what is to be known of both halves of it. */
static void find_halves(dense_job *job, const float *dy)
{
    const dlk_dense *s = job->s;
    size_t n = (size_t)s->n, out = (size_t)s->out;
    float *turned = job->team->shared;
    dlk_own(turned, n * out);
    transpose_matrix(s->n, s->out, dy, out, turned, n);
    factors *next = (factors *)(turned + dlb_whole_lines(n * out));
    for (int half = 0; half < dlk_dense_halves(s); half++) {
        dlk_range images = dlk_dense_half(s, half);
        job->found[half] = next;
        next =
            find_all(job, turned + images.first, n, s->out, (int)(images.end - images.first), next);
    }
}

static void product_weights(dlk_team *team, const dlk_dense *s, const float *x, const float *dy,
                            float *dweights)
{
    dense_job job = {.team = team, .s = s, .x = x, .out = dweights};
    int columns = columns_a_block(s), blocks = pieces(s->in, columns);
    job.tile = rows_a_task(s->out, blocks, (long long)s->n * smaller(columns, s->in));
    find_halves(&job, dy);
    int tasks = blocks * pieces(s->out, job.tile);
    if (is_small(s))
        dlk_alone(team, tasks, weights_task, &job);
    else
        dlk_parallel(team, tasks, weights_task, &job);
}

/* Add columns from `first` on of some images. Every second image is in a sum of its own, so that
 * one addition need not wait for the other. */
DLK_INLINE void add_images(const int vectors, const dlk_dense *s, const float *dy, dlk_range images,
                           int first, vec *sum)
{
    size_t out = (size_t)s->out;
    const float *row = dy + images.first * out + first, *end = dy + images.end * out;
    vec even[BIAS_VECTORS] = {{0}}, odd[BIAS_VECTORS] = {{0}};
    for (; row < end; row += 2 * out) {
        DLK_UNROLL
        for (int v = 0; v < vectors; v++) {
            even[v] += load_before(row + v * V, end);
            odd[v] += load_before(row + out + v * V, end);
        }
    }
    DLK_UNROLL
    for (int v = 0; v < vectors; v++)
        sum[v] += even[v] + odd[v];
}

DLK_INLINE void bias_columns(const int vectors, const dlk_dense *s, const float *dy, int first,
                             float *dbias)
{
    vec sum[BIAS_VECTORS] = {{0}};
    for (int half = 0; half < dlk_dense_halves(s); half++)
        add_images(vectors, s, dy, dlk_dense_half(s, half), first, sum);
    DLK_UNROLL
    for (int v = 0; v < vectors; v++)
        store_before(dbias + first + v * V, dbias + s->out, sum[v]);
}

static void bias_gradient(const dlk_dense *s, const float *dy, float *dbias)
{
    int first = 0;
    for (; first + BIAS_VECTORS * V <= s->out; first += BIAS_VECTORS * V)
        bias_columns(BIAS_VECTORS, s, dy, first, dbias);
    for (; first < s->out; first += V)
        bias_columns(1, s, dy, first, dbias);
}

void DLK_SIMD(dense_backward_weights)(dlk_team *team, const dlk_dense *s, const float *x,
                                      const float *dy, float *dweights, float *dbias)
{
    bias_gradient(s, dy, dbias);
    if (is_narrow(s))
        DLK_SIMD(narrow_weights)(team, s, x, dy, dweights);
    else
        product_weights(team, s, x, dy, dweights);
}
