#include "forward_kit.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void on_every_isa(const char *name, forward_check_fn *check)
{
    for (dlk_isa isa = DLK_ISA_SSE; isa <= dlk_isa_best(); isa++)
        check(find_stage_forward(name, isa));
}

void with_conv(const char *name, forward_conv_check_fn *check, dlk_conv2d conv)
{
    for (dlk_isa isa = DLK_ISA_SSE; isa <= dlk_isa_best(); isa++)
        check(find_stage_forward(name, isa), conv);
}

void check_forward_shapes(const dlk_stage_forward *kernel, const dlk_conv2d *shapes, size_t count,
                          double bound)
{
    for (uint32_t i = 0; i < 2 * count; i++) {
        dlk_stage s = {shapes[i / 2], .relu = true, .pool = i % 2};
        check_stage_forward(kernel, &s, (stage_options){.winner = true, .seed = i}, bound);
    }
}

void check_forward_tails(const dlk_stage_forward *kernel, dlk_conv2d conv, double bound)
{
    int checked = 0;
    for (int bits = 0; bits < 32; bits++) {
        dlk_stage s = {conv, .relu = bits & 1, .pool = bits & 2};
        if (kernel->misfit(&s))
            continue;
        stage_options o = {.winner = bits & 4,
                           .drop = bits & 8 ? 0.25 : 0,
                           .drop_planes = bits & 16 ? 0.5 : 0,
                           .seed = 100 + (uint32_t)bits};
        check_stage_forward(kernel, &s, o, bound);
        checked++;
    }
    cr_assert_geq(checked, 16);
}

static void fill(float *values, size_t count, float value)
{
    for (size_t i = 0; i < count; i++)
        values[i] = value;
}

void check_forward_dead(const dlk_stage_forward *kernel, dlk_conv2d conv)
{
    dlk_stage s = {conv, .relu = true, .pool = true};
    stage_options o = {.winner = true, .seed = 1};
    stage_data d = make_stage_data(&s, o);
    fill(d.bias, (size_t)conv.oc, -1e4F);
    run_stage_forward(kernel, &s, &d, o);
    for (size_t i = 0; i < dlk_stage_outputs(&s); i++)
        cr_assert(d.y[i] == 0 && d.winner[i] == DLK_DEAD, "%zu: %g, %d", i, (double)d.y[i],
                  d.winner[i]);
    free_stage_data(&d);
}

void check_forward_ties(const dlk_stage_forward *kernel, dlk_conv2d conv)
{
    for (int relu = 0; relu <= 1; relu++) {
        dlk_stage s = {conv, .relu = relu, .pool = true};
        stage_options o = {.winner = true, .seed = 2};
        stage_data d = make_stage_data(&s, o);
        fill(d.x, dlk_stage_inputs(&s), 0);
        fill(d.bias, (size_t)conv.oc, 0.5F);
        run_stage_forward(kernel, &s, &d, o);
        for (size_t i = 0; i < dlk_stage_outputs(&s); i++)
            cr_assert(d.y[i] == 0.5F && d.winner[i] == 0, "%zu: %g, %d", i, (double)d.y[i],
                      d.winner[i]);
        free_stage_data(&d);
    }
}

static bool all_finite(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

/* With winners, as training wants them, and without, what is not finite must be seen in y. */
static void expect_not_lost(const dlk_stage_forward *kernel, const dlk_stage *s, stage_data *d,
                            bool dead, const char *what, size_t i)
{
    for (int winner = 0; winner <= 1; winner++) {
        run_stage_forward(kernel, s, d, (stage_options){.winner = winner});
        cr_assert(dead || !all_finite(d->y, dlk_stage_outputs(s)), "%s[%zu] is lost (%s%s%s)", what,
                  i, s->relu ? "relu" : "", s->pool ? ", pool" : "", winner ? ", winners" : "");
    }
}

/* Put each bad value into some elements of an array of the data, one at a time. */
static void spoil(const dlk_stage_forward *kernel, const dlk_stage *s, stage_data *d, float *array,
                  size_t count, const char *what)
{
    const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    size_t step = count / 150 + 1;
    for (size_t i = 0; i < count; i += step) {
        float good = array[i];
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
            bool dead = bad[k] < 0 && array == d->bias && s->relu; /* a channel, for good */
            array[i] = bad[k];
            expect_not_lost(kernel, s, d, dead, what, i);
        }
        array[i] = good;
    }
}

void check_forward_not_finite(const dlk_stage_forward *kernel, dlk_conv2d conv)
{
    size_t weights = (size_t)conv.kh * (size_t)conv.kw * (size_t)conv.c * (size_t)conv.oc;
    for (int bits = 0; bits < 4; bits++) {
        dlk_stage s = {conv, .relu = bits & 1, .pool = bits & 2};
        if (kernel->misfit(&s))
            continue;
        stage_data d = make_stage_data(&s, (stage_options){.seed = 3});
        spoil(kernel, &s, &d, d.x, dlk_stage_inputs(&s), "x");
        spoil(kernel, &s, &d, d.weights, weights, "weights");
        spoil(kernel, &s, &d, d.bias, (size_t)conv.oc, "bias");
        free_stage_data(&d);
    }
}

/* to[channel][pixel] = from[pixel][channel] */
static void make_planes(const float *from, size_t count, size_t channels, float *to)
{
    for (size_t i = 0; i < count; i++)
        to[i % channels * (count / channels) + i / channels] = from[i];
}

void check_forward_planes(const dlk_stage_forward *kernel, dlk_conv2d conv)
{
    dlk_stage s = {conv, .relu = true, .pool = true};
    size_t inputs = dlk_stage_inputs(&s), outputs = dlk_stage_outputs(&s);
    stage_data d = make_stage_data(&s, (stage_options){.seed = 5});
    float *y = malloc(outputs * sizeof *y);
    cr_assert(kernel->planes && y);
    run_stage_forward(kernel, &s, &d, (stage_options){0});
    for (int bits = 1; bits < 4; bits++) {
        stage_options o = {.x_planes = bits & 1, .y_planes = bits & 2, .seed = 5};
        stage_data moved = make_stage_data(&s, o);
        if (o.x_planes)
            make_planes(d.x, inputs, (size_t)conv.c, moved.x);
        make_planes(d.y, outputs, o.y_planes ? (size_t)conv.oc : 1, y);
        run_stage_forward(kernel, &s, &moved, o);
        cr_assert(memcmp(moved.y, y, outputs * sizeof *y) == 0);
        free_stage_data(&moved);
    }
    free(y);
    free_stage_data(&d);
}

/* The same values and slack, one float further on. */
static float *shifted(const float *values, size_t count)
{
    float *copy = malloc((count + 1 + DLK_SLACK) * sizeof *copy);
    cr_assert_not_null(copy);
    memcpy(copy + 1, values, (count + DLK_SLACK) * sizeof *copy);
    return copy;
}

void check_forward_alignment(const dlk_stage_forward *kernel, dlk_conv2d conv)
{
    dlk_stage s = {conv, .relu = true, .pool = true};
    s.pool = kernel->misfit(&s) == NULL;
    stage_options o = {.winner = true, .seed = 4};
    stage_data d = make_stage_data(&s, o);
    float *x = shifted(d.x, dlk_stage_inputs(&s)), *y = shifted(d.y, dlk_stage_outputs(&s));
    stage_data moved = d;
    moved.x = x + 1;
    moved.y = y + 1;
    run_stage_forward(kernel, &s, &d, o);
    run_stage_forward(kernel, &s, &moved, o);
    cr_assert(memcmp(d.y, moved.y, dlk_stage_outputs(&s) * sizeof *d.y) == 0);
    free(y);
    free(x);
    free_stage_data(&d);
}
