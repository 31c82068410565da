/*
 * A growing string, and exact parsing of numbers.
 *
 * A dlb_str is valid when zeroed (DLB_STR_INIT); `text` is then NULL until the first append and a
 * terminated string ever after. Release it with dlb_str_release.
 */
#ifndef DLB_BASE_STR_H
#define DLB_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>

typedef struct dlb_str {
    char *text;
    size_t length;
    size_t capacity;
} dlb_str;

#define DLB_STR_INIT                                                                               \
    {                                                                                              \
        NULL, 0, 0                                                                                 \
    }

void dlb_str_add(dlb_str *s, const char *text);
void dlb_str_add_bytes(dlb_str *s, const char *bytes, size_t count);
void dlb_str_addf(dlb_str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void dlb_str_clear(dlb_str *s);
void dlb_str_release(dlb_str *s);

/* The whole of `text` as a number; false on an empty text, trailing characters, or overflow. */
bool dlb_parse_int(const char *text, long long *value);
bool dlb_parse_real(const char *text, double *value);

/* Shortest decimal text that reads back as the same double; `size` >= 32. */
void dlb_format_real(double value, char *buffer, size_t size);

/* Of `count` candidates the one closest to `word`, or NULL when none is close ("did you mean"). */
const char *dlb_closest(const char *word, const char *const *candidates, size_t count);

#endif
