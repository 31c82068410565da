#include <criterion/criterion.h>
#include <math.h>

#include "stats/survival.h"

/*
 * Weeks of remission under 6-MP and placebo: E. J. Freireich et al., Blood 21 (1963), 699-716. The
 * curve is in every textbook (E. A. Gehan, Biometrika 52 (1965)); the intervals are those of
 * Stata's stci and of R's survfit with conf.type = "log-log": 23 (13, .) and 8 (4, 11).
 */
static const dlb_observation treated[] = {
    {6, true},   {6, true},   {6, true},   {6, false},  {7, true},   {9, false},  {10, true},
    {10, false}, {11, false}, {13, true},  {16, true},  {17, false}, {19, false}, {20, false},
    {22, true},  {23, true},  {25, false}, {32, false}, {32, false}, {34, false}, {35, false}};
static const dlb_observation placebo[] = {
    {1, true},  {1, true},  {2, true},  {2, true},  {3, true},  {4, true},  {4, true},
    {5, true},  {5, true},  {8, true},  {8, true},  {8, true},  {8, true},  {11, true},
    {11, true}, {12, true}, {12, true}, {15, true}, {17, true}, {22, true}, {23, true}};

Test(survival, of_the_leukemia_trial_is_the_published_one)
{
    dlb_survival found = dlb_survival_of(treated, 21);
    cr_assert_eq(found.count, 21);
    cr_assert_eq(found.reached, 9);
    cr_assert_eq(found.median, 23);
    cr_assert_eq(found.low, 13);
    cr_assert(isnan(found.high));
    found = dlb_survival_of(placebo, 21);
    cr_assert_eq(found.reached, 21);
    cr_assert_eq(found.median, 8);
    cr_assert_eq(found.low, 4);
    cr_assert_eq(found.high, 11);
}

Test(survival, steps_down_as_published)
{
    const struct {
        double time, left;
    } curve[] = {{5, 1},      {6, 0.857},    {7, 0.807},  {10, 0.753}, {13, 0.690}, {16, 0.627},
                 {22, 0.538}, {22.9, 0.538}, {23, 0.448}, {35, 0.448}, {99, 0.448}};
    for (size_t i = 0; i < sizeof curve / sizeof *curve; i++)
        cr_expect_float_eq(dlb_survival_at(treated, 21, curve[i].time), curve[i].left, 5e-4,
                           "at %g", curve[i].time);
}

Test(survival, does_not_depend_on_the_order_of_runs)
{
    dlb_observation reversed[21];
    for (size_t i = 0; i < 21; i++)
        reversed[i] = treated[20 - i];
    dlb_survival found = dlb_survival_of(reversed, 21);
    cr_assert_eq(found.median, 23);
    cr_assert_eq(found.low, 13);
}

Test(survival, without_censored_runs_is_the_plain_median)
{
    const dlb_observation runs[] = {{4, true}, {1, true}, {9, true}, {2, true}, {3, true}};
    cr_assert_eq(dlb_survival_of(runs, 5).median, 3);
    cr_assert_eq(dlb_survival_of(runs, 4).median, 3, "between 2 and 4");
    cr_assert_eq(dlb_survival_of(runs, 1).median, 4);
}

Test(survival, has_no_median_when_fewer_than_half_reach_the_target)
{
    const dlb_observation runs[] = {{4, true}, {10, false}, {10, false}, {10, false}};
    dlb_survival found = dlb_survival_of(runs, 4);
    cr_assert_eq(found.reached, 1);
    cr_assert(isnan(found.median) && isnan(found.high));
    cr_assert_eq(dlb_survival_at(runs, 4, 10), 0.75);
}

Test(survival, counts_runs_that_never_reach_the_target_against_it)
{
    const dlb_observation runs[] = {{4, true}, {5, true}, {6, true}, {10, false}, {10, false}};
    cr_assert_eq(dlb_survival_of(runs, 5).median, 6);
    cr_assert_eq(dlb_survival_of(runs, 3).median, 5);
}

Test(survival, of_runs_of_which_nothing_is_known_is_missing)
{
    const dlb_observation runs[] = {{NAN, true}, {NAN, false}};
    dlb_survival found = dlb_survival_of(runs, 2);
    cr_assert_eq(found.count, 0);
    cr_assert_eq(found.reached, 0);
    cr_assert(isnan(found.median) && isnan(found.low) && isnan(found.high));
    cr_assert(isnan(dlb_survival_at(runs, 2, 1)));
}
