/*
 * Command words of a sweep file: separated by blanks, "a b" is one word, and so is what stands in
 * braces. Quotes are taken off; braces stay as they are, doubled ones included.
 */
#ifndef DLB_CONFIG_STUDY_WORDS_H
#define DLB_CONFIG_STUDY_WORDS_H

#include "config/study.h"

/* The words of an entry's value from byte `offset` on; NULL after an error, such as no word. */
dlb_words dlb_words_split(const dlb_ini_entry *entry, size_t offset, dlb_error *err);
void dlb_words_free(dlb_words words);

/* A copy of the text without the quotes around the whole of it, if there are; free() it. */
char *dlb_words_unquote(const char *text);

/* Letters, digits and _, no digit first: the name of a metric, a variable or a parameter. */
bool dlb_is_identifier(const char *text);

#endif
