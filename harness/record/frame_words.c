#include "record/frame_words.h"

#include "base/hash.h"
#include "base/mem.h"

static size_t page_count(const dlb_word_codes *words)
{
    return ((size_t)words->count + DLB_WORD_PAGE - 1) / DLB_WORD_PAGE;
}

void dlb_word_codes_release(dlb_word_codes *words)
{
    for (size_t i = 0; i < page_count(words); i++) {
        free(words->pages[i].bytes);
        free(words->pages[i].starts);
    }
    free(words->pages);
    free(words->slots);
    *words = (dlb_word_codes){0};
}

void dlb_word_codes_seal(dlb_word_codes *words)
{
    free(words->slots);
    words->slots = NULL;
    words->slot_count = 0;
}

const char *dlb_word_codes_text(const dlb_word_codes *words, uint32_t code)
{
    if (code == 0)
        return "";
    const dlb_word_page *page = &words->pages[(code - 1) / DLB_WORD_PAGE];
    return page->bytes + page->starts[(code - 1) % DLB_WORD_PAGE];
}

static bool is_word(const dlb_word_codes *words, uint32_t code, const char *text, size_t length)
{
    const dlb_word_page *page = &words->pages[(code - 1) / DLB_WORD_PAGE];
    size_t index = (code - 1) % DLB_WORD_PAGE;
    bool last = code == words->count || index + 1 == DLB_WORD_PAGE;
    size_t start = page->starts[index], end = last ? page->length : page->starts[index + 1];
    return end - start == length + 1 && memcmp(page->bytes + start, text, length) == 0;
}

static dlb_word_slot *free_slot(dlb_word_codes *words, uint32_t hash)
{
    size_t mask = words->slot_count - 1, at = hash & mask;
    while (words->slots[at].code)
        at = (at + 1) & mask;
    return &words->slots[at];
}

/* At most half of the slots are taken. */
static void make_slots(dlb_word_codes *words)
{
    if (2 * ((size_t)words->count + 1) <= words->slot_count)
        return;
    dlb_word_slot *old = words->slots;
    size_t old_count = words->slot_count;
    words->slot_count = old_count ? 2 * old_count : 16;
    words->slots = dlb_alloc(words->slot_count, sizeof *words->slots);
    for (size_t i = 0; i < old_count; i++)
        if (old[i].code)
            *free_slot(words, old[i].hash) = old[i];
    free(old);
}

/* A page that is full keeps no more memory than its texts need. */
static void trim(dlb_word_page *page)
{
    char *bytes = realloc(page->bytes, page->length);
    if (bytes)
        page->bytes = bytes;
    page->capacity = page->length;
}

static uint32_t add_word(dlb_word_codes *words, const char *text, size_t length)
{
    size_t page_index = words->count / DLB_WORD_PAGE, index = words->count % DLB_WORD_PAGE;
    words->pages =
        dlb_grow(words->pages, &words->page_capacity, page_index + 1, sizeof *words->pages);
    if (index == 0 && page_index > 0)
        trim(&words->pages[page_index - 1]);
    dlb_word_page *page = &words->pages[page_index];
    page->starts = dlb_grow(page->starts, &page->starts_capacity, index + 1, sizeof *page->starts);
    page->bytes = dlb_grow(page->bytes, &page->capacity, page->length + length + 1, 1);
    page->starts[index] = (uint32_t)page->length;
    memcpy(page->bytes + page->length, text, length);
    page->bytes[page->length + length] = '\0';
    page->length += length + 1;
    return ++words->count;
}

static uint32_t find_or_add(dlb_word_codes *words, const char *text, size_t length)
{
    uint32_t hash = (uint32_t)dlb_hash(text, length);
    make_slots(words);
    size_t mask = words->slot_count - 1, at = hash & mask;
    for (; words->slots[at].code; at = (at + 1) & mask)
        if (words->slots[at].hash == hash && is_word(words, words->slots[at].code, text, length))
            return words->slots[at].code;
    words->slots[at] = (dlb_word_slot){hash, add_word(words, text, length)};
    return words->count;
}

uint32_t dlb_word_codes_of(dlb_word_codes *words, const char *text, size_t length)
{
    if (length == 0)
        return 0;
    if (length == words->last_length && memcmp(text, words->last_text, length) == 0)
        return words->last;
    words->last = find_or_add(words, text, length);
    words->last_text = dlb_word_codes_text(words, words->last);
    words->last_length = length;
    return words->last;
}

void dlb_word_codes_expect(const dlb_word_codes *words, const char *text, size_t length)
{
    enum { NEAR = 4096 }; /* slots that the cache has anyway */
    if (words->slot_count > NEAR)
        __builtin_prefetch(&words->slots[dlb_hash(text, length) & (words->slot_count - 1)]);
}
