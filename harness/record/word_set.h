/* Texts, each kept once. Equal texts have equal addresses, which are good as long as the set is. */
#ifndef DLB_RECORD_WORD_SET_H
#define DLB_RECORD_WORD_SET_H

#include <stddef.h>

/* Valid when zeroed. */
typedef struct dlb_word_set {
    const char **slots; /* a hash table, half of it empty */
    size_t slot_count, count;
    struct dlb_word_block *blocks;
} dlb_word_set;

void dlb_word_set_release(dlb_word_set *names);

/* The set's copy of the text, which need not be terminated. */
const char *dlb_word_set_add(dlb_word_set *names, const char *text, size_t length);

/* The same, or NULL if the text is not in the set. */
const char *dlb_word_set_find(const dlb_word_set *names, const char *text, size_t length);

#endif
