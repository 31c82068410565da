/* Names and numbers as expressions have them: for expr_parse.c. */
#ifndef DLB_CONFIG_EXPR_TOKEN_H
#define DLB_CONFIG_EXPR_TOKEN_H

#include "config/expr.h"

/* Bytes of the name at the start of `text`: words joined by dots, without the ".." of a range. */
size_t dlb_name_length(const char *text);

/* Whether a name may have this character, if not at its start. */
bool dlb_continues_name(char c);

/* Whether the `length` bytes at `text` are that word. */
bool dlb_is_word(const char *text, size_t length, const char *word);

/* Bytes of the number at the start of `text`, minus, fraction and exponent included. */
size_t dlb_number_length(const char *text);

/* Its value: an integer without fraction and exponent, else a real. False if it is too large. */
bool dlb_number_value(const char *text, size_t length, dlb_scalar *value);

#endif
