#include "config/expr_token.h"

static const char digits[] = "0123456789";

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool dlb_continues_name(char c)
{
    return begins_name(c) || is_digit(c);
}

size_t dlb_name_length(const char *text)
{
    if (!begins_name(*text))
        return 0;
    size_t length = 1;
    while (dlb_continues_name(text[length]) ||
           (text[length] == '.' && dlb_continues_name(text[length + 1])))
        length++;
    return length;
}

bool dlb_is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static size_t exponent_length(const char *text)
{
    if (*text != 'e' && *text != 'E')
        return 0;
    size_t sign = text[1] == '+' || text[1] == '-';
    size_t exponent = strspn(text + 1 + sign, digits);
    return exponent ? 1 + sign + exponent : 0;
}

size_t dlb_number_length(const char *text)
{
    size_t sign = *text == '-', length = sign + strspn(text + sign, digits);
    if (text[length] == '.' && is_digit(text[length + 1]))
        length += 1 + strspn(text + length + 1, digits);
    return length == sign ? 0 : length + exponent_length(text + length);
}

bool dlb_number_value(const char *text, size_t length, dlb_scalar *value)
{
    dlb_str copy = DLB_STR_INIT;
    long long integer;
    bool valid;
    dlb_str_add_bytes(&copy, text, length);
    if (strcspn(copy.text, ".eE") < length) {
        value->kind = DLB_SCALAR_REAL;
        valid = dlb_parse_real(copy.text, &value->real);
    } else if ((valid = dlb_parse_int(copy.text, &integer))) {
        *value = (dlb_scalar){DLB_SCALAR_INT, {.integer = integer}};
    }
    dlb_str_release(&copy);
    return valid;
}
