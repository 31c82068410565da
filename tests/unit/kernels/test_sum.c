#include "dlk/sum.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "kit.h"

enum { ROWS = 5, COUNT = 2600, STRIDE = 2608 };

/* With a team of `size`; the sum in row 0 itself or elsewhere. */
static void add_up(int size, float *rows, float *sum)
{
    kit_team *team = kit_team_start(size, 1, 1);
    dlk_sum_rows(kit_team_of(team), ROWS, STRIDE, rows, COUNT, sum);
    kit_team_stop(team);
}

Test(sum, a_row_may_be_the_sum_and_so_may_any_team_make_it)
{
    float *rows = kit_uniform((size_t)ROWS * STRIDE, 1), *expected = kit_zeros(COUNT);
    for (int i = 0; i < COUNT; i++)
        for (int r = 0; r < ROWS; r++)
            expected[i] = r ? expected[i] + rows[r * STRIDE + i] : rows[i];
    for (int size = 1; size <= 3; size++) {
        float *copy = kit_uniform((size_t)ROWS * STRIDE, 1), *sum = kit_zeros(COUNT);
        add_up(size, copy, sum);
        kit_expect_equal(COUNT, sum, expected, "elsewhere", 0);
        add_up(size, copy, copy);
        kit_expect_equal(COUNT, copy, expected, "in place", 0);
        free(sum);
        free(copy);
    }
    free(expected);
    free(rows);
}
