#include "config/utf8.h"

/* Bytes that a first byte announces, 0 if it cannot be one; *code receives its share of the bits.
 */
static size_t announced(unsigned char first, uint32_t *code)
{
    if (first < 0x80) {
        *code = first;
        return 1;
    }
    if (first >= 0xc2 && first <= 0xdf) {
        *code = first & 0x1f;
        return 2;
    }
    if ((first & 0xf0) == 0xe0) {
        *code = first & 0x0f;
        return 3;
    }
    *code = first & 0x07;
    return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

size_t dlb_utf8_next(const char *text, size_t count, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t bytes = count ? announced((unsigned char)*text, code) : 0;
    if (bytes == 0 || bytes > count)
        return 0;
    for (size_t i = 1; i < bytes; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | ((unsigned char)text[i] & 0x3f);
    }
    if (*code < least[bytes] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
        return 0;
    return bytes;
}

int dlb_utf8_width(uint32_t code)
{
    static const struct {
        uint32_t first, last;
        int width;
    } ranges[] = {
        {0x0300, 0x036f, 0}, {0x1100, 0x115f, 2},   {0x200b, 0x200f, 0},   {0x20d0, 0x20ff, 0},
        {0x2e80, 0x303e, 2}, {0x3041, 0xa4cf, 2},   {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},
        {0xfe00, 0xfe0f, 0}, {0xfe20, 0xfe2f, 0},   {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},
        {0xffe0, 0xffe6, 2}, {0x1f300, 0x1faff, 2}, {0x20000, 0x3fffd, 2},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return ranges[i].width;
    return 1;
}
