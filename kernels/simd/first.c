/*
 * Forward and backward of a 3×3 convolution of one channel, as many a network begins with: stride
 * 1, no padding, no pool, no dx.
 *
 * An output has nine products only, so that what surrounds them counts. A vector is V output
 * channels: the nine weights of one or two vectors, or the sums of their gradients, stay in
 * registers while rows of the image go by, and each input is spread over a vector once.
 *
 * Layouts: prepared and gradient [vector of channels][nine taps and the bias][V].
 * Error: at most 2e-6 of the sum of the absolute products, in backward for up to 1000 pixels.
 */
#include "simd/groups.h"
#include "simd/simd.h"
#include "simd/tail.h"

/* VECTORS: whose taps are in registers together; PIXELS: whose sums are, too. */
enum { SIDE = 3, TAPS = SIDE * SIDE, BIAS = TAPS, ROWS };
enum { VECTORS = ACCUMULATORS / TAPS, PIXELS = 4 };

/* ---- Shapes ---- */

static const char *first_misfit(const dlk_stage *s)
{
    const dlk_conv2d *c = &s->conv;
    if (c->kh != SIDE || c->kw != SIDE || c->c != 1)
        return "it is not 3×3 of one channel";
    if (s->pool)
        return "it has a pool";
    if (c->stride_h != 1 || c->stride_w != 1)
        return "its stride is not 1";
    if (c->pad_h != 0 || c->pad_w != 0)
        return "its input is padded";
    if (c->oc % V != 0)
        return "its output channels are not whole vectors";
    return NULL;
}

static size_t taps_floats(const dlk_stage *s)
{
    return (size_t)s->conv.oc * ROWS;
}

static int all_vectors(const dlk_stage *s)
{
    return s->conv.oc / V;
}

/* From the first input of a patch to that of a tap. */
DLK_INLINE ptrdiff_t place(int tap, ptrdiff_t width)
{
    return tap / SIDE * width + tap % SIDE;
}

/* ---- Strips ---- */

/* Some rows of outputs, and of these the channels of one or VECTORS vectors. */
typedef struct strip {
    int rows, columns;
    ptrdiff_t width; /* of x */
    size_t pixel;    /* floats of y */
    int channel;     /* its first */
    size_t x, y;     /* where it begins in x, in y and dy */
    size_t taps;     /* and in prepared or gradient */
} strip;

/* Rows of up to so many outputs, which stay in the first cache while channels have their turns. */
static int band_rows(const dlk_stage *s, int outputs)
{
    int rows = outputs / (dlk_conv2d_ow(&s->conv) * s->conv.oc);
    return all_vectors(s) <= VECTORS ? dlk_conv2d_oh(&s->conv) : rows > 1 ? rows : 1;
}

/* From a row and a vector of channels on, of up to `most` rows. */
static strip strip_at(const dlk_stage *s, int row, int most, int vector)
{
    const dlk_conv2d *c = &s->conv;
    int left = dlk_conv2d_oh(c) - row, columns = dlk_conv2d_ow(c);
    size_t pixel = (size_t)c->oc, channel = (size_t)vector * V;
    return (strip){.rows = left < most ? left : most,
                   .columns = columns,
                   .width = c->w,
                   .pixel = pixel,
                   .channel = (int)channel,
                   .x = (size_t)row * (size_t)c->w,
                   .y = (size_t)row * (size_t)columns * pixel + channel,
                   .taps = channel * ROWS};
}

typedef void strip_fn(const dlk_stage *s, const void *image, const strip *p);

/* What to do with a strip of VECTORS vectors, what with one of one; outputs of a band. */
typedef struct strip_plan {
    strip_fn *several, *one;
    int outputs;
} strip_plan;

static void for_every_strip(const dlk_stage *s, const void *image, const strip_plan *plan)
{
    int all = all_vectors(s), whole = all / VECTORS * VECTORS, rows = band_rows(s, plan->outputs);
    for (int row = 0; row < dlk_conv2d_oh(&s->conv); row += rows)
        for (int vector = 0; vector < all; vector += vector < whole ? VECTORS : 1) {
            strip p = strip_at(s, row, rows, vector);
            (vector < whole ? plan->several : plan->one)(s, image, &p);
        }
}

/* ---- Forward ---- */

/* A part is a vector of channels. */
static void prepare(const dlk_stage *s, int part, const float *weights, const float *bias,
                    float *prepared)
{
    size_t oc = (size_t)s->conv.oc, channel = (size_t)part * V;
    float *to = prepared + channel * ROWS;
    for (size_t tap = 0; tap < TAPS; tap++)
        store(to + tap * V, load(weights + tap * oc + channel));
    store(to + (size_t)BIAS * V, load(bias + channel));
}

/* sum [pixels][vectors] of neighbouring outputs, the first of which has its patch at x */
DLK_INLINE void sum_products(const int pixels, const int vectors, const float *x, ptrdiff_t width,
                             const float *taps, vec *sum)
{
    DLK_UNROLL
    for (int i = 0; i < pixels * vectors; i++)
        sum[i] = load(taps + (i % vectors * ROWS + BIAS) * V);
    DLK_UNROLL
    for (int tap = 0; tap < TAPS; tap++)
        DLK_UNROLL
    for (int i = 0; i < pixels * vectors; i++)
        sum[i] += x[i / vectors + place(tap, width)] * load(taps + (i % vectors * ROWS + tap) * V);
}

/* Outputs from y on; `at` is where the tails have them. */
DLK_INLINE void forward_pixels(const int pixels, const int vectors, const bool plain,
                               const strip *p, const float *x, const float *taps, float *restrict y,
                               size_t at, const tail *tails)
{
    vec sum[PIXELS * VECTORS];
    sum_products(pixels, vectors, x, p->width, taps, sum);
    DLK_UNROLL
    for (int i = 0; i < pixels * vectors; i++)
        if (plain)
            store(y + (size_t)(i / vectors) * p->pixel + i % vectors * V, relu(sum[i]));
        else
            finish(&tails[i % vectors], at + (size_t)(i / vectors) * p->pixel, sum[i]);
}

/* y is restricted so that taps, which it does not overwrite, stay in registers. */
DLK_INLINE void forward_strip(const int vectors, const bool plain, const strip *p, const float *x,
                              const float *taps, float *restrict y, const tail *tails)
{
    size_t at = p->y - (size_t)p->channel;
    for (int row = 0; row < p->rows; row++, x += p->width) {
        int column = 0;
        for (; column + PIXELS <= p->columns; column += PIXELS) {
            forward_pixels(PIXELS, vectors, plain, p, x + column, taps, y, at, tails);
            y += PIXELS * p->pixel;
            at += PIXELS * p->pixel;
        }
        for (; column < p->columns; column++) {
            forward_pixels(1, vectors, plain, p, x + column, taps, y, at, tails);
            y += p->pixel;
            at += p->pixel;
        }
    }
}

/* The sums begin with the bias, so that the tails have none. */
DLK_INLINE void forward_some(const int vectors, const dlk_stage *s, const dlk_stage_pass *pass,
                             const strip *p)
{
    const float *x = pass->x + p->x, *taps = pass->prepared + p->taps;
    float *y = pass->y + p->y;
    tail tails[VECTORS];
    for (int v = 0; v < vectors; v++)
        tails[v] = tail_of(s, pass, NULL, p->channel + v * V);
    if (tails[0].plain)
        forward_strip(vectors, true, p, x, taps, y, tails);
    else
        forward_strip(vectors, false, p, x, taps, y, tails);
}

static void forward_several(const dlk_stage *s, const void *pass, const strip *p)
{
    forward_some(VECTORS, s, pass, p);
}

static void forward_one(const dlk_stage *s, const void *pass, const strip *p)
{
    forward_some(1, s, pass, p);
}

static void run(const dlk_stage *s, const dlk_stage_pass *pass)
{
    static const strip_plan plan = {forward_several, forward_one, 8192};
    for_every_strip(s, pass, &plan);
}

static size_t no_floats(const dlk_stage *s)
{
    (void)s;
    return 0;
}

const dlk_stage_forward DLK_SIMD(first) = {
    .name = "first 3x3",
    .misfit = first_misfit,
    .prepared_floats = taps_floats,
    .parts = all_vectors,
    .prepare = prepare,
    .scratch_floats = no_floats,
    .run = run,
};

/* ---- Backward ---- */

DLK_INLINE void backward_strip(const int vectors, const bool with_relu, const strip *p,
                               const dlk_stage_return *back)
{
    float *gradient = back->gradient + p->taps;
    const float *x = back->x + p->x, *y = back->y + p->y, *dy = back->dy + p->y;
    const float scale = back->scale;
    vec sum[VECTORS * ROWS], g[VECTORS];
    DLK_UNROLL
    for (int i = 0; i < vectors * ROWS; i++)
        sum[i] = load(gradient + i * V);
    for (int row = 0; row < p->rows; row++, x += p->width)
        for (int column = 0; column < p->columns; column++, y += p->pixel, dy += p->pixel) {
            DLK_UNROLL
            for (int v = 0; v < vectors; v++) {
                g[v] = load(dy + v * V) * scale;
                if (with_relu)
                    g[v] = choose(load(y + v * V) > 0.0F, g[v], (vec){0});
                sum[v * ROWS + BIAS] += g[v];
            }
            DLK_UNROLL
            for (int i = 0; i < TAPS * vectors; i++)
                sum[i % vectors * ROWS + i / vectors] +=
                    x[column + place(i / vectors, p->width)] * g[i % vectors];
        }
    DLK_UNROLL
    for (int i = 0; i < vectors * ROWS; i++)
        store(gradient + i * V, sum[i]);
}

DLK_INLINE void backward_some(const int vectors, const dlk_stage *s, const dlk_stage_return *back,
                              const strip *p)
{
    if (s->relu)
        backward_strip(vectors, true, p, back);
    else
        backward_strip(vectors, false, p, back);
}

static void backward_several(const dlk_stage *s, const void *back, const strip *p)
{
    backward_some(VECTORS, s, back, p);
}

static void backward_one(const dlk_stage *s, const void *back, const strip *p)
{
    backward_some(1, s, back, p);
}

static void run_back(const dlk_stage *s, const dlk_stage_return *back)
{
    static const strip_plan plan = {backward_several, backward_one, 1024}; /* of y and of dy */
    for_every_strip(s, back, &plan);
}

static const char *misfit_back(const dlk_stage *s, bool data)
{
    return data ? "the gradient of its input is wanted" : first_misfit(s);
}

/* No weights are needed where no dx is wanted. */
static size_t no_floats_back(const dlk_stage *s, bool data)
{
    (void)data;
    return no_floats(s);
}

static int no_parts_back(const dlk_stage *s, bool data)
{
    (void)s;
    (void)data;
    return 0;
}

/* A part is a vector of channels. */
static void finish_back(const dlk_stage *s, int part, const dlk_gradients *groups, float *dweights,
                        float *dbias)
{
    size_t oc = (size_t)s->conv.oc, channel = (size_t)part * V, at = channel * ROWS;
    for (size_t tap = 0; tap < TAPS; tap++)
        store(dweights + tap * oc + channel, take_sum(groups, at + tap * V));
    store(dbias + channel, take_sum(groups, at + (size_t)BIAS * V));
}

const dlk_stage_backward DLK_SIMD(first_backward) = {
    .name = "first 3x3",
    .misfit = misfit_back,
    .prepared_floats = no_floats_back,
    .parts = no_parts_back,
    .scratch_floats = no_floats_back,
    .run = run_back,
    .gradient_floats = taps_floats,
    .finish_parts = all_vectors,
    .finish = finish_back,
};
