#include "cli/text.h"

#include <math.h>
#include <stdbool.h>

dlb_text dlb_text_count(double number)
{
    char digits[DLB_TEXT_SIZE];
    int length = snprintf(digits, sizeof digits, "%.0f", number);
    dlb_text out;
    size_t used = 0;
    for (int i = 0; i < length && used + 2 < sizeof out.text; i++) {
        if (i && (length - i) % 3 == 0 && digits[i - 1] != '-')
            out.text[used++] = ',';
        out.text[used++] = digits[i];
    }
    out.text[used] = '\0';
    return out;
}

dlb_text dlb_text_si(double number)
{
    static const char *const prefixes[] = {"", " k", " M", " G", " T"};
    int prefix = 0;
    while (fabs(number) >= 999.5 && prefix < 4) {
        number /= 1000;
        prefix++;
    }
    dlb_text out;
    int decimals = prefix == 0 ? 0 : number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
    snprintf(out.text, sizeof out.text, "%.*f%s", decimals, number, prefixes[prefix]);
    return out;
}

dlb_text dlb_text_seconds(double seconds)
{
    dlb_text out;
    long whole = lround(seconds);
    if (seconds < 59.95)
        snprintf(out.text, sizeof out.text, "%.1f s", seconds);
    else if (whole < 3600)
        snprintf(out.text, sizeof out.text, "%ld:%02ld", whole / 60, whole % 60);
    else
        snprintf(out.text, sizeof out.text, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60,
                 whole % 60);
    return out;
}

dlb_text dlb_text_metric(double number)
{
    dlb_text out;
    snprintf(out.text, sizeof out.text, fabs(number) < 1000 ? "%.4f" : "%.2e", number);
    return out;
}

static bool begins_character(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

int dlb_text_columns(const char *text)
{
    int columns = 0;
    for (; *text; text++)
        columns += begins_character(*text);
    return columns;
}

void dlb_text_cut(char *text, int columns)
{
    for (; *text; text++) {
        if (begins_character(*text) && columns-- <= 0) {
            *text = '\0';
            return;
        }
    }
}
