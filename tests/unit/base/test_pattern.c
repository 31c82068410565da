#include <criterion/criterion.h>

#include "base/pattern.h"

static void assert_finds(const char *pattern, const char *line, const char *expected)
{
    regex_t regex;
    dlb_error err;
    dlb_str value = DLB_STR_INIT;
    cr_assert_eq(dlb_pattern_compile(&regex, pattern, &err), 0, "%s", err.message);
    cr_assert_eq(dlb_pattern_find(&regex, line, &value), expected != NULL, "%s", pattern);
    if (expected)
        cr_assert_str_eq(value.text, expected);
    dlb_str_release(&value);
    regfree(&regex);
}

Test(pattern, the_first_group_is_the_value)
{
    assert_finds("loss: ([0-9.]+)", "epoch 3, loss: 0.25 (acc 1)", "0.25");
    assert_finds("t=(.) u=(.)", "t=1 u=2", "1");
    assert_finds("^(.*)$", "", "");
    assert_finds("a|(b)", "a", "");
    assert_finds("loss: ([0-9.]+)", "nothing", NULL);
}

Test(pattern, a_wrong_one_is_the_callers_mistake)
{
    dlb_error err;
    cr_assert_eq(dlb_pattern_check("loss ([0-9]+)", &err), 0);
    cr_assert_eq(dlb_pattern_check("loss ([0-9+", &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "no regular expression: "), "%s", err.message);
    cr_assert_eq(dlb_pattern_check("loss [0-9]+", &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "a group is missing"), "%s", err.message);
}
