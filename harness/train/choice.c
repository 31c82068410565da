#include "train/choice.h"

#include <string.h>

/* By name, so that a new choice in keys.def needs no word here. */
static dlk_family chosen_family(const dlb_workload *w)
{
    const char *name = dlb_key_info(DLB_KEY_kernels)->choices[w->kernels];
    dlk_family family = DLK_FAMILY_AUTO;
    while (strcmp(dlk_family_name(family), name) != 0)
        family++;
    return family;
}

static dlk_isa chosen_isa(const dlb_workload *w)
{
    const char *name = dlb_key_info(DLB_KEY_isa)->choices[w->isa];
    dlk_isa isa = DLK_ISA_AUTO;
    while (strcmp(dlk_isa_name(isa), name) != 0)
        isa++;
    return isa;
}

int dlb_choose_kernels(dlk_kernels *kernels, const dlb_workload *workload, dlb_error *err)
{
    return dlk_kernels_select(kernels, chosen_family(workload), chosen_isa(workload), err);
}
