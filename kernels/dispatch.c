#include "dlk/dispatch.h"

#include "family.h"

/* Best first: AUTO takes the first that this machine can load. */
static const struct {
    dlk_family family;
    const char *name;
    dlk_family_fn *put;
} families[] = {
    {DLK_FAMILY_BLAS, "blas", dlk_blas_override},
    {DLK_FAMILY_REF, "ref", dlk_ref_fill},
};

enum { FAMILIES = sizeof families / sizeof *families };

/* The reference first, so that no entry is ever empty, then what the family does faster. */
static int fill(dlk_kernels *kernels, dlk_family_fn *put, dlk_isa isa, dlb_error *err)
{
    dlk_kernels table;
    if (dlk_ref_fill(&table, DLK_ISA_AUTO, err) != 0 || put(&table, isa, err) != 0)
        return err->code;
    *kernels = table;
    return 0;
}

int dlk_kernels_select(dlk_kernels *kernels, dlk_family family, dlk_isa isa, dlb_error *err)
{
    dlk_isa best = dlk_isa_best();
    if (isa > best)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "isa = %s is not what this machine has: at best %s; use isa = auto",
                        dlk_isa_name(isa), dlk_isa_name(best));

    /* If all of AUTO fail, the best family's reason is the one to act on. */
    dlb_error first, next, *why = &first;
    for (int i = 0; i < FAMILIES; i++) {
        if (family != DLK_FAMILY_AUTO && family != families[i].family)
            continue;
        if (fill(kernels, families[i].put, isa, why) == 0)
            return 0;
        why = &next;
    }
    if (why == &first)
        return dlb_fail(err, DLB_BAD_INPUT, "there is no family %d of kernels", (int)family);
    return dlb_fail(err, first.code, "%s", first.message);
}

const char *dlk_family_name(dlk_family family)
{
    for (int i = 0; i < FAMILIES; i++)
        if (families[i].family == family)
            return families[i].name;
    return family == DLK_FAMILY_AUTO ? "auto" : "unknown";
}
