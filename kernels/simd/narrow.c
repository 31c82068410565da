#include "simd/narrow.h"

#include "loops.h"
#include "shapes.h"
#include "simd/matrix.h"

/* Vectors that are as wide as a product, at most, and those that are sums, of all its rows. */
enum { MOST_VECTORS = 4, SUMS = DLK_WIDTH == 16 ? 16 : 8 };

_Static_assert(NARROW <= MOST_VECTORS * V, "a row of weights is one product wide");

/*
 * C[rows][columns] = start + A · B, with A(r, k) = a[r * a_row + k * a_step], k < depth. Rows of B
 * and C follow each other, so vectors may end in the next one: they are loaded and stored in
 * order, and cut at the ends.
 */
typedef struct narrow_product {
    int rows, columns, depth;
    const float *a, *b, *b_end;
    ptrdiff_t a_row, a_step, b_row, c_row;
    const float *start; /* [columns]; NULL: 0 */
    float *c, *c_end;
} narrow_product;

DLK_INLINE vec load_before(const float *from, const float *end)
{
    ptrdiff_t room = end - from;
    return room >= V ? load(from) : load_some(from, room > 0 ? (int)room : 0);
}

DLK_INLINE void store_before(float *to, const float *end, vec value)
{
    ptrdiff_t room = end - to;
    if (room >= V)
        store(to, value);
    else if (room > 0)
        store_some(to, value, (int)room);
}

/* Add A(…, k) · B(k), with B's row in `b`. */
DLK_INLINE void add_step(const int rows, const int vectors, const narrow_product *p, const float *a,
                         const vec *b, vec *sum)
{
    DLK_UNROLL
    for (int i = 0; i < rows * vectors; i++)
        sum[i] += splat(a[i / vectors * p->a_row]) * b[i % vectors];
}

DLK_INLINE void product_rows(const int rows, const int vectors, const narrow_product *p, int first)
{
    vec sum[SUMS], b[MOST_VECTORS];
    const float *a = p->a + first * p->a_row, *from = p->b;
    int k = 0;
    DLK_UNROLL
    for (int i = 0; i < rows * vectors; i++) {
        int column = i % vectors * V;
        sum[i] = p->start ? load_before(p->start + column, p->start + p->columns) : (vec){0};
    }
    for (; k < p->depth && p->b_end - from >= vectors * V; k++, a += p->a_step, from += p->b_row) {
        DLK_UNROLL
        for (int v = 0; v < vectors; v++)
            b[v] = load(from + v * V);
        add_step(rows, vectors, p, a, b, sum);
    }
    for (; k < p->depth; k++, a += p->a_step, from += p->b_row) {
        DLK_UNROLL
        for (int v = 0; v < vectors; v++)
            b[v] = load_before(from + v * V, p->b_end);
        add_step(rows, vectors, p, a, b, sum);
    }
    DLK_UNROLL
    for (int i = 0; i < rows * vectors; i++)
        store_before(p->c + (first + i / vectors) * p->c_row + i % vectors * V, p->c_end, sum[i]);
}

DLK_INLINE void product_of(const int vectors, const narrow_product *p)
{
    int row = 0;
    for (; row + SUMS / vectors <= p->rows; row += SUMS / vectors)
        product_rows(SUMS / vectors, vectors, p, row);
    for (; row < p->rows; row++)
        product_rows(1, vectors, p, row);
}

static void multiply(const narrow_product *p)
{
    switch (vectors_of(p->columns)) {
    case 1:
        product_of(1, p);
        break;
    case 2:
        product_of(2, p);
        break;
    case 3:
        product_of(3, p);
        break;
    default:
        product_of(4, p);
        break;
    }
}

/* ---- The three passes ---- */

enum { TASK_ROWS = 16 };

_Static_assert(TASK_ROWS % SUMS == 0, "a task fills its registers");

typedef struct narrow_job {
    dlk_team *team;
    const dlk_dense *s;
    const float *x, *dy, *weights, *bias;
    float *out;         /* y, dx or dweights */
    int rows_of_a_task; /* of out */
} narrow_job;

static void share_rows(narrow_job *job, int rows, dlk_task_fn *fn)
{
    job->rows_of_a_task = is_small(job->s) ? rows : TASK_ROWS;
    dlk_parallel(job->team, dlk_pieces((size_t)rows, (size_t)job->rows_of_a_task), fn, job);
}

static dlk_range rows_of(const narrow_job *job, int rows, int task)
{
    return dlk_piece((size_t)rows, (size_t)job->rows_of_a_task, task);
}

static void forward_task(void *arg, int task, int thread)
{
    (void)thread;
    const narrow_job *job = arg;
    const dlk_dense *s = job->s;
    dlk_range images = rows_of(job, s->n, task);
    size_t in = (size_t)s->in, out = (size_t)s->out;
    narrow_product p = {.rows = (int)(images.end - images.first),
                        .columns = s->out,
                        .depth = s->in,
                        .a = job->x + images.first * in,
                        .a_row = s->in,
                        .a_step = 1,
                        .b = job->weights,
                        .b_end = job->weights + in * out,
                        .b_row = s->out,
                        .start = job->bias,
                        .c = job->out + images.first * out,
                        .c_end = job->out + images.end * out,
                        .c_row = s->out};
    multiply(&p);
}

void DLK_SIMD(narrow_forward)(dlk_team *team, const dlk_dense *s, const float *x,
                              const float *weights, const float *bias, float *y)
{
    narrow_job job = {.team = team, .s = s, .x = x, .weights = weights, .bias = bias, .out = y};
    share_rows(&job, s->n, forward_task);
}

_Static_assert(NARROW *SHORT <= DLK_DENSE_BLOCK + DLK_DENSE_BLOCK_SUMS, "room for the weights");

/* From the last inputs to the first: their last vector may end in the next image. */
static void data_task(void *arg, int task, int thread)
{
    enum { WIDTH = MOST_VECTORS * V };
    const narrow_job *job = arg;
    const dlk_dense *s = job->s;
    dlk_range images = rows_of(job, s->n, task);
    size_t in = (size_t)s->in, out = (size_t)s->out;
    float *turned = dlk_scratch(job->team, thread); /* [out][SHORT] */
    narrow_product p = {.rows = (int)(images.end - images.first),
                        .depth = s->out,
                        .a = job->dy + images.first * out,
                        .a_row = s->out,
                        .a_step = 1,
                        .b_end = turned + out * SHORT,
                        .b_row = SHORT,
                        .c_end = job->out + images.end * in,
                        .c_row = s->in};
    transpose_matrix(s->in, s->out, job->weights, out, turned, SHORT);
    for (int first = (s->in - 1) / WIDTH * WIDTH, end = s->in; end > 0;
         end = first, first -= WIDTH) {
        p.columns = end - first;
        p.b = turned + first;
        p.c = job->out + images.first * in + first;
        multiply(&p);
    }
}

void DLK_SIMD(narrow_data)(dlk_team *team, const dlk_dense *s, const float *dy,
                           const float *weights, float *dx)
{
    narrow_job job = {.team = team, .s = s, .dy = dy, .weights = weights, .out = dx};
    share_rows(&job, s->n, data_task);
}

static void weights_task(void *arg, int task, int thread)
{
    (void)thread;
    const narrow_job *job = arg;
    const dlk_dense *s = job->s;
    dlk_range inputs = rows_of(job, s->in, task);
    size_t out = (size_t)s->out;
    narrow_product p = {.rows = (int)(inputs.end - inputs.first),
                        .columns = s->out,
                        .depth = s->n,
                        .a = job->x + inputs.first,
                        .a_row = 1,
                        .a_step = s->in,
                        .b = job->dy,
                        .b_end = job->dy + (size_t)s->n * out,
                        .b_row = s->out,
                        .c = job->out + inputs.first * out,
                        .c_end = job->out + inputs.end * out,
                        .c_row = s->out};
    multiply(&p);
}

void DLK_SIMD(narrow_weights)(dlk_team *team, const dlk_dense *s, const float *x, const float *dy,
                              float *dweights)
{
    narrow_job job = {.team = team, .s = s, .x = x, .dy = dy, .out = dweights};
    share_rows(&job, s->in, weights_task);
}
