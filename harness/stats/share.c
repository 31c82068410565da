#include "stats/share.h"

#include <math.h>

/* E. B. Wilson, Probable inference, the law of succession, and statistical inference (1927). */
dlb_interval dlb_share_of(size_t found, size_t trials)
{
    static const double z = 1.959963984540054;
    if (trials == 0)
        return (dlb_interval){0, NAN, NAN, NAN};
    double n = (double)trials, share = (double)found / n, square = z * z / n;
    double middle = (share + 0.5 * square) / (1 + square);
    double reach = z * sqrt(share * (1 - share) / n + 0.25 * square / n) / (1 + square);
    return (dlb_interval){trials, share, fmax(0, middle - reach), fmin(1, middle + reach)};
}
