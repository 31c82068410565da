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

Test(text, metrics_have_four_decimals_unless_they_are_huge)
{
    cr_assert_str_eq(dlb_text_metric(0.98765).text, "0.9877");
    cr_assert_str_eq(dlb_text_metric(2.302585).text, "2.3026");
    cr_assert_str_eq(dlb_text_metric(123456).text, "1.23e+05");
}

Test(text, characters_are_counted_and_cut_whole)
{
    char text[] = "28 × 28";
    cr_assert_eq(dlb_text_columns(text), 7);
    dlb_text_cut(text, 7);
    cr_assert_str_eq(text, "28 × 28");
    dlb_text_cut(text, 4);
    cr_assert_str_eq(text, "28 ×");
    dlb_text_cut(text, 0);
    cr_assert_str_eq(text, "");
}
