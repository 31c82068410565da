/* What this CPU offers, and its floating-point mode. */
#include <stdbool.h>

#include "dlk/dispatch.h"

#if defined(__x86_64__)

#include <xmmintrin.h>

/* __builtin_cpu_supports also asks whether the operating system saves the registers. */
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi");
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

dlk_isa dlk_isa_best(void)
{
    if (has_avx2() && has_avx512())
        return DLK_ISA_AVX512;
    return has_avx2() ? DLK_ISA_AVX2 : DLK_ISA_SSE;
}

unsigned dlk_float_mode_flush(void)
{
    enum { DENORMALS_ARE_ZERO = 1 << 6, FLUSH_TO_ZERO = 1 << 15 };
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | DENORMALS_ARE_ZERO | FLUSH_TO_ZERO);
    return before;
}

void dlk_float_mode_restore(unsigned mode)
{
    _mm_setcsr(mode);
}

#else

dlk_isa dlk_isa_best(void)
{
    return DLK_ISA_SSE;
}

unsigned dlk_float_mode_flush(void)
{
    return 0;
}

void dlk_float_mode_restore(unsigned mode)
{
    (void)mode;
}

#endif

const char *dlk_isa_name(dlk_isa isa)
{
    static const char *const names[] = {"auto", "sse", "avx2", "avx512"};
    return (unsigned)isa < sizeof names / sizeof *names ? names[isa] : "unknown";
}
