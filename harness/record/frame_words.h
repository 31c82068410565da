/* The different words of a column, numbered from 1 in the order of their first appearance. */
#ifndef DLB_RECORD_FRAME_WORDS_H
#define DLB_RECORD_FRAME_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A longer word is not taken, so that a place within a page fits into 32 bits. */
enum { DLB_WORD_MAX = 1000000, DLB_WORDS_PAGE = 4096 };

/* The texts of DLB_WORDS_PAGE words, each terminated, one after the other. */
typedef struct dlb_words_page {
    char *bytes;
    size_t length, capacity;
    uint32_t *starts;
    size_t starts_capacity;
} dlb_words_page;

typedef struct dlb_words_slot {
    uint32_t hash, code; /* code 0: free */
} dlb_words_slot;

/* Valid when zeroed. */
typedef struct dlb_words {
    dlb_words_page *pages;
    size_t page_capacity;
    uint32_t count;
    dlb_words_slot *slots; /* a power of two of them; NULL once sealed */
    size_t slot_count;
    uint32_t last; /* what was asked for last is often asked for next */
    const char *last_text;
    size_t last_length;
} dlb_words;

void dlb_words_release(dlb_words *words);

/* The word's number, which is new if the word is; 0 for the empty word. */
uint32_t dlb_words_code(dlb_words *words, const char *text, size_t length);

/* Have the memory that looking up this word will need be fetched meanwhile. */
void dlb_words_expect(const dlb_words *words, const char *text, size_t length);

/* Give back what only dlb_words_code needs, which must not be called again. */
void dlb_words_seal(dlb_words *words);

/* "" for 0. */
const char *dlb_words_text(const dlb_words *words, uint32_t code);

#endif
