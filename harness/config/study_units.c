/* Times and percentages as people write them. */
#include <math.h>

#include "base/str.h"
#include "config/study.h"

/* The number before a suffix; false if there is none, or no number that is finite. */
static bool parse_before(const char *text, const char *suffix, double *value)
{
    char number[64];
    size_t length = strlen(text), extra = strlen(suffix);
    if (length < extra || length - extra >= sizeof number ||
        strcmp(text + length - extra, suffix) != 0)
        return false;
    memcpy(number, text, length - extra);
    number[length - extra] = '\0';
    return dlb_parse_real(number, value) && isfinite(*value);
}

bool dlb_duration_parse(const char *text, double *seconds)
{
    static const struct {
        const char *suffix;
        double seconds;
    } units[] = {{"", 1}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    double number;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (parse_before(text, units[i].suffix, &number) && number >= 0) {
            *seconds = number * units[i].seconds;
            return isfinite(*seconds);
        }
    }
    return false;
}

bool dlb_percentage_parse(const char *text, double *fraction)
{
    double number;
    bool percent = parse_before(text, "%", &number);
    if ((!percent && !parse_before(text, "", &number)) || number < 0)
        return false;
    *fraction = percent ? number / 100 : number;
    return true;
}
