#include "stats/share.h"

#include <criterion/criterion.h>
#include <math.h>

/* R. G. Newcombe, Two-sided confidence intervals for the single proportion (1998), table I: 81 of
 * 263, 15 of 148, 0 of 20 and 1 of 29 by the score method. */
Test(share, has_wilsons_interval)
{
    const struct {
        size_t found, trials;
        double low, high;
    } known[] = {{81, 263, 0.2553, 0.3662},
                 {15, 148, 0.0624, 0.1605},
                 {0, 20, 0, 0.1611},
                 {1, 29, 0.0061, 0.1718}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        dlb_interval share = dlb_share_of(known[i].found, known[i].trials);
        cr_assert_float_eq(share.value, (double)known[i].found / (double)known[i].trials, 1e-12);
        cr_assert_float_eq(share.low, known[i].low, 1e-4);
        cr_assert_float_eq(share.high, known[i].high, 1e-4);
    }
}

Test(share, of_nothing_is_unknown)
{
    dlb_interval share = dlb_share_of(0, 0);
    cr_assert(isnan(share.value) && isnan(share.low) && isnan(share.high));
}
