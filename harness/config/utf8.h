/* UTF-8 as sweep files need it: is it valid, and how wide is it on a terminal. */
#ifndef DLB_CONFIG_UTF8_H
#define DLB_CONFIG_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * The bytes of the character at the start of `text`, of which `count` may be read, and its code;
 * 0 if there is no valid one: cut short, overlong, a surrogate, beyond U+10FFFF.
 */
size_t dlb_utf8_next(const char *text, size_t count, uint32_t *code);

/* Columns of a printable character: 0 (combining), 1, or 2 (East Asian, emoji). */
int dlb_utf8_width(uint32_t code);

#endif
