#include <criterion/criterion.h>

#include "dlk/dispatch.h"

static float half(volatile float *x)
{
    return *x * 0.5F;
}

Test(cpu, there_is_always_an_instruction_set)
{
    cr_assert(dlk_isa_best() >= DLK_ISA_SSE && dlk_isa_best() <= DLK_ISA_AVX512);
}

#if defined(__x86_64__)

Test(cpu, flush_mode_makes_denormals_zero_and_restore_brings_them_back)
{
    volatile float smallest = 0x1p-126F, denormal = 0x1p-130F, large = 0x1p120F;
    unsigned before = dlk_float_mode_flush();
    cr_assert(half(&smallest) == 0.0F, "a result that would be denormal");
    cr_assert(denormal * large == 0.0F, "an operand that is denormal");
    dlk_float_mode_restore(before);
    cr_assert(half(&smallest) == 0x1p-127F);
    cr_assert(denormal * large == 0x1p-10F);
}

#endif

Test(cpu, flush_mode_nests)
{
    unsigned outer = dlk_float_mode_flush();
    unsigned inner = dlk_float_mode_flush();
    dlk_float_mode_restore(inner);
    volatile float smallest = 0x1p-126F;
    float still = half(&smallest);
    dlk_float_mode_restore(outer);
    cr_assert(still == 0.0F || half(&smallest) == still);
}
