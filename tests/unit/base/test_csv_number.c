#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>

#include "base/csv_number.h"

static void assert_as_strtod(const char *text)
{
    double value = -1;
    cr_assert(dlb_csv_number(text, strlen(text), &value), "%s is refused", text);
    double expected = strtod(text, NULL);
    cr_assert(memcmp(&value, &expected, sizeof value) == 0, "%s is %.17g, not %.17g", text, value,
              expected);
}

Test(csv_number, is_what_strtod_says)
{
    const char *const texts[] = {
        "0",
        "-0",
        "1",
        "+1",
        "007",
        "1.",
        ".5",
        "-.5",
        "0.1",
        "1e3",
        "1E+3",
        "1e-3",
        "123456789012345678901234567890",
        "0.000000000000000000000000000001",
        "9007199254740993",
        "9007199254740992.5",
        "18446744073709551615",
        "18446744073709551616",
        "9999999999999999999",
        "0e999999999999999999999",
        "1e22",
        "1e23",
        "8.5e27",
        "1e28",
        "1e-22",
        "1e-27",
        "1e-28",
        "1.7976931348623157e308",
        "2.2250738585072014e-308",
        "4.9e-324",
        "1e-400",
        "0.30000000000000004",
        "45.449244472862915",
        "0.0010",
        "00000000000000000000000000001",
        "12345678",
        "123456789",
        "1234567.8",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_as_strtod(texts[i]);
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state ^ (*state >> 29);
}

/* Doubles of all sizes, shortest and longest; short decimals; digits with the point anywhere. */
Test(csv_number, is_what_strtod_says_for_random_numbers)
{
    uint64_t state = 1;
    for (int i = 0; i < 200000; i++) {
        char text[64];
        uint64_t bits = next_random(&state);
        double number;
        memcpy(&number, &bits, sizeof number);
        if (fabs(number) < 1e308) {
            snprintf(text, sizeof text, "%.*g", 1 + (int)(bits % 19), number);
            assert_as_strtod(text);
        }
        snprintf(text, sizeof text, "%.17g", (double)(bits >> 11) / 9007199254740992.0 * 1000);
        assert_as_strtod(text);
        snprintf(text, sizeof text, "%.*f", (int)(bits % 25), (double)(bits % 1000000007) / 997);
        assert_as_strtod(text);
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)(bits >> (bits % 40)),
                 (int)(bits % 61) - 30);
        assert_as_strtod(text);
    }
}

Test(csv_number, is_missing_where_the_text_says_so)
{
    const char *const texts[] = {"", "nan", "NaN", "-nan", "NA", "inf", "-Inf", "+INFINITY"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double value = 0;
        cr_assert(dlb_csv_number(texts[i], strlen(texts[i]), &value), "%s", texts[i]);
        cr_assert(isnan(value), "%s", texts[i]);
    }
}

Test(csv_number, refuses_other_texts)
{
    const char *const texts[] = {"x",         "-",        "+",   ".",     "e5",    "1e",
                                 "1e+",       "1.2.3",    "1,5", "0x1",   "12ab",  " 1",
                                 "1 ",        "nanx",     "--1", "1e5.0", "1e400", "-1e400",
                                 "12345678x", "1234567x", "yes"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double value;
        cr_assert_not(dlb_csv_number(texts[i], strlen(texts[i]), &value), "%s", texts[i]);
    }
    double value;
    cr_assert_not(dlb_csv_number("1\0002", 3, &value), "a NUL byte is no end");
    cr_assert_not(dlb_csv_number("\0", 1, &value), "a NUL byte is not missing");
}
