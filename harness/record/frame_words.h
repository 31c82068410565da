/* The different words of a column, numbered from 1 in the order of their first appearance. */
#ifndef DLB_RECORD_FRAME_WORDS_H
#define DLB_RECORD_FRAME_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A longer word is not taken, so that a place within a page fits into 32 bits. */
enum { DLB_WORD_MAX = 1000000, DLB_WORD_PAGE = 4096 };

/* The texts of DLB_WORD_PAGE words, each terminated, one after the other. */
typedef struct dlb_word_page {
    char *bytes;
    size_t length, capacity;
    uint32_t *starts;
    size_t starts_capacity;
} dlb_word_page;

typedef struct dlb_word_slot {
    uint32_t hash, code; /* code 0: free */
} dlb_word_slot;

/* Valid when zeroed. */
typedef struct dlb_word_codes {
    dlb_word_page *pages;
    size_t page_capacity;
    uint32_t count;
    dlb_word_slot *slots; /* a power of two of them; NULL once sealed */
    size_t slot_count;
    uint32_t last; /* what was asked for last is often asked for next */
    const char *last_text;
    size_t last_length;
} dlb_word_codes;

void dlb_word_codes_release(dlb_word_codes *words);

/* The word's number, which is new if the word is; 0 for the empty word. */
uint32_t dlb_word_codes_of(dlb_word_codes *words, const char *text, size_t length);

/* Have the memory that looking up this word will need be fetched meanwhile. */
void dlb_word_codes_expect(const dlb_word_codes *words, const char *text, size_t length);

/* Give back what only dlb_word_codes_of needs, which must not be called again. */
void dlb_word_codes_seal(dlb_word_codes *words);

/* "" for 0. */
const char *dlb_word_codes_text(const dlb_word_codes *words, uint32_t code);

#endif
