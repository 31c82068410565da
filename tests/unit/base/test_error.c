#include <criterion/criterion.h>

#include "base/error.h"

Test(error, fail_fills_code_and_message)
{
    dlb_error err;
    cr_assert_eq(dlb_fail(&err, DLB_BAD_INPUT, "batch = %d", 0), DLB_BAD_INPUT);
    cr_assert_eq(err.code, DLB_BAD_INPUT);
    cr_assert_str_eq(err.message, "batch = 0");
}

Test(error, a_caller_without_interest_passes_null)
{
    cr_assert_eq(dlb_fail(NULL, DLB_DIVERGED, "loss"), DLB_DIVERGED);
    cr_assert_eq(dlb_error_prefix(NULL, "reading"), DLB_FAIL);
}

Test(error, prefix_keeps_the_code_and_puts_context_first)
{
    dlb_error err;
    dlb_fail(&err, DLB_BAD_INPUT, "no such file");
    cr_assert_eq(dlb_error_prefix(&err, "loading %s", "x.gz"), DLB_BAD_INPUT);
    cr_assert_str_eq(err.message, "loading x.gz: no such file");
}

Test(error, long_texts_are_cut_and_still_terminated)
{
    static char text[4000];
    memset(text, 'a', sizeof text - 1);
    dlb_error err;
    dlb_fail(&err, DLB_FAIL, "%s", text);
    dlb_error_prefix(&err, "%s", text);
    cr_assert_eq(strlen(err.message), sizeof err.message - 1);
}
