#include <criterion/criterion.h>

#include "measure/peak.h"

/* A multiply-add a cycle at 100 MHz: slower than any processor, even without optimisation. */
static const double LEAST_GFLOPS = 0.05;

Test(peak, every_instruction_set_of_this_cpu_is_measured_within_what_is_possible)
{
    for (dlk_isa isa = DLK_ISA_SSE; isa <= dlk_isa_best(); isa++) {
        dlb_value peak = dlb_peak_gflops(1, isa);
        cr_assert(peak.known, "%s: %s", dlk_isa_name(isa), peak.why);
        cr_expect_gt(peak.number, LEAST_GFLOPS, "%s", dlk_isa_name(isa));
        cr_expect_leq(peak.number, dlb_peak_limit_gflops(1, isa), "%s", dlk_isa_name(isa));
    }
}

Test(peak, two_threads_are_measured_together)
{
    dlb_value peak = dlb_peak_gflops(2, dlk_isa_best());
    cr_assert(peak.known, "%s", peak.why);
    cr_expect_gt(peak.number, LEAST_GFLOPS);
    cr_expect_leq(peak.number, dlb_peak_limit_gflops(2, dlk_isa_best()));
}

Test(peak, the_limit_grows_with_vectors_and_threads)
{
    cr_expect_eq(dlb_peak_limit_gflops(1, DLK_ISA_AVX512),
                 2 * dlb_peak_limit_gflops(1, DLK_ISA_AVX2));
    cr_expect_eq(dlb_peak_limit_gflops(4, DLK_ISA_SSE), 4 * dlb_peak_limit_gflops(1, DLK_ISA_SSE));
}
