#include "family.h"

#include "ref/ref.h"

int dlk_ref_fill(dlk_kernels *kernels, dlk_isa isa, dlb_error *err)
{
    if (isa != DLK_ISA_AUTO && isa != DLK_ISA_SSE)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "kernels = ref are compiled for the baseline only, not for isa = %s; "
                        "use isa = auto or sse",
                        dlk_isa_name(isa));
    kernels->family = DLK_FAMILY_REF;
    kernels->isa = DLK_ISA_SSE;
    kernels->detail = "plain C for the baseline";
#define DLK_FILL(name, type) kernels->name = dlk_ref_##name;
    DLK_OPERATIONS(DLK_FILL)
#undef DLK_FILL
    return 0;
}
