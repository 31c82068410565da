#include "simd/narrow.h"

#include "loops.h"
#include "shapes.h"
#include "simd/squares.h"

/* Rows and vectors of a product that are summed up in registers: more rows of fewer vectors. */
enum { TILE_VECTORS = DLK_WIDTH == 16 ? 4 : 2, TILE_ROWS = 5, MORE_ROWS = 10 };
enum { TILE_COLUMNS = TILE_VECTORS * V, MOST_SUMS = TILE_ROWS * TILE_VECTORS };

/*
 * C[rows][columns] (+)= A · B, with A(r, k) = a[r * a_row + k * a_step], k < depth. Rows of B and C
 * follow each other, so vectors may end in the next one: they are loaded and stored in order, and
 * cut at the ends.
 */
typedef struct narrow_product {
    int rows, columns, depth;
    const float *a, *b, *b_end;
    ptrdiff_t a_row, a_step, b_row, c_row;
    float *c, *c_end;
    bool add; /* not: C is overwritten */
} narrow_product;

/* Add A(…, k) · B(k), with B's row in `b`. */
DLK_INLINE void add_step(const int rows, const int vectors, const narrow_product *p, const float *a,
                         const vec *b, vec *sum)
{
    DLK_UNROLL
    for (int r = 0; r < rows; r++) {
        vec factor = splat(a[r * p->a_row]);
        DLK_UNROLL
        for (int v = 0; v < vectors; v++)
            sum[r * vectors + v] += factor * b[v];
    }
}

DLK_INLINE void add_steps(const int rows, const int vectors, const narrow_product *p,
                          const float *a, const float *from, vec *sum)
{
    int k = 0;
    for (; k < p->depth && p->b_end - from >= vectors * V; k++, a += p->a_step, from += p->b_row) {
        vec b[TILE_VECTORS];
        DLK_UNROLL
        for (int v = 0; v < vectors; v++)
            b[v] = load(from + v * V);
        add_step(rows, vectors, p, a, b, sum);
    }
    for (; k < p->depth; k++, a += p->a_step, from += p->b_row) {
        vec b[TILE_VECTORS];
        DLK_UNROLL
        for (int v = 0; v < vectors; v++)
            b[v] = load_before(from + v * V, p->b_end);
        add_step(rows, vectors, p, a, b, sum);
    }
}

/* Store a tile of C at `c`. Most tiles end before C does. */
DLK_INLINE void store_tile(const int rows, const int vectors, const narrow_product *p, float *c,
                           const vec *sum)
{
    bool whole = p->c_end - c >= (rows - 1) * p->c_row + vectors * V;
    DLK_UNROLL
    for (int r = 0; r < rows; r++, c += p->c_row) {
        DLK_UNROLL
        for (int v = 0; v < vectors; v++)
            if (whole)
                store(c + v * V, sum[r * vectors + v]);
            else
                store_before(c + v * V, p->c_end, sum[r * vectors + v]);
    }
}

/* The tile of C from row `row` and column `column` on. */
DLK_INLINE void multiply_tile(const int rows, const int vectors, const narrow_product *p, int row,
                              int column)
{
    vec sum[MOST_SUMS];
    float *c = p->c + row * p->c_row + column;
    DLK_UNROLL
    for (int r = 0; r < rows; r++) {
        DLK_UNROLL
        for (int v = 0; v < vectors; v++)
            sum[r * vectors + v] = p->add ? load(c + r * p->c_row + v * V) : (vec){0};
    }
    add_steps(rows, vectors, p, p->a + row * p->a_row, p->b + column, sum);
    store_tile(rows, vectors, p, c, sum);
}

_Static_assert(TILE_ROWS == 5, "a case for every number of rows that may be left");

DLK_INLINE void multiply_columns(const int vectors, const narrow_product *p, int column)
{
    int row = 0;
    for (; MORE_ROWS * vectors <= MOST_SUMS && row + MORE_ROWS <= p->rows; row += MORE_ROWS)
        multiply_tile(MORE_ROWS, vectors, p, row, column);
    for (; row + TILE_ROWS <= p->rows; row += TILE_ROWS)
        multiply_tile(TILE_ROWS, vectors, p, row, column);
    switch (p->rows - row) {
    case 4:
        multiply_tile(4, vectors, p, row, column);
        break;
    case 3:
        multiply_tile(3, vectors, p, row, column);
        break;
    case 2:
        multiply_tile(2, vectors, p, row, column);
        break;
    case 1:
        multiply_tile(1, vectors, p, row, column);
        break;
    default:
        break;
    }
}

/* From the last columns to the first: their last vector may end in the next row. */
static void multiply(const narrow_product *p)
{
    int column = (p->columns - 1) / TILE_COLUMNS * TILE_COLUMNS;
    switch (vectors_of(p->columns - column)) {
    case 1:
        multiply_columns(1, p, column);
        break;
    case 2:
        multiply_columns(2, p, column);
        break;
#if DLK_WIDTH == 16
    case 3:
        multiply_columns(3, p, column);
        break;
#endif
    default:
        multiply_columns(TILE_VECTORS, p, column);
        break;
    }
    while ((column -= TILE_COLUMNS) >= 0)
        multiply_columns(TILE_VECTORS, p, column);
}

/* ---- Transposing ---- */

/* Nothing is read from `end` on. */
DLK_INLINE void load_columns_before(const float *from, size_t row, const float *end, vec column[V])
{
    if (end - from >= (V - 1) * (ptrdiff_t)row + V) {
        load_columns(from, row, column);
        return;
    }
    DLK_UNROLL
    for (int r = 0; r < V; r++, from += row)
        column[r] = load_before(from, end);
    transpose(column);
}

/* to[c][r] = from[r][c], in whole squares for which `to` has room. */
static void turn(int rows, int columns, const float *from, size_t from_row, const float *end,
                 float *to, size_t to_row)
{
    for (int r = 0; r < rows; r += V)
        for (int c = 0; c < columns; c += V) {
            vec column[V];
            load_columns_before(from + (size_t)r * from_row + c, from_row, end, column);
            DLK_UNROLL
            for (int i = 0; i < V; i++)
                store(to + (size_t)(c + i) * to_row + r, column[i]);
        }
}

/* to[r][j] = from[j][r]. Vectors that end in the next row of `to` are stored in order. */
static void turn_back(int rows, int columns, const float *from, size_t from_row, float *to)
{
    const float *end = to + (size_t)rows * (size_t)columns;
    int vectors = vectors_of(columns);
    for (int r = 0; r < rows; r += V) {
        vec column[NARROW / V][V];
        for (int v = 0; v < vectors; v++)
            load_columns(from + (size_t)(v * V) * from_row + r, from_row, column[v]);
        for (int i = 0; i < V; i++)
            for (int v = 0; v < vectors; v++)
                store_before(to + (r + i) * columns + v * V, end, column[v][i]);
    }
}

/* ---- The three passes ---- */

/* Images of a task; images and inputs that are transposed at a time. */
enum { TASK_IMAGES = 32, PIECE = 64 };

typedef struct narrow_job {
    dlk_team *team;
    const dlk_dense *s;
    const float *x, *dy, *weights, *bias;
    float *out;           /* y, dx or dweights */
    int images_of_a_task; /* forward and data */
} narrow_job;

static void share_images(narrow_job *job, dlk_task_fn *fn)
{
    int images = job->s->n;
    job->images_of_a_task = is_small(job->s) ? images : TASK_IMAGES;
    dlk_parallel(job->team, dlk_pieces((size_t)images, (size_t)job->images_of_a_task), fn, job);
}

static dlk_range images_of(const narrow_job *job, int task)
{
    return dlk_piece((size_t)job->s->n, (size_t)job->images_of_a_task, task);
}

_Static_assert(PIECE *(PIECE + NARROW) <= DLK_DENSE_BLOCK, "room for pieces of x and y");

/* yᵀ[out][images] = bias + weightsᵀ · xᵀ, images in lanes. */
static void forward_piece(const narrow_job *job, size_t first, int images, float *scratch)
{
    const dlk_dense *s = job->s;
    float *turned_x = scratch, *turned_y = scratch + PIECE * PIECE;
    const float *x = job->x + first * (size_t)s->in;
    narrow_product p = {.rows = s->out,
                        .columns = images,
                        .a_row = 1,
                        .a_step = s->out,
                        .b = turned_x,
                        .b_end = turned_x + PIECE * PIECE,
                        .b_row = PIECE,
                        .c = turned_y,
                        .c_end = turned_y + NARROW * PIECE,
                        .c_row = PIECE,
                        .add = true};
    for (int j = 0; j < s->out; j++)
        for (int i = 0; i < PIECE; i++)
            turned_y[j * PIECE + i] = job->bias[j];
    for (int k = 0; k < s->in; k += PIECE) {
        p.depth = s->in - k < PIECE ? s->in - k : PIECE;
        p.a = job->weights + (size_t)k * (size_t)s->out;
        turn(images, p.depth, x + k, (size_t)s->in, job->x + (size_t)s->n * (size_t)s->in, turned_x,
             PIECE);
        multiply(&p);
    }
    turn_back(images, s->out, turned_y, PIECE, job->out + first * (size_t)s->out);
}

static void forward_task(void *arg, int task, int thread)
{
    const narrow_job *job = arg;
    dlk_range images = images_of(job, task);
    for (size_t first = images.first; first < images.end; first += PIECE) {
        size_t left = images.end - first;
        forward_piece(job, first, left < PIECE ? (int)left : PIECE, dlk_scratch(job->team, thread));
    }
}

void DLK_SIMD(narrow_forward)(dlk_team *team, const dlk_dense *s, const float *x,
                              const float *weights, const float *bias, float *y)
{
    narrow_job job = {.team = team, .s = s, .x = x, .weights = weights, .bias = bias, .out = y};
    share_images(&job, forward_task);
}

_Static_assert(NARROW *SHORT <= DLK_DENSE_BLOCK + DLK_DENSE_BLOCK_SUMS, "room for the weights");

/* dx[images][in] = dy · weightsᵀ, inputs in lanes. */
static void data_task(void *arg, int task, int thread)
{
    const narrow_job *job = arg;
    const dlk_dense *s = job->s;
    dlk_range images = images_of(job, task);
    size_t in = (size_t)s->in, out = (size_t)s->out;
    int width = vectors_of(s->in) * V;
    float *turned = dlk_scratch(job->team, thread); /* [NARROW][width] */
    narrow_product p = {.rows = (int)(images.end - images.first),
                        .columns = s->in,
                        .depth = s->out,
                        .a = job->dy + images.first * out,
                        .a_row = s->out,
                        .a_step = 1,
                        .b = turned,
                        .b_end = turned + out * (size_t)width,
                        .b_row = width,
                        .c = job->out + images.first * in,
                        .c_end = job->out + images.end * in,
                        .c_row = s->in};
    turn(s->in, s->out, job->weights, out, job->weights + in * out, turned, (size_t)width);
    multiply(&p);
}

void DLK_SIMD(narrow_data)(dlk_team *team, const dlk_dense *s, const float *dy,
                           const float *weights, float *dx)
{
    narrow_job job = {.team = team, .s = s, .dy = dy, .weights = weights, .out = dx};
    share_images(&job, data_task);
}

_Static_assert(2 * NARROW * PIECE <= DLK_DENSE_BLOCK, "room for the sums of both halves");

/* dweightsᵀ[out][inputs] = dyᵀ · x of some images, inputs in lanes; up to PIECE of them, behind
 * which nothing is written. */
static void sum_images(const narrow_job *job, dlk_range images, dlk_range inputs, float *sums)
{
    const dlk_dense *s = job->s;
    narrow_product p = {.rows = s->out,
                        .columns = (int)(inputs.end - inputs.first),
                        .depth = (int)(images.end - images.first),
                        .a = job->dy + images.first * (size_t)s->out,
                        .a_row = 1,
                        .a_step = s->out,
                        .b = job->x + images.first * (size_t)s->in + inputs.first,
                        .b_end = job->x + (size_t)s->n * (size_t)s->in,
                        .b_row = s->in,
                        .c = sums,
                        .c_end = sums + NARROW * PIECE,
                        .c_row = PIECE};
    multiply(&p);
}

static void weights_task(void *arg, int task, int thread)
{
    const narrow_job *job = arg;
    const dlk_dense *s = job->s;
    dlk_range inputs = dlk_piece((size_t)s->in, PIECE, task);
    float *sums = dlk_scratch(job->team, thread), *others = sums + NARROW * PIECE;
    sum_images(job, dlk_dense_half(s, 0), inputs, sums);
    if (dlk_dense_halves(s) == 2) {
        sum_images(job, dlk_dense_half(s, 1), inputs, others);
        dlk_add((size_t)s->out * PIECE, others, sums);
    }
    turn_back((int)(inputs.end - inputs.first), s->out, sums, PIECE,
              job->out + inputs.first * (size_t)s->out);
}

void DLK_SIMD(narrow_weights)(dlk_team *team, const dlk_dense *s, const float *x, const float *dy,
                              float *dweights)
{
    narrow_job job = {.team = team, .s = s, .x = x, .dy = dy, .out = dweights};
    int tasks = dlk_pieces((size_t)s->in, PIECE);
    if (is_small(s))
        dlk_alone(team, tasks, weights_task, &job);
    else
        dlk_parallel(team, tasks, weights_task, &job);
}
