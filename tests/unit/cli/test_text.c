#include <criterion/criterion.h>

#include "cli/text.h"

Test(text, counts_are_grouped_by_thousands)
{
    cr_assert_str_eq(dlb_text_count(0).text, "0");
    cr_assert_str_eq(dlb_text_count(999).text, "999");
    cr_assert_str_eq(dlb_text_count(1199882).text, "1,199,882");
    cr_assert_str_eq(dlb_text_count(-1000).text, "-1,000");
    cr_assert_str_eq(dlb_text_count(-100).text, "-100");
}

Test(text, prefixes_keep_three_digits)
{
    cr_assert_str_eq(dlb_text_si(512).text, "512");
    cr_assert_str_eq(dlb_text_si(21233664).text, "21.2 M");
    cr_assert_str_eq(dlb_text_si(999600).text, "1.00 M");
}

Test(text, seconds_read_as_a_clock_from_a_minute_on)
{
    cr_assert_str_eq(dlb_text_seconds(7.31).text, "7.3 s");
    cr_assert_str_eq(dlb_text_seconds(59.96).text, "1:00");
    cr_assert_str_eq(dlb_text_seconds(185).text, "3:05");
    cr_assert_str_eq(dlb_text_seconds(3723).text, "1:02:03");
}
