#include "dlk/dispatch.h"

#include "family.h"

/*
 * Best first: AUTO takes the first that this machine can load. Each builds on those below it: what
 * a family does not do is left to the next.
 */
static const struct {
    dlk_family family;
    const char *name;
    dlk_family_fn *put;
} families[] = {
    {DLK_FAMILY_SIMD, "simd", dlk_simd_override},
    {DLK_FAMILY_BLAS, "blas", dlk_blas_override},
    {DLK_FAMILY_REF, "ref", dlk_ref_fill},
};

enum { FAMILIES = sizeof families / sizeof *families, LAST = FAMILIES - 1 };

static void note_origins(const dlk_kernels *before, dlk_kernels *after, dlk_family family)
{
#define DLK_NOTE(name, type)                                                                       \
    if (after->name != before->name)                                                               \
        after->origin[DLK_OP_##name] = family;
    DLK_OPERATIONS(DLK_NOTE)
#undef DLK_NOTE
}

/* Put a family over what the table has; on failure the table is as it was. */
static int put_over(dlk_kernels *kernels, int index, dlk_isa isa, dlb_error *err)
{
    dlk_kernels table = *kernels;
    int status = families[index].put(&table, isa, err);
    if (status != 0)
        return status;
    note_origins(kernels, &table, families[index].family);
    *kernels = table;
    return 0;
}

/* The reference first, so that no entry is ever empty; a family in between may be missing. */
static int fill(dlk_kernels *kernels, int index, dlk_isa isa, dlb_error *err)
{
    dlk_kernels table = {0};
    dlb_error missing;
    for (int below = LAST; below > index; below--)
        put_over(&table, below, below == LAST ? DLK_ISA_AUTO : isa, &missing);
    int status = put_over(&table, index, isa, err);
    if (status == 0)
        *kernels = table;
    return status;
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
        if (fill(kernels, i, isa, why) == 0)
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
