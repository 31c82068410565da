/*
 * Backward of pooled stages, from the windows that a gradient passes alone.
 *
 * The patch of x under an output is kh rows of kw * c contiguous floats. The weight gradient of a
 * channel is the sum of its survivors' patches, each times its gradient; the data gradient adds
 * the channel's weights to the patch of dx. Both keep as much of a channel's weights as there are
 * registers for and go through the channel's list. A row of weights is padded to whole vectors;
 * what lies behind the patch is multiplied by zeros, or summed and never used.
 *
 * Layouts: prepared [oc][kh][row_floats], gradient the same and then dbias [oc].
 * Error: at most 2e-6 of the sum of the absolute products, for up to 1000 survivors a channel.
 */
#include "loops.h"
#include "simd/groups.h"
#include "simd/matrix.h"
#include "simd/pooled.h"
#include "simd/simd.h"
#include "simd/sparse_lists.h"
#include "simd/squares.h"

/* A block of registers: some rows of some vectors of a channel's weights. */
enum { MOST_ROWS = 5, MOST_VECTORS = 6 };

typedef struct block {
    const float *gradient; /* [count] */
    const int32_t *offset; /* [count] */
    int count;
    bool half;             /* a row of weights fills no more than half a vector */
    ptrdiff_t row_floats;  /* from a row of weights to the next */
    ptrdiff_t image_width; /* from a row of the image to the next, in floats */
} block;

static size_t row_floats(const dlk_stage *s)
{
    return (size_t)vectors_of(s->conv.kw * s->conv.c) * V;
}

static size_t channel_floats(const dlk_stage *s)
{
    return (size_t)s->conv.kh * row_floats(s);
}

static size_t weights_floats(const dlk_stage *s)
{
    return (size_t)s->conv.oc * channel_floats(s);
}

static block block_of(const dlk_stage *s, const survivors *l, int channel)
{
    int first = channel * l->pitch;
    return (block){.gradient = l->gradient + first,
                   .offset = l->offset + first,
                   .count = l->end[channel] - first,
                   .half = s->conv.kw * s->conv.c <= V / 2,
                   .row_floats = (ptrdiff_t)row_floats(s),
                   .image_width = (ptrdiff_t)s->conv.w * s->conv.c};
}

/* ---- Blocks of a constant size ---- */

/* Where vector i of a block lies, its rows being `stride` floats apart. */
DLK_INLINE ptrdiff_t place(int i, const int vectors, ptrdiff_t stride)
{
    return i / vectors * stride + i % vectors * V;
}

/* sum += the patch of x; `half`: rows are no longer than half a vector */
DLK_INLINE void add_patch(const int rows, const int vectors, const bool half, ptrdiff_t image_width,
                          float gradient, const float *patch, vec *sum)
{
    vec g = splat(gradient);
    DLK_UNROLL
    for (int i = 0; i < rows * vectors; i++) {
        const float *at = patch + place(i, vectors, image_width);
        sum[i] += g * (half ? load_half(at) : load(at));
    }
}

/* gradient += the survivors' patches of x */
DLK_INLINE void accumulate(const int rows, const int vectors, const bool half, const block *b,
                           const float *x, float *gradient)
{
    /* Small blocks would wait for their sums: they take two survivors at a time. */
    const int size = rows * vectors, pairs = 2 * size <= ACCUMULATORS;
    vec sum[ACCUMULATORS], other[ACCUMULATORS];
    DLK_UNROLL
    for (int i = 0; i < size; i++) {
        sum[i] = load(gradient + place(i, vectors, b->row_floats));
        other[i] = (vec){0};
    }
    const float *g = b->gradient, *end = g + b->count;
    const int32_t *at = b->offset;
    for (; pairs && g + 1 < end; g += 2, at += 2) {
        add_patch(rows, vectors, half, b->image_width, g[0], x + at[0], sum);
        add_patch(rows, vectors, half, b->image_width, g[1], x + at[1], other);
    }
    for (; g < end; g++, at++)
        add_patch(rows, vectors, half, b->image_width, *g, x + *at, sum);
    DLK_UNROLL
    for (int i = 0; i < size; i++)
        store(gradient + place(i, vectors, b->row_floats), pairs ? sum[i] + other[i] : sum[i]);
}

/* The survivors' patches of dx += weights */
DLK_INLINE void scatter(const int rows, const int vectors, const block *b, const float *weights,
                        float *dx)
{
    vec w[ACCUMULATORS];
    DLK_UNROLL
    for (int i = 0; i < rows * vectors; i++)
        w[i] = load(weights + place(i, vectors, b->row_floats));
    ptrdiff_t image_width = b->image_width;
    const float *gradient = b->gradient, *end = gradient + b->count;
    for (const int32_t *offset = b->offset; gradient < end; gradient++, offset++) {
        vec g = splat(*gradient);
        float *patch = dx + *offset;
        DLK_UNROLL
        for (int i = 0; i < rows * vectors; i++) {
            float *at = patch + place(i, vectors, image_width);
            store(at, load(at) + g * w[i]);
        }
    }
}

/*
 * What to do with a block, a constant wherever it is given. Rows of half a vector are read as
 * such: fewer of them straddle two cache lines.
 */
typedef enum task { ACCUMULATE, ACCUMULATE_HALF, SCATTER } task;

/* Blocks that have more vectors than there are registers are never asked for, nor compiled. */
DLK_INLINE void block_pass(const task t, const int rows, const int vectors, const block *b,
                           const float *from, float *to)
{
    if (rows * vectors > ACCUMULATORS)
        return;
    if (t == ACCUMULATE)
        accumulate(rows, vectors, false, b, from, to);
    else if (t == ACCUMULATE_HALF)
        accumulate(rows, 1, true, b, from, to);
    else
        scatter(rows, vectors, b, from, to);
}

DLK_INLINE void with_rows(const task t, const int rows, int vectors, const block *b,
                          const float *from, float *to)
{
    switch (vectors) {
    case 1:
        block_pass(t, rows, 1, b, from, to);
        break;
    case 2:
        block_pass(t, rows, 2, b, from, to);
        break;
    case 3:
        block_pass(t, rows, 3, b, from, to);
        break;
    case 4:
        block_pass(t, rows, 4, b, from, to);
        break;
    case 5:
        block_pass(t, rows, 5, b, from, to);
        break;
    case 6:
        block_pass(t, rows, 6, b, from, to);
        break;
    }
}

/* Pass a block whose size is known when it is compiled. */
DLK_INLINE void with_size(const task t, int rows, int vectors, const block *b, const float *from,
                          float *to)
{
    switch (rows) {
    case 1:
        with_rows(t, 1, vectors, b, from, to);
        break;
    case 2:
        with_rows(t, 2, vectors, b, from, to);
        break;
    case 3:
        with_rows(t, 3, vectors, b, from, to);
        break;
    case 4:
        with_rows(t, 4, vectors, b, from, to);
        break;
    case 5:
        with_rows(t, 5, vectors, b, from, to);
        break;
    }
}

static void accumulate_block(int rows, int vectors, const block *b, const float *x, float *gradient)
{
    if (b->half)
        with_size(ACCUMULATE_HALF, rows, 1, b, x, gradient);
    else
        with_size(ACCUMULATE, rows, vectors, b, x, gradient);
}

static void scatter_block(int rows, int vectors, const block *b, const float *weights, float *dx)
{
    with_size(SCATTER, rows, vectors, b, weights, dx);
}

typedef void block_fn(int rows, int vectors, const block *b, const float *from, float *to);

/* ---- A band ---- */

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* One channel, block by block; rows of `from` and `to` are so many floats apart. */
static void channel_pass(const dlk_stage *s, const block *b, block_fn *fn, const float *from,
                         ptrdiff_t from_row, float *to, ptrdiff_t to_row)
{
    int all_vectors = vectors_of(s->conv.kw * s->conv.c);
    int rows = least(s->conv.kh, MOST_ROWS);
    int vectors = least(least(all_vectors, MOST_VECTORS), ACCUMULATORS / rows);
    for (int row = 0; row < s->conv.kh; row += rows)
        for (int v = 0; v < all_vectors; v += vectors)
            fn(least(rows, s->conv.kh - row), least(vectors, all_vectors - v), b,
               from + row * from_row + v * V, to + row * to_row + v * V);
}

static void weight_gradient(const dlk_stage *s, const survivors *l, const dlk_stage_return *back)
{
    for (int channel = 0; channel < s->conv.oc; channel++) {
        block b = block_of(s, l, channel);
        if (b.count > 0)
            channel_pass(s, &b, accumulate_block, back->x, b.image_width,
                         back->gradient + (size_t)channel * channel_floats(s), b.row_floats);
    }
}

static void data_gradient(const dlk_stage *s, const survivors *l, const dlk_stage_return *back)
{
    for (int channel = 0; channel < s->conv.oc; channel++) {
        block b = block_of(s, l, channel);
        if (b.count > 0)
            channel_pass(s, &b, scatter_block, back->prepared + (size_t)channel * channel_floats(s),
                         b.row_floats, back->dx, b.image_width);
    }
}

/* Zero the rows of dx that the band [first, end) is the first to reach; the last, all the rest. */
static void start_band(const dlk_stage *s, int first, int end, float *dx)
{
    int from = first == 0 ? 0 : 2 * first + s->conv.kh - 1;
    int to = end == dlk_stage_oh(s) ? s->conv.h : 2 * end + s->conv.kh - 1;
    size_t width = (size_t)s->conv.w * (size_t)s->conv.c;
    memset(dx + (size_t)from * width, 0, (size_t)(to - from) * width * sizeof *dx);
}

static void run(const dlk_stage *s, const dlk_stage_return *back)
{
    survivors lists = survivors_at(s, back->scratch);
    int all = dlk_stage_oh(s), rows = band_rows(s);
    for (int row = 0; row < all; row += rows) {
        int end = least(row + rows, all);
        survivors_list(&lists, s, back, back->gradient + weights_floats(s), row, end);
        weight_gradient(s, &lists, back);
        if (back->dx) {
            start_band(s, row, end, back->dx);
            data_gradient(s, &lists, back);
        }
    }
}

/* ---- Layouts ---- */

static const char *misfit(const dlk_stage *s, bool data)
{
    (void)data;
    return pooled_misfit(s);
}

static size_t prepared_floats(const dlk_stage *s, bool data)
{
    return data ? weights_floats(s) : 0;
}

static size_t scratch_floats(const dlk_stage *s, bool data)
{
    (void)data;
    return survivors_floats(s);
}

static size_t gradient_floats(const dlk_stage *s)
{
    return weights_floats(s) + (size_t)s->conv.oc;
}

/* A part of weights or gradients: a row of the kernel, for up to `most` output channels. */
typedef struct kernel_row {
    int channels;
    size_t first, ky;
} kernel_row;

static int rows_of_parts(const dlk_stage *s, size_t most)
{
    return s->conv.kh * dlk_pieces((size_t)s->conv.oc, most);
}

static kernel_row row_of(const dlk_stage *s, size_t most, int part)
{
    int pieces = dlk_pieces((size_t)s->conv.oc, most);
    dlk_range channels = dlk_piece((size_t)s->conv.oc, most, part % pieces);
    return (kernel_row){(int)(channels.end - channels.first), channels.first,
                        (size_t)(part / pieces)};
}

static size_t row_length(const dlk_stage *s)
{
    return (size_t)s->conv.kw * (size_t)s->conv.c;
}

enum { PREPARED_CHANNELS = 2 * V };

static int parts(const dlk_stage *s, bool data)
{
    return data ? rows_of_parts(s, PREPARED_CHANNELS) : 0;
}

/* Rows are padded with zeros. */
static void prepare(const dlk_stage *s, int part, const float *weights, float *prepared)
{
    kernel_row r = row_of(s, PREPARED_CHANNELS, part);
    size_t oc = (size_t)s->conv.oc, row = row_length(s), padded = row_floats(s);
    float *to = prepared + r.first * channel_floats(s) + r.ky * padded;
    transpose_matrix((int)row, r.channels, weights + r.ky * row * oc + r.first, oc, to,
                     channel_floats(s));
    for (int i = 0; i < r.channels; i++, to += channel_floats(s))
        memset(to + row, 0, (padded - row) * sizeof *to);
}

static int finish_parts(const dlk_stage *s)
{
    return rows_of_parts(s, V);
}

/* The sums of V columns of up to V channels, turned. */
static void finish_square(const dlk_stage *s, const dlk_gradients *groups, int channels, size_t at,
                          size_t columns, float *dweights)
{
    vec row[V];
    DLK_UNROLL
    for (int i = 0; i < V; i++)
        row[i] = take_sum(groups, at + (size_t)least(i, channels - 1) * channel_floats(s));
    transpose(row);
    DLK_UNROLL
    for (size_t i = 0; i < V; i++)
        if (i < columns)
            store_some(dweights + i * (size_t)s->conv.oc, row[i], channels);
}

/* A part is a row of the kernel, for up to V output channels; the first one has all biases, too. */
static void finish(const dlk_stage *s, int part, const dlk_gradients *groups, float *dweights,
                   float *dbias)
{
    kernel_row r = row_of(s, V, part);
    size_t oc = (size_t)s->conv.oc, row = row_length(s);
    size_t at = r.first * channel_floats(s) + r.ky * row_floats(s);
    float *to = dweights + r.ky * row * oc + r.first;
    for (size_t column = 0; column < row; column += V)
        finish_square(s, groups, r.channels, at + column, row - column, to + column * oc);
    if (part == 0)
        take_sums(groups, weights_floats(s), oc, dbias);
}

const dlk_stage_backward DLK_SIMD(sparse) = {
    .name = "sparse",
    .misfit = misfit,
    .prepared_floats = prepared_floats,
    .parts = parts,
    .prepare = prepare,
    .scratch_floats = scratch_floats,
    .run = run,
    .gradient_floats = gradient_floats,
    .finish_parts = finish_parts,
    .finish = finish,
};
