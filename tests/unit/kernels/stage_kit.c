#include "stage_kit.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dlk/rng.h"

/* ---- Random data ---- */

/* Behind arrays, and in what is not yet written: large as floats, and another in scratch. */
enum { UNTOUCHED = 0xee, FOUL = 0xff };

static float *filled(size_t count, int byte)
{
    float *values = dlb_alloc(count, sizeof(float));
    memset(values, byte, count * sizeof(float));
    return values;
}

/* Floats that are NaN: what a kernel has not written itself, it may not use. */
static float *foul(size_t count)
{
    return filled(count, FOUL);
}

static float *floats(size_t count)
{
    return filled(count + DLK_SLACK, UNTOUCHED);
}

static float draw(stage_options o, uint32_t stream, size_t i)
{
    dlk_rng_key key = {.seed = o.seed, .purpose = DLK_RNG_SYNTHETIC, .stream = (uint16_t)stream};
    return dlk_rng_uniform(&key, (uint32_t)i);
}

static float *random_floats(stage_options o, uint32_t stream, size_t count)
{
    float *values = floats(count);
    for (size_t i = 0; i < count; i++)
        values[i] = 2 * draw(o, stream, i) - 1;
    return values;
}

static uint8_t *random_bits(stage_options o, uint32_t stream, size_t count, double share_of_zeros)
{
    uint8_t *bits = dlb_alloc(count, 1);
    for (size_t i = 0; i < count; i++)
        bits[i] = (double)draw(o, stream, i) >= share_of_zeros;
    return bits;
}

static size_t weight_count(const dlk_stage *s)
{
    return (size_t)(s->conv.kh * s->conv.kw * s->conv.c) * (size_t)s->conv.oc;
}

static uint8_t *random_winners(stage_options o, size_t count)
{
    uint8_t *winner = dlb_alloc(count + DLK_SLACK, 1);
    memset(winner, UNTOUCHED, count + DLK_SLACK);
    for (size_t i = 0; i < count; i++)
        winner[i] = (double)draw(o, 8, i) < o.alive ? (uint8_t)(4 * draw(o, 9, i)) : DLK_DEAD;
    return winner;
}

stage_data make_stage_data(const dlk_stage *s, stage_options o)
{
    size_t outputs = dlk_stage_outputs(s);
    return (stage_data){
        .x = random_floats(o, 1, dlk_stage_inputs(s)),
        .weights = random_floats(o, 2, weight_count(s)),
        .bias = random_floats(o, 3, (size_t)s->conv.oc),
        .y = random_floats(o, 4, outputs),
        .dy = random_floats(o, 5, outputs),
        .dx = random_floats(o, 6, dlk_stage_inputs(s)),
        .dweights = floats(weight_count(s)),
        .dbias = floats((size_t)s->conv.oc),
        .winner = random_winners(o, outputs),
        .keep = random_bits(o, 10, outputs, o.drop),
        .keep_planes = random_bits(o, 11, (size_t)s->conv.oc, o.drop_planes),
        .scale = (float)(1 / ((1 - o.drop) * (1 - o.drop_planes))),
    };
}

void free_stage_data(stage_data *d)
{
    free(d->keep_planes);
    free(d->keep);
    free(d->winner);
    free(d->dbias);
    free(d->dweights);
    free(d->dx);
    free(d->dy);
    free(d->y);
    free(d->bias);
    free(d->weights);
    free(d->x);
}

/* ---- Running kernels ---- */

/* Behind the last element there is the next image, which another thread may be writing. */
static void expect_untouched(const char *what, const void *end, size_t size)
{
    const uint8_t *bytes = end;
    for (size_t i = 0; i < DLK_SLACK * size; i++)
        cr_assert_eq(bytes[i], UNTOUCHED, "byte %zu behind the end of %s was written", i, what);
}

static bool select_simd(dlk_kernels *kernels, dlk_isa isa)
{
    dlb_error err;
    return isa <= dlk_isa_best() && dlk_kernels_select(kernels, DLK_FAMILY_SIMD, isa, &err) == 0;
}

static const dlk_stage_forward *find_by_name(const dlk_stage_forward *const *list, const char *name)
{
    while (*list && strcmp((*list)->name, name) != 0)
        list++;
    return *list;
}

/* The lanes that a kernel works in; NULL: it takes one image. */
static const dlk_lanes *lanes_of(const dlk_stage_forward *kernel)
{
    dlk_kernels kernels;
    for (dlk_isa isa = DLK_ISA_SSE; select_simd(&kernels, isa); isa++)
        if (find_by_name(kernels.lanes->forward, kernel->name) == kernel)
            return kernels.lanes;
    return NULL;
}

/* The image in all lanes; what is kept of it, too. */
static void run_in_lanes(const dlk_stage_forward *kernel, const dlk_lanes *lanes,
                         const dlk_stage *s, const dlk_stage_pass *image)
{
    size_t images = (size_t)lanes->images, outputs = dlk_stage_outputs(s);
    size_t channels = (size_t)s->conv.oc;
    dlk_stage_pass pass = *image;
    float *x = foul(images * dlk_stage_inputs(s)), *y = foul(images * outputs);
    uint8_t *winner = dlb_alloc(images * outputs, 1), *planes = dlb_alloc(images * channels, 1);
    lanes->enter(s, 1, image->x, 0, x);
    for (size_t c = 0; image->keep_planes && c < channels; c++)
        memset(planes + c * images, image->keep_planes[c], images);
    pass.x = x;
    pass.y = y;
    pass.winner = image->winner ? winner : NULL;
    pass.keep_planes = image->keep_planes ? planes : NULL;
    kernel->run(s, &pass);
    lanes->leave(s, 1, y, image->y, 0);
    if (image->winner)
        lanes->leave_bytes(s, 1, winner, image->winner, 0);
    free(planes);
    free(winner);
    free(y);
    free(x);
}

void run_stage_forward(const dlk_stage_forward *kernel, const dlk_stage *s, stage_data *d,
                       stage_options o)
{
    const dlk_lanes *lanes = lanes_of(kernel);
    float *prepared = foul(kernel->prepared_floats(s));
    float *scratch = foul(kernel->scratch_floats(s));
    if (kernel->lay_out)
        kernel->lay_out(s, prepared);
    for (int i = kernel->parts(s) - 1; i >= 0; i--) /* in any order */
        kernel->prepare(s, i, d->weights, d->bias, prepared);
    dlk_stage_pass pass = {.prepared = prepared,
                           .x = d->x,
                           .y = d->y,
                           .x_planes = o.x_planes,
                           .y_planes = o.y_planes,
                           .winner = o.winner && s->pool ? d->winner : NULL,
                           .keep = o.drop > 0 ? d->keep : NULL,
                           .keep_planes = o.drop_planes > 0 ? d->keep_planes : NULL,
                           .scale = d->scale,
                           .scratch = scratch};
    if (lanes)
        run_in_lanes(kernel, lanes, s, &pass);
    else
        kernel->run(s, &pass);
    expect_untouched("y", d->y + dlk_stage_outputs(s), sizeof(float));
    expect_untouched("winner", d->winner + dlk_stage_outputs(s), 1);
    free(scratch);
    free(prepared);
}

void run_stage_backward(const dlk_stage_backward *kernel, const dlk_stage *s, stage_data *d,
                        stage_options o)
{
    float *prepared = foul(kernel->prepared_floats(s, o.data));
    float *scratch = foul(kernel->scratch_floats(s, o.data));
    float *gradient = dlb_alloc(kernel->gradient_floats(s), sizeof(float));
    for (int i = kernel->parts(s, o.data) - 1; i >= 0; i--)
        kernel->prepare(s, i, d->weights, prepared);
    dlk_stage_return back = {.prepared = prepared,
                             .x = d->x,
                             .y = d->y,
                             .dy = d->dy,
                             .winner = s->pool ? d->winner : NULL,
                             .scale = d->scale,
                             .dx = o.data ? d->dx : NULL,
                             .gradient = gradient,
                             .scratch = scratch};
    kernel->run(s, &back);
    dlk_gradients all = {.count = 1, .each = &gradient};
    for (int i = kernel->finish_parts(s) - 1; i >= 0; i--)
        kernel->finish(s, i, &all, d->dweights, d->dbias);
    for (size_t i = 0; i < kernel->gradient_floats(s); i++)
        cr_assert(gradient[i] == 0, "%s leaves %g in gradient %zu", kernel->name, gradient[i], i);
    free(gradient);
    free(scratch);
    free(prepared);
}

const dlk_stage_forward *find_stage_forward(const char *name, dlk_isa isa)
{
    dlk_kernels kernels;
    if (!select_simd(&kernels, isa))
        return NULL;
    const dlk_stage_forward *found = find_by_name(kernels.stage_forward, name);
    if (!found)
        found = find_by_name(kernels.lanes->forward, name);
    cr_assert_not_null(found, "the simd family has no forward kernel named %s", name);
    return found;
}

const dlk_stage_backward *find_stage_backward(const char *name, dlk_isa isa)
{
    dlk_kernels kernels;
    if (!select_simd(&kernels, isa))
        return NULL;
    for (int i = 0; kernels.stage_backward[i]; i++)
        if (strcmp(kernels.stage_backward[i]->name, name) == 0)
            return kernels.stage_backward[i];
    cr_assert_fail("the simd family has no backward kernel named %s", name);
    return NULL;
}

/* ---- The stage in double ---- */

/* A sum, and the sum of the absolute values of its terms, to which errors are related. */
typedef struct sum {
    double value, terms;
} sum;

static void add(sum *to, double a, double b)
{
    to->value += a * b;
    to->terms += fabs(a * b);
}

static size_t x_at(const dlk_conv2d *c, int row, int column)
{
    return ((size_t)row * (size_t)c->w + (size_t)column) * (size_t)c->c;
}

static size_t weight_at(const dlk_conv2d *c, int ky, int kx, int ic)
{
    return (size_t)((ky * c->kw + kx) * c->c + ic) * (size_t)c->oc;
}

static bool inside(const dlk_conv2d *c, int row, int column)
{
    return row >= 0 && row < c->h && column >= 0 && column < c->w;
}

static sum convolve(const dlk_conv2d *c, const stage_data *d, int row, int column, int oc)
{
    sum y = {0};
    add(&y, (double)d->bias[oc], 1);
    for (int ky = 0; ky < c->kh; ky++)
        for (int kx = 0; kx < c->kw; kx++) {
            int r = row * c->stride_h + ky - c->pad_h, q = column * c->stride_w + kx - c->pad_w;
            for (int ic = 0; inside(c, r, q) && ic < c->c; ic++)
                add(&y, (double)d->x[x_at(c, r, q) + (size_t)ic],
                    (double)d->weights[weight_at(c, ky, kx, ic) + (size_t)oc]);
        }
    return y;
}

/* The convolution's outputs that one output of the stage is made of: one, or a window of four. */
static int window_of(const dlk_stage *s, const stage_data *d, size_t output, sum window[4])
{
    int oc = (int)(output % (size_t)s->conv.oc);
    int pixel = (int)(output / (size_t)s->conv.oc);
    int row = pixel / dlk_stage_ow(s), column = pixel % dlk_stage_ow(s);
    int size = s->pool ? 2 : 1;
    for (int i = 0; i < size * size; i++)
        window[i] = convolve(&s->conv, d, row * size + i / size, column * size + i % size, oc);
    return size * size;
}

static bool is_dropped(const dlk_stage *s, const stage_data *d, stage_options o, size_t output)
{
    return (o.drop > 0 && !d->keep[output]) ||
           (o.drop_planes > 0 && !d->keep_planes[output % (size_t)s->conv.oc]);
}

static void check_winner(const dlk_stage *s, const stage_data *d, size_t i, bool dropped,
                         const sum window[4], double largest, double error)
{
    uint8_t winner = d->winner[i];
    bool dead = dropped || (s->relu && largest <= 0);
    if (winner == DLK_DEAD)
        cr_assert(dead || (s->relu && largest <= error), "window %zu is not dead", i);
    else
        cr_assert(!dropped && winner < 4 && window[winner].value >= largest - 2 * error &&
                      (!s->relu || largest >= -error),
                  "window %zu is not won by %d", i, winner);
}

static void check_output(const dlk_stage *s, const stage_data *d, stage_options o, size_t i,
                         double bound)
{
    sum window[4];
    int count = window_of(s, d, i, window);
    double largest = window[0].value, terms = window[0].terms;
    for (int k = 1; k < count; k++) {
        largest = fmax(largest, window[k].value);
        terms = fmax(terms, window[k].terms);
    }
    bool dropped = is_dropped(s, d, o, i);
    double wanted = dropped || (s->relu && largest <= 0) ? 0 : largest * (double)d->scale;
    double error = bound * terms;
    cr_assert_float_eq((double)d->y[i], wanted, error * (double)d->scale + 1e-30,
                       "y[%zu] = %.9g, not %.9g (terms %g)", i, (double)d->y[i], wanted, terms);
    if (o.winner && s->pool)
        check_winner(s, d, i, dropped, window, largest, error);
}

void check_stage_forward(const dlk_stage_forward *kernel, const dlk_stage *s, stage_options o,
                         double bound)
{
    stage_data d = make_stage_data(s, o);
    run_stage_forward(kernel, s, &d, o);
    for (size_t i = 0; i < dlk_stage_outputs(s); i++)
        check_output(s, &d, o, i, bound);
    free_stage_data(&d);
}

/* ---- Backward in double ---- */

typedef struct gradients {
    sum *dx, *dweights, *dbias;
} gradients;

/* The gradient at one output of the convolution goes to its bias, its weights and its patch. */
static void spread(const dlk_conv2d *c, const stage_data *d, const gradients *g, int row,
                   int column, int oc, double dy)
{
    add(&g->dbias[oc], dy, 1);
    for (int ky = 0; ky < c->kh; ky++)
        for (int kx = 0; kx < c->kw; kx++) {
            int r = row * c->stride_h + ky - c->pad_h, q = column * c->stride_w + kx - c->pad_w;
            for (int ic = 0; inside(c, r, q) && ic < c->c; ic++) {
                size_t x = x_at(c, r, q) + (size_t)ic;
                size_t weight = weight_at(c, ky, kx, ic) + (size_t)oc;
                add(&g->dweights[weight], dy, (double)d->x[x]);
                add(&g->dx[x], dy, (double)d->weights[weight]);
            }
        }
}

static void spread_output(const dlk_stage *s, const stage_data *d, const gradients *g, size_t i)
{
    int oc = (int)(i % (size_t)s->conv.oc), pixel = (int)(i / (size_t)s->conv.oc);
    int row = pixel / dlk_stage_ow(s), column = pixel % dlk_stage_ow(s);
    double dy = (double)d->dy[i] * (double)d->scale;
    if (s->pool && d->winner[i] != DLK_DEAD)
        spread(&s->conv, d, g, 2 * row + d->winner[i] / 2, 2 * column + d->winner[i] % 2, oc, dy);
    if (!s->pool && (!s->relu || d->y[i] > 0))
        spread(&s->conv, d, g, row, column, oc, dy);
}

static void compare(const char *what, const sum *wanted, const float *got, size_t count,
                    double bound)
{
    for (size_t i = 0; i < count; i++)
        cr_assert_float_eq((double)got[i], wanted[i].value, bound * wanted[i].terms + 1e-30,
                           "%s[%zu] = %.9g, not %.9g (terms %g)", what, i, (double)got[i],
                           wanted[i].value, wanted[i].terms);
}

void check_stage_backward(const dlk_stage_backward *kernel, const dlk_stage *s, stage_options o,
                          double bound)
{
    stage_data d = make_stage_data(s, o);
    size_t inputs = dlk_stage_inputs(s), weights = weight_count(s), biases = (size_t)s->conv.oc;
    gradients g = {dlb_alloc(inputs, sizeof(sum)), dlb_alloc(weights, sizeof(sum)),
                   dlb_alloc(biases, sizeof(sum))};
    for (size_t i = 0; i < dlk_stage_outputs(s); i++)
        spread_output(s, &d, &g, i);
    run_stage_backward(kernel, s, &d, o);
    compare("dweights", g.dweights, d.dweights, weights, bound);
    compare("dbias", g.dbias, d.dbias, biases, bound);
    if (o.data)
        compare("dx", g.dx, d.dx, inputs, bound);
    free(g.dbias);
    free(g.dweights);
    free(g.dx);
    free_stage_data(&d);
}

void backward_on_every_isa(const char *name, backward_check_fn *check)
{
    for (dlk_isa isa = DLK_ISA_SSE; isa <= dlk_isa_best(); isa++)
        check(find_stage_backward(name, isa));
}

void check_backward_nan(const dlk_stage_backward *kernel)
{
    dlk_stage s = {.conv = {1, 6, 6, 1, 16, 3, 3, 1, 1, 0, 0}};
    stage_options o = {.seed = 1};
    stage_data d = make_stage_data(&s, o);
    d.dy[17] = NAN;
    run_stage_backward(kernel, &s, &d, o);
    cr_assert(isnan(d.dbias[1]) && isnan(d.dweights[1]) && isnan(d.dweights[8 * 16 + 1]));
    cr_assert(isfinite(d.dbias[0]) && isfinite(d.dweights[0]));
    free_stage_data(&d);
}
