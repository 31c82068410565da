#include "base/str.h"

#include <errno.h>
#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>

#include "base/mem.h"

static void reserve(dlb_str *s, size_t extra)
{
    s->text = dlb_grow(s->text, &s->capacity, s->length + extra + 1, 1);
}

void dlb_str_add_bytes(dlb_str *s, const char *bytes, size_t count)
{
    reserve(s, count);
    memcpy(s->text + s->length, bytes, count);
    s->length += count;
    s->text[s->length] = '\0';
}

void dlb_str_add(dlb_str *s, const char *text)
{
    dlb_str_add_bytes(s, text, strlen(text));
}

void dlb_str_addf(dlb_str *s, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int count = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (count > 0) {
        reserve(s, (size_t)count);
        vsnprintf(s->text + s->length, (size_t)count + 1, format, again);
        s->length += (size_t)count;
    }
    va_end(again);
}

void dlb_str_clear(dlb_str *s)
{
    s->length = 0;
    if (s->text)
        s->text[0] = '\0';
}

void dlb_str_release(dlb_str *s)
{
    free(s->text);
    *s = (dlb_str)DLB_STR_INIT;
}

/* Numbers have a decimal point, whatever locale the program that links us has set. */
static locale_t plain_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

bool dlb_parse_int(const char *text, long long *value)
{
    char *end;
    errno = 0;
    long long parsed = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno == ERANGE || strchr(" \t\n\v\f\r", *text))
        return false;
    *value = parsed;
    return true;
}

bool dlb_parse_real(const char *text, double *value)
{
    char *end;
    locale_t plain = plain_locale();
    errno = 0;
    double parsed = strtod_l(text, &end, plain);
    freelocale(plain);
    bool overflow = errno == ERANGE && (parsed > 1 || parsed < -1);
    if (end == text || *end != '\0' || overflow || strchr(" \t\n\v\f\r", *text))
        return false;
    *value = parsed;
    return true;
}

void dlb_format_real(double value, char *buffer, size_t size)
{
    /* Of 15 digits %g drops those that are not needed; only tiny numbers have fewer that count. */
    int enough = fabs(value) < DBL_MIN ? 6 : DBL_DIG;
    locale_t plain = plain_locale(), callers = uselocale(plain);
    for (int digits = enough; digits <= DBL_DECIMAL_DIG; digits++) {
        snprintf(buffer, size, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value)
            break;
    }
    uselocale(callers);
    freelocale(plain);
}

/* Levenshtein distance; words of more than MAX_WORD characters are close to none. */
enum { MAX_WORD = 63 };

static int distance(const char *a, const char *b)
{
    size_t rows = strlen(a), columns = strlen(b);
    if (rows > MAX_WORD || columns > MAX_WORD)
        return INT_MAX;
    int cost[MAX_WORD + 1];
    for (size_t j = 0; j <= columns; j++)
        cost[j] = (int)j;
    for (size_t i = 1; i <= rows; i++) {
        int diagonal = cost[0];
        cost[0] = (int)i;
        for (size_t j = 1; j <= columns; j++) {
            int best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = cost[j];
            if (cost[j] + 1 < best)
                best = cost[j] + 1;
            if (cost[j - 1] + 1 < best)
                best = cost[j - 1] + 1;
            cost[j] = best;
        }
    }
    return cost[columns];
}

const char *dlb_closest(const char *word, const char *const *candidates, size_t count)
{
    const char *closest = NULL;
    int limit = 1 + (int)strlen(word) / 4;
    for (size_t i = 0; i < count; i++) {
        int d = distance(word, candidates[i]);
        if (d <= limit) {
            limit = d - 1;
            closest = candidates[i];
        }
    }
    return closest;
}
