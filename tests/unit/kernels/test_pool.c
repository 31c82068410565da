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

static pool pool_make(dlk_pool s, uint32_t seed)
{
    pool p = {.s = s, .kernels = kit_kernels(DLK_FAMILY_AUTO), .team = kit_team_start(1, 0)};
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

Test(pool, every_output_is_the_largest_of_its_window)
{
    for (uint32_t seed = 300; seed < 340; seed++) {
        dlk_pool s = {.n = kit_pick(seed, 0, 1, 3),
                      .c = kit_pick(seed, 1, 1, 70),
                      .size = kit_pick(seed, 2, 1, 4),
                      .stride = kit_pick(seed, 3, 1, 4)};
        s.h = kit_pick(seed, 4, s.size, 11);
        s.w = kit_pick(seed, 5, s.size, 11);
        pool p = pool_make(s, seed);
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

/* Overlapping windows, and edges that no window reaches. */
Test(pool, gradients_are_those_of_central_differences)
{
    pool p = pool_make((dlk_pool){.n = 2, .h = 8, .w = 6, .c = 3, .size = 3, .stride = 2}, 350);
    /* Values a step of 0.01 cannot reorder. */
    for (size_t i = 0; i < p.in; i++)
        p.x[i] = (float)((i * 37) % p.in) * 0.05F;
    pool_run(&p);
    kit_expect_gradient(p.in, p.x, p.dx, 0.01F, 1e-3, pool_value, &p, "dx");
    pool_free(&p);
}

static pool one_window(float a, float b, float c, float d)
{
    pool p = pool_make((dlk_pool){.n = 1, .h = 2, .w = 2, .c = 1, .size = 2, .stride = 2}, 1);
    float x[] = {a, b, c, d};
    memcpy(p.x, x, sizeof x);
    p.dy[0] = 5;
    pool_run(&p);
    return p;
}

Test(pool, the_first_of_equals_wins)
{
    pool p = one_window(1, 3, 3, 3);
    float want[] = {0, 5, 0, 0};
    cr_assert(p.y[0] == 3 && p.winner[0] == 1);
    kit_expect_equal(4, p.dx, want, "dx", 0);
    pool_free(&p);
}

Test(pool, a_nan_is_not_lost)
{
    for (int at = 0; at < 4; at++) {
        float x[] = {7, 9, 8, INFINITY};
        x[at] = NAN;
        pool p = one_window(x[0], x[1], x[2], x[3]);
        cr_assert(isnan(p.y[0]) && p.winner[0] == at, "NaN at %d", at);
        pool_free(&p);
    }
}

Test(pool, the_first_nan_wins)
{
    pool p = one_window(1, NAN, 2, NAN);
    cr_assert(isnan(p.y[0]) && p.winner[0] == 1);
    pool_free(&p);
}

Test(pool, windows_of_minus_infinity_have_a_winner)
{
    pool p = one_window(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    cr_assert(p.y[0] == -INFINITY && p.winner[0] == 0);
    pool_free(&p);
}
