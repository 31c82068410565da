#include <criterion/criterion.h>
#include <math.h>

#include "kit.h"

enum { COUNT = 40003 }; /* more than one task, and no whole number of vectors */

static void passes_what_is_positive_and_nothing_else(const dlk_kernels *k)
{
    kit_team *team = kit_team_start(1, 0, 0);
    float *x = kit_uniform(COUNT, 1), *y = kit_uniform(COUNT, 2);
    k->relu_forward(kit_team_of(team), COUNT, x, y);
    for (size_t i = 0; i < COUNT; i++)
        cr_assert(y[i] == (x[i] > 0 ? x[i] : 0), "element %zu", i);
    free(y);
    free(x);
    kit_team_stop(team);
}

Test(relu, passes_what_is_positive_and_nothing_else)
{
    kit_for_every_table(passes_what_is_positive_and_nothing_else);
}

static void gradient_passes_where_the_output_is_positive(const dlk_kernels *k)
{
    kit_team *team = kit_team_start(1, 0, 0);
    float *y = kit_uniform(COUNT, 1), *dy = kit_uniform(COUNT, 2), *dx = kit_uniform(COUNT, 3);
    k->relu_backward(kit_team_of(team), COUNT, y, dy, dx);
    for (size_t i = 0; i < COUNT; i++)
        cr_assert(dx[i] == (y[i] > 0 ? dy[i] : 0), "element %zu", i);
    free(dx);
    free(dy);
    free(y);
    kit_team_stop(team);
}

Test(relu, gradient_passes_where_the_output_is_positive)
{
    kit_for_every_table(gradient_passes_where_the_output_is_positive);
}

static void works_in_place(const dlk_kernels *k)
{
    kit_team *team = kit_team_start(1, 0, 0);
    float *x = kit_uniform(COUNT, 1), *y = kit_zeros(COUNT);
    float *dy = kit_uniform(COUNT, 2), *dx = kit_zeros(COUNT);
    k->relu_forward(kit_team_of(team), COUNT, x, y);
    k->relu_backward(kit_team_of(team), COUNT, y, dy, dx);
    k->relu_forward(kit_team_of(team), COUNT, x, x);
    k->relu_backward(kit_team_of(team), COUNT, x, dy, dy);
    kit_expect_equal(COUNT, x, y, "y", 1);
    kit_expect_equal(COUNT, dy, dx, "dx", 1);
    free(dx);
    free(dy);
    free(y);
    free(x);
    kit_team_stop(team);
}

Test(relu, works_in_place)
{
    kit_for_every_table(works_in_place);
}

static void a_nan_stays(const dlk_kernels *k)
{
    kit_team *team = kit_team_start(1, 0, 0);
    float *x = kit_uniform(37, 1), y[37];
    for (int i = 0; i < 37; i++) {
        float before = x[i];
        x[i] = NAN;
        k->relu_forward(kit_team_of(team), 37, x, y);
        cr_assert(isnan(y[i]), "element %d", i);
        x[i] = before;
    }
    free(x);
    kit_team_stop(team);
}

Test(relu, a_nan_stays)
{
    kit_for_every_table(a_nan_stays);
}
