#include "record/word_set.h"

#include <stdbool.h>

#include "base/hash.h"
#include "base/mem.h"

enum { BLOCK_BYTES = 1 << 16, FIRST_SLOTS = 64 };

struct dlb_word_block {
    struct dlb_word_block *next;
    size_t used, size;
    char bytes[];
};

void dlb_word_set_release(dlb_word_set *names)
{
    for (struct dlb_word_block *block = names->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(names->slots);
    *names = (dlb_word_set){0};
}

static bool is(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

/* The slot that has the text, or the empty one where it belongs. */
static const char **slot_of(const dlb_word_set *names, const char *text, size_t length)
{
    size_t mask = names->slot_count - 1, i = dlb_hash(text, length) & mask;
    while (names->slots[i] && !is(names->slots[i], text, length))
        i = (i + 1) & mask;
    return &names->slots[i];
}

static void double_slots(dlb_word_set *names)
{
    dlb_word_set larger = {.slot_count = names->slot_count ? 2 * names->slot_count : FIRST_SLOTS};
    larger.slots = dlb_alloc(larger.slot_count, sizeof *larger.slots);
    for (size_t i = 0; i < names->slot_count; i++)
        if (names->slots[i])
            *slot_of(&larger, names->slots[i], strlen(names->slots[i])) = names->slots[i];
    free(names->slots);
    names->slots = larger.slots;
    names->slot_count = larger.slot_count;
}

static char *keep(dlb_word_set *names, const char *text, size_t length)
{
    struct dlb_word_block *block = names->blocks;
    if (!block || block->size - block->used <= length) {
        size_t size = length >= BLOCK_BYTES ? length + 1 : BLOCK_BYTES;
        block = dlb_alloc(1, sizeof *block + size);
        *block = (struct dlb_word_block){.next = names->blocks, .size = size};
        names->blocks = block;
    }
    char *copy = block->bytes + block->used;
    memcpy(copy, text, length);
    block->used += length + 1; /* the block is zeroed */
    return copy;
}

const char *dlb_word_set_add(dlb_word_set *names, const char *text, size_t length)
{
    if (2 * (names->count + 1) > names->slot_count)
        double_slots(names);
    const char **slot = slot_of(names, text, length);
    if (!*slot) {
        *slot = keep(names, text, length);
        names->count++;
    }
    return *slot;
}

const char *dlb_word_set_find(const dlb_word_set *names, const char *text, size_t length)
{
    return names->slot_count ? *slot_of(names, text, length) : NULL;
}
