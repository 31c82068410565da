/*
 * The floating-point peak: single-precision multiply-adds from registers, as fast as the cores
 * issue them, measured. What a kernel reaches is judged against this, not against a data sheet.
 */
#ifndef DLB_MEASURE_PEAK_H
#define DLB_MEASURE_PEAK_H

#include "dlk/dispatch.h"
#include "measure/value.h"

/*
 * GFLOP/s of `threads` threads together with instruction set `isa`, which the CPU must have (see
 * dlk_isa_best): the best of several short bursts, ~0.1 s in all.
 */
dlb_value dlb_peak_gflops(int threads, dlk_isa isa);

/* A burst of so many rounds on the calling thread, for who times it; what it returns only keeps it
 * from being left out. And what it comes to. */
float dlb_peak_burst(dlk_isa isa, long rounds);
double dlb_peak_burst_flops(dlk_isa isa, long rounds);

/* More than this no core of any processor does: vector length × 2 × 2 multiply-adds × 6.5 GHz. */
double dlb_peak_limit_gflops(int threads, dlk_isa isa);

#endif
