#include <criterion/criterion.h>

#include "record/provenance.h"

Test(provenance, the_version_is_numbers_and_points)
{
    cr_assert_gt(strlen(dlb_version()), 0);
    cr_assert_eq(strspn(dlb_version(), "0123456789."), strlen(dlb_version()));
}

Test(provenance, the_commit_fits_a_table)
{
    cr_assert_gt(strlen(dlb_commit()), 0);
    cr_assert_null(strpbrk(dlb_commit(), ", \"\n"));
}

Test(provenance, the_compiler_is_named_with_its_version)
{
    int major;
    cr_assert_eq(sscanf(dlb_compiler(), "%*[a-z] %d.", &major), 1);
    cr_assert_gt(major, 0);
}
