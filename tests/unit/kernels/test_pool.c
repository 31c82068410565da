#include <criterion/criterion.h>
#include <math.h>

#include "kit.h"

typedef struct pool {
    dlk_pool s;
    size_t in, out;
    float *x, *y, *dy, *dx;
    uint8_t *winner;
    dlk_kernels kernels;
    kit_team *team;
} pool;

static pool pool_make(const dlk_kernels *k, dlk_pool s, uint32_t seed)
{
    pool p = {.s = s, .kernels = *k, .team = kit_team_start(1, 0, 0)};
    p.in = kit_size(s.n, s.h, s.w, s.c);
    p.out = kit_size(s.n, dlk_pool_oh(&s), dlk_pool_ow(&s), s.c);
    p.x = kit_uniform(p.in, seed);
    p.dy = kit_uniform(p.out, seed + 1);
    p.y = kit_zeros(p.out);
    p.dx = kit_uniform(p.in, seed + 2); /* to be overwritten */
    p.winner = calloc(p.out, 1);
    return p;
}

static void pool_free(pool *p)
{
    free(p->winner);
    free(p->dx);
    free(p->y);
    free(p->dy);
    free(p->x);
    kit_team_stop(p->team);
}

static void pool_run(pool *p)
{
    dlk_team *team = kit_team_of(p->team);
    p->kernels.maxpool_forward(team, &p->s, p->x, p->y, p->winner);
    p->kernels.maxpool_backward(team, &p->s, p->dy, p->winner, p->dx);
}

static double pool_value(void *context)
{
    pool *p = context;
    p->kernels.maxpool_forward(kit_team_of(p->team), &p->s, p->x, p->y, p->winner);
    return kit_dot(p->out, p->y, p->dy);
}

static float largest_of_window(const pool *p, int image, int oy, int ox, int c)
{
    const dlk_pool *s = &p->s;
    float largest = -INFINITY;
    for (int k = 0; k < s->size * s->size; k++) {
        int iy = oy * s->stride + k / s->size, ix = ox * s->stride + k % s->size;
        largest = fmaxf(largest, p->x[((image * s->h + iy) * s->w + ix) * s->c + c]);
    }
    return largest;
}

static void every_output_is_the_largest_of_its_window(const dlk_kernels *k)
{
    for (uint32_t seed = 300; seed < 340; seed++) {
        dlk_pool s = {.n = kit_pick(seed, 0, 1, 3),
                      .c = kit_pick(seed, 1, 1, 70),
                      .size = kit_pick(seed, 2, 1, 4),
                      .stride = kit_pick(seed, 3, 1, 4)};
        s.h = kit_pick(seed, 4, s.size, 11);
        s.w = kit_pick(seed, 5, s.size, 11);
        pool p = pool_make(k, s, seed);
        pool_run(&p);
        const float *y = p.y;
        for (int image = 0; image < s.n; image++)
            for (int oy = 0; oy < dlk_pool_oh(&s); oy++)
                for (int ox = 0; ox < dlk_pool_ow(&s); ox++)
                    for (int c = 0; c < s.c; c++)
                        cr_assert(*y++ == largest_of_window(&p, image, oy, ox, c), "seed %u", seed);
        pool_free(&p);
    }
}

Test(pool, every_output_is_the_largest_of_its_window)
{
    kit_for_every_table(every_output_is_the_largest_of_its_window);
}

/* Overlapping windows, and edges that no window reaches. */
static void gradients_are_those_of_central_differences(const dlk_kernels *k)
{
    pool p = pool_make(k, (dlk_pool){.n = 2, .h = 8, .w = 6, .c = 3, .size = 3, .stride = 2}, 350);
    /* Values a step of 0.01 cannot reorder. */
    for (size_t i = 0; i < p.in; i++)
        p.x[i] = (float)((i * 37) % p.in) * 0.05F;
    pool_run(&p);
    kit_expect_gradient(p.in, p.x, p.dx, 0.01F, 1e-3, pool_value, &p, "dx");
    pool_free(&p);
}

Test(pool, gradients_are_those_of_central_differences)
{
    kit_for_every_table(gradients_are_those_of_central_differences);
}

static pool one_window(const dlk_kernels *k, float a, float b, float c, float d)
{
    pool p = pool_make(k, (dlk_pool){.n = 1, .h = 2, .w = 2, .c = 1, .size = 2, .stride = 2}, 1);
    float x[] = {a, b, c, d};
    memcpy(p.x, x, sizeof x);
    p.dy[0] = 5;
    pool_run(&p);
    return p;
}

static void the_first_of_equals_wins(const dlk_kernels *k)
{
    pool p = one_window(k, 1, 3, 3, 3);
    float want[] = {0, 5, 0, 0};
    cr_assert(p.y[0] == 3 && p.winner[0] == 1);
    kit_expect_equal(4, p.dx, want, "dx", 0);
    pool_free(&p);
}

Test(pool, the_first_of_equals_wins)
{
    kit_for_every_table(the_first_of_equals_wins);
}

static void a_nan_is_not_lost(const dlk_kernels *k)
{
    for (int at = 0; at < 4; at++) {
        float x[] = {7, 9, 8, INFINITY};
        x[at] = NAN;
        pool p = one_window(k, x[0], x[1], x[2], x[3]);
        cr_assert(isnan(p.y[0]) && p.winner[0] == at, "NaN at %d", at);
        pool_free(&p);
    }
}

Test(pool, a_nan_is_not_lost)
{
    kit_for_every_table(a_nan_is_not_lost);
}

static void the_first_nan_wins(const dlk_kernels *k)
{
    pool p = one_window(k, 1, NAN, 2, NAN);
    cr_assert(isnan(p.y[0]) && p.winner[0] == 1);
    pool_free(&p);
}

Test(pool, the_first_nan_wins)
{
    kit_for_every_table(the_first_nan_wins);
}

static void windows_of_minus_infinity_have_a_winner(const dlk_kernels *k)
{
    pool p = one_window(k, -INFINITY, -INFINITY, -INFINITY, -INFINITY);
    cr_assert(p.y[0] == -INFINITY && p.winner[0] == 0);
    pool_free(&p);
}

Test(pool, windows_of_minus_infinity_have_a_winner)
{
    kit_for_every_table(windows_of_minus_infinity_have_a_winner);
}
