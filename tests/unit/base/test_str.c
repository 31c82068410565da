#include <float.h>
#include <math.h>
#include <stdint.h>

#include <criterion/criterion.h>

#include "base/str.h"

Test(str, appending_builds_terminated_text)
{
    dlb_str s = DLB_STR_INIT;
    dlb_str_add(&s, "a");
    dlb_str_addf(&s, "%d-%s", 12, "b");
    dlb_str_add_bytes(&s, "cdef", 2);
    cr_assert_str_eq(s.text, "a12-bcd");
    cr_assert_eq(s.length, 7);
    dlb_str_release(&s);
    cr_assert_null(s.text);
}

Test(str, an_empty_append_makes_text)
{
    dlb_str s = DLB_STR_INIT;
    dlb_str_add(&s, "");
    cr_assert_str_eq(s.text, "");
    dlb_str_release(&s);
}

Test(str, grows_beyond_any_first_size)
{
    dlb_str s = DLB_STR_INIT;
    for (int i = 0; i < 10000; i++)
        dlb_str_addf(&s, "%d", i % 10);
    cr_assert_eq(s.length, 10000);
    cr_assert_eq(strlen(s.text), 10000);
    cr_assert_eq(s.text[9999], '9');
    dlb_str_release(&s);
}

Test(str, clear_keeps_the_string_usable)
{
    dlb_str s = DLB_STR_INIT;
    dlb_str_clear(&s);
    dlb_str_add(&s, "first");
    dlb_str_clear(&s);
    cr_assert_str_eq(s.text, "");
    dlb_str_add(&s, "second");
    cr_assert_str_eq(s.text, "second");
    dlb_str_release(&s);
}

Test(parse, integers_are_read_whole)
{
    long long value;
    cr_assert(dlb_parse_int("42", &value));
    cr_assert_eq(value, 42);
    cr_assert(dlb_parse_int("-9223372036854775808", &value));
    cr_assert_eq(value, INT64_MIN);
}

Test(parse, what_is_no_integer_is_refused_and_changes_nothing)
{
    const char *const wrong[] = {
        "", " ", " 1", "1 ", "1.0", "1e3", "0x1", "twelve", "-", "\n7", "9223372036854775808"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        long long value = 7;
        cr_assert_not(dlb_parse_int(wrong[i], &value), "'%s'", wrong[i]);
        cr_assert_eq(value, 7);
    }
}

Test(parse, reals_are_read_whole)
{
    double value;
    cr_assert(dlb_parse_real("0.1", &value));
    cr_assert_eq(value, 0.1);
    cr_assert(dlb_parse_real("-1e-7", &value));
    cr_assert_eq(value, -1e-7);
    cr_assert(dlb_parse_real("5e-324", &value), "the smallest double is no overflow");
    cr_assert_gt(value, 0);
}

Test(parse, what_is_no_real_is_refused_and_changes_nothing)
{
    const char *const wrong[] = {"", " 1", "1 ", "0,1", "1..2", "1e", "1e999", "-1e999", "lr"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        double value = 7;
        cr_assert_not(dlb_parse_real(wrong[i], &value), "'%s'", wrong[i]);
        cr_assert_eq(value, 7);
    }
}

Test(format, reals_are_as_short_as_they_can_be)
{
    const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},         {5, "5"},        {0.1, "0.1"},
                 {0.001, "0.001"}, {1e-7, "1e-07"}, {1.0 / 3, "0.3333333333333333"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        dlb_format_real(cases[i].value, text, sizeof text);
        cr_assert_str_eq(text, cases[i].text);
    }
}

/* The bits of an index, scattered: a double of any magnitude. */
static double scattered(uint64_t index)
{
    uint64_t bits = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

Test(format, every_real_reads_back_as_itself)
{
    char text[32];
    for (uint64_t i = 0; i < 20000; i++) {
        double value = scattered(i), back;
        if (!isfinite(value))
            continue;
        dlb_format_real(value, text, sizeof text);
        cr_assert(dlb_parse_real(text, &back), "%s", text);
        cr_assert_eq(memcmp(&back, &value, sizeof value), 0, "%s", text);
    }
    const double extremes[] = {DBL_MAX, -DBL_MAX, DBL_MIN, DBL_TRUE_MIN, DBL_EPSILON};
    for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++) {
        double back;
        dlb_format_real(extremes[i], text, sizeof text);
        cr_assert(dlb_parse_real(text, &back) && back == extremes[i], "%s", text);
    }
}

static const char *const words[] = {"epochs", "batch", "optimizer", "intra-op", "inter-op"};

static const char *closest(const char *word)
{
    return dlb_closest(word, words, sizeof words / sizeof *words);
}

Test(closest, a_slip_of_the_hand_is_understood)
{
    cr_assert_str_eq(closest("epocs"), "epochs");
    cr_assert_str_eq(closest("epoch"), "epochs");
    cr_assert_str_eq(closest("optimiser"), "optimizer");
    cr_assert_str_eq(closest("inter-po"), "inter-op");
}

Test(closest, the_nearest_of_several_wins)
{
    cr_assert_str_eq(closest("intre-op"), "intra-op");
    cr_assert_str_eq(closest("inter-op"), "inter-op");
}

Test(closest, another_word_is_not_guessed_at)
{
    cr_assert_null(closest("learning-rate"));
    cr_assert_null(closest(""));
    cr_assert_null(dlb_closest("epochs", words, 0));
}

Test(closest, a_very_long_word_is_close_to_none)
{
    char word[1000];
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    cr_assert_null(closest(word));
}
