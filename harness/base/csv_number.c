#include "base/csv_number.h"

#include <math.h>
#include <stdint.h>
#include <strings.h>

#include "base/str.h"

__extension__ typedef unsigned __int128 wide;

enum { MAX_DIGITS = 19 }; /* that surely fit into 64 bits */

/* (-1)^negative * digits * 10^exponent, if there are no more than MAX_DIGITS after leading zeros.
 */
typedef struct decimal {
    uint64_t digits;
    size_t digit_count;
    int exponent;
    bool negative;
} decimal;

/* What is left of the text. */
typedef struct rest {
    const char *at, *end;
} rest;

static bool at_digit(const rest *text)
{
    return text->at < text->end && *text->at >= '0' && *text->at <= '9';
}

static bool skip(rest *text, char a, char b)
{
    bool there = text->at < text->end && (*text->at == a || *text->at == b);
    text->at += there;
    return there;
}

/*
 * The value of eight digits, all at once: the first byte is the lowest and the highest of them.
 * Pairs, then fours, then all are joined by one multiplication each. False if they are not digits.
 */
static bool eight_digits(const char *c, uint64_t *value)
{
    uint64_t word;
    memcpy(&word, c, sizeof word);
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        word = __builtin_bswap64(word);
    uint64_t carried = word + 0x4646464646464646u; /* sets the high bit above '9' */
    word -= 0x3030303030303030u;                   /* and this one below '0' */
    if ((carried | word) & 0x8080808080808080u)
        return false;
    word = (word * 10 + (word >> 8)) & 0x00ff00ff00ff00ffu;
    word = (word * 100 + (word >> 16)) & 0x0000ffff0000ffffu;
    *value = (word * 10000 + (word >> 32)) & 0xffffffffu;
    return true;
}

/* Append a run of digits; those beyond MAX_DIGITS are counted only. */
static void scan_digits(rest *text, decimal *number)
{
    while (number->digits == 0 && text->at < text->end && *text->at == '0')
        text->at++;
    const char *start = text->at;
    uint64_t eight;
    while (text->end - text->at >= 8 && eight_digits(text->at, &eight)) {
        number->digits = number->digits * 100000000 + eight;
        text->at += 8;
    }
    for (; at_digit(text); text->at++)
        number->digits = number->digits * 10 + (uint64_t)(*text->at - '0');
    number->digit_count += (size_t)(text->at - start);
}

/* The digits before and after the point; false if there are none. */
static bool scan_mantissa(rest *text, decimal *number)
{
    const char *start = text->at;
    scan_digits(text, number);
    bool any = text->at > start;
    if (!skip(text, '.', '.'))
        return any;
    const char *fraction = text->at;
    scan_digits(text, number);
    number->exponent = (int)(fraction - text->at);
    return any || number->exponent < 0;
}

/* False if there is an exponent without digits. */
static bool scan_exponent(rest *text, decimal *number)
{
    enum { MAX_EXPONENT = 999 }; /* beyond is as good as out of reach */
    if (!skip(text, 'e', 'E'))
        return true;
    bool negative = skip(text, '-', '-');
    if (!negative)
        skip(text, '+', '+');
    const char *start = text->at;
    decimal power = {0};
    scan_digits(text, &power);
    bool far = power.digit_count > MAX_DIGITS || power.digits > MAX_EXPONENT;
    int size = far ? MAX_EXPONENT : (int)power.digits;
    number->exponent += negative ? -size : size;
    return text->at > start;
}

/* Whether the whole text is a decimal number. */
static bool scan(rest text, decimal *number)
{
    *number = (decimal){.negative = skip(&text, '-', '-')};
    if (!number->negative)
        skip(&text, '+', '+');
    return scan_mantissa(&text, number) && scan_exponent(&text, number) && text.at == text.end;
}

static double power_of_two(int exponent)
{
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* 5^27 is the last that fits. */
static const uint64_t powers_of_five[] = {1u,
                                          5u,
                                          25u,
                                          125u,
                                          625u,
                                          3125u,
                                          15625u,
                                          78125u,
                                          390625u,
                                          1953125u,
                                          9765625u,
                                          48828125u,
                                          244140625u,
                                          1220703125u,
                                          6103515625u,
                                          30517578125u,
                                          152587890625u,
                                          762939453125u,
                                          3814697265625u,
                                          19073486328125u,
                                          95367431640625u,
                                          476837158203125u,
                                          2384185791015625u,
                                          11920928955078125u,
                                          59604644775390625u,
                                          298023223876953125u,
                                          1490116119384765625u,
                                          7450580596923828125u};

/* Both factors are exact, so that what is rounded is the result alone: the way of W. D. Clinger. */
static double scaled(uint64_t digits, int exponent)
{
    double whole = (double)(int64_t)digits;
    int size = abs(exponent);
    double power = (double)(int64_t)powers_of_five[size] * power_of_two(size);
    return exponent < 0 ? whole / power : whole * power;
}

/* digits * 10^power; 0 < digits, 0 <= power <= 27. Bits that are cut off leave one that is set. */
static double multiplied(uint64_t digits, int power)
{
    wide product = (wide)digits * powers_of_five[power];
    uint64_t high = (uint64_t)(product >> 63);
    int cut = high ? 64 - __builtin_clzll(high) : 0;
    uint64_t kept = (uint64_t)(product >> cut) | ((product & (((wide)1 << cut) - 1)) != 0);
    return (double)(int64_t)kept * power_of_two(cut + power);
}

/* digits / 10^power; likewise. The quotient has 62 bits or 63, nine more than a double keeps. */
static double divided(uint64_t digits, int power)
{
    uint64_t divisor = powers_of_five[power];
    int up = __builtin_clzll(digits), down = __builtin_clzll(divisor);
    wide dividend = (wide)(digits << up) << 62;
    divisor <<= down;
    uint64_t quotient = (uint64_t)(dividend / divisor);
    quotient |= (wide)quotient * divisor != dividend;
    return (double)(int64_t)quotient * power_of_two(down - up - 62 - power);
}

/* False where these ways do not reach. */
static bool convert(const decimal *number, double *value)
{
    enum { EXACT_POWER = 22, LAST = sizeof powers_of_five / sizeof *powers_of_five - 1 };
    int size = abs(number->exponent);
    double result;
    if (number->digit_count > MAX_DIGITS || size > LAST)
        return false;
    if (number->digits <= (uint64_t)1 << 53 && size <= EXACT_POWER)
        result = scaled(number->digits, number->exponent);
    else if (number->digits == 0)
        result = 0;
    else
        result =
            number->exponent < 0 ? divided(number->digits, size) : multiplied(number->digits, size);
    *value = number->negative ? -result : result;
    return true;
}

static bool says_missing(const char *text)
{
    static const char *const words[] = {"nan", "na", "inf", "infinity"};
    if (*text == '\0')
        return true;
    text += *text == '-' || *text == '+';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i]) == 0)
            return true;
    return false;
}

bool dlb_csv_number(const char *text, size_t length, double *value)
{
    decimal number;
    if (scan((rest){text, text + length}, &number))
        return convert(&number, value) || dlb_parse_real(text, value);
    *value = NAN;
    return strlen(text) == length && says_missing(text);
}
