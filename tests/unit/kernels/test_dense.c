#include <criterion/criterion.h>

#include "kit.h"

typedef struct dense {
    dlk_dense s;
    size_t in, weights, out;
    float *x, *w, *bias, *y, *dy, *dx, *dw, *dbias;
    dlk_kernels kernels;
    kit_team *team;
} dense;

static dense dense_make(dlk_dense s, dlk_family family, float *numbers(size_t, uint32_t),
                        uint32_t seed)
{
    dense d = {.s = s, .kernels = kit_kernels(family)};
    d.in = kit_size(1, 1, s.n, s.in);
    d.weights = kit_size(1, 1, s.in, s.out);
    d.out = kit_size(1, 1, s.n, s.out);
    d.x = numbers(d.in, seed + 1);
    d.w = numbers(d.weights, seed + 2);
    d.bias = numbers((size_t)s.out, seed + 3);
    d.dy = numbers(d.out, seed + 4);
    d.y = kit_uniform(d.out, 9); /* to be overwritten */
    d.dx = kit_uniform(d.in, 9);
    d.dw = kit_uniform(d.weights, 9);
    d.dbias = kit_uniform((size_t)s.out, 9);
    d.team = kit_team_start(1, dlk_dense_scratch(&s));
    return d;
}

static void dense_free(dense *d)
{
    kit_team_stop(d->team);
    float *arrays[] = {d->x, d->w, d->bias, d->y, d->dy, d->dx, d->dw, d->dbias};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

static void dense_run(dense *d)
{
    dlk_team *team = kit_team_of(d->team);
    d->kernels.dense_forward(team, &d->s, d->x, d->w, d->bias, d->y);
    d->kernels.dense_backward_data(team, &d->s, d->dy, d->w, d->dx);
    d->kernels.dense_backward_weights(team, &d->s, d->x, d->dy, d->dw, d->dbias);
}

static double dense_value(void *context)
{
    dense *d = context;
    d->kernels.dense_forward(kit_team_of(d->team), &d->s, d->x, d->w, d->bias, d->y);
    return kit_dot(d->out, d->y, d->dy);
}

static void expect_gradients(dlk_family family)
{
    dense d = dense_make((dlk_dense){.n = 4, .in = 11, .out = 7}, family, kit_uniform, 40);
    dense_run(&d);
    kit_expect_gradient(d.in, d.x, d.dx, 0.5F, 1e-5, dense_value, &d, "dx");
    kit_expect_gradient(d.weights, d.w, d.dw, 0.5F, 1e-5, dense_value, &d, "dweights");
    kit_expect_gradient(7, d.bias, d.dbias, 0.5F, 1e-5, dense_value, &d, "dbias");
    dense_free(&d);
}

Test(dense, ref_gradients_are_those_of_central_differences)
{
    expect_gradients(DLK_FAMILY_REF);
}

Test(dense, blas_gradients_are_those_of_central_differences)
{
    expect_gradients(DLK_FAMILY_BLAS);
}

static void expect_same_as_ref(dlk_dense s, uint32_t seed)
{
    dense ref = dense_make(s, DLK_FAMILY_REF, kit_integers, seed);
    dense blas = dense_make(s, DLK_FAMILY_BLAS, kit_integers, seed);
    dense_run(&ref);
    dense_run(&blas);
    char what[64];
    snprintf(what, sizeof what, "dense %d × %d → %d", s.n, s.in, s.out);
    kit_expect_equal(ref.out, blas.y, ref.y, what, seed);
    kit_expect_equal(ref.in, blas.dx, ref.dx, what, seed);
    kit_expect_equal(ref.weights, blas.dw, ref.dw, what, seed);
    kit_expect_equal((size_t)s.out, blas.dbias, ref.dbias, what, seed);
    dense_free(&blas);
    dense_free(&ref);
}

Test(dense, blas_computes_the_same_as_ref_for_random_shapes)
{
    for (uint32_t seed = 200; seed < 240; seed++) {
        dlk_dense s = {.n = kit_pick(seed, 0, 1, 40),
                       .in = kit_pick(seed, 1, 1, 130),
                       .out = kit_pick(seed, 2, 1, 70)};
        expect_same_as_ref(s, seed);
    }
}

/* More than one tile of images, of outputs, and slices of the inputs. */
Test(dense, blas_computes_the_same_as_ref_where_it_cuts_the_product)
{
    expect_same_as_ref((dlk_dense){.n = 9, .in = 9216, .out = 128}, 1);
    expect_same_as_ref((dlk_dense){.n = 131, .in = 1030, .out = 30}, 2);
    expect_same_as_ref((dlk_dense){.n = 5, .in = 1500, .out = 300}, 3);
    expect_same_as_ref((dlk_dense){.n = 130, .in = 600, .out = 131}, 4);
}

/* The scratch of a team is planned for the full batch, and a last batch may be any smaller one. */
Test(dense, a_smaller_batch_needs_no_more_scratch)
{
    dlk_kernels blas = kit_kernels(DLK_FAMILY_BLAS);
    dlk_dense s = {.n = 600, .in = 12000, .out = 130};
    float *x = kit_zeros(kit_size(1, 1, s.n, s.in)), *w = kit_zeros(kit_size(1, 1, s.in, s.out));
    float *bias = kit_uniform((size_t)s.out, 1), *y = kit_zeros(kit_size(1, 1, s.n, s.out));
    kit_team *team = kit_team_start(1, dlk_dense_scratch(&s));
    for (int n = 600; n > 0; n -= 88) {
        s.n = n;
        blas.dense_forward(kit_team_of(team), &s, x, w, bias, y);
        kit_expect_equal((size_t)s.out, y + (n - 1) * s.out, bias, "y", (uint32_t)n);
    }
    kit_team_stop(team);
    free(y);
    free(bias);
    free(w);
    free(x);
}
