#include "plan/identity.h"

#include "base/mem.h"
#include "plan/hash.h"

static const char version[] = "dlbench point, version 1";

uint64_t dlb_identity_mark(const char *name, const char *text, const char *preset)
{
    if (preset && strcmp(text, preset) == 0)
        return 0;
    return dlb_hash_text(dlb_hash_text(0, name), text);
}

static uint64_t hash_words(uint64_t hash, const char *name, dlb_words words)
{
    if (words)
        hash = dlb_hash_text(hash, name);
    for (; words && *words; words++)
        hash = dlb_hash_text(hash, *words);
    return hash;
}

/* A tool before the program, and what its launcher is told, change what a run measures. */
uint64_t dlb_identity_base(const dlb_study *study)
{
    uint64_t base = dlb_hash_text(0, version);
    for (dlb_words word = study->command; word && *word; word++)
        base = dlb_hash_text(base, *word);
    base = hash_words(base, "wrap", study->wrap);
    return hash_words(base, "options", study->launch_options);
}

/* 0 is kept for free places of a set. */
uint64_t dlb_identity_finish(uint64_t sum, uint64_t data)
{
    uint64_t id = dlb_hash_mix(sum + dlb_hash_mix(data));
    return id ? id : 1;
}

/* ---- The set ---- */

/* Ids are hashes already: any of their bits are as good a place. */
static size_t place_of(const dlb_identity_set *set, uint64_t id)
{
    return (size_t)id & (set->size - 1);
}

static bool insert(dlb_identity_set *set, uint64_t id)
{
    size_t at = place_of(set, id);
    while (set->slots[at] && set->slots[at] != id)
        at = (at + 1) & (set->size - 1);
    bool is_new = set->slots[at] == 0;
    set->slots[at] = id;
    return is_new;
}

/* At most half of the places are taken. */
void dlb_identity_set_reserve(dlb_identity_set *set, size_t count)
{
    dlb_identity_set old = *set;
    if (2 * count <= old.size)
        return;
    set->size = old.size ? old.size : 64;
    while (set->size < 2 * count)
        set->size *= 2;
    set->slots = dlb_alloc(set->size, sizeof *set->slots);
    for (size_t i = 0; i < old.size; i++)
        if (old.slots[i])
            insert(set, old.slots[i]);
    free(old.slots);
}

void dlb_identity_set_prefetch(const dlb_identity_set *set, uint64_t id)
{
    if (set->size)
        __builtin_prefetch(&set->slots[place_of(set, id)]);
}

bool dlb_identity_set_add(dlb_identity_set *set, uint64_t id)
{
    dlb_identity_set_reserve(set, set->used + 1);
    bool is_new = insert(set, id);
    set->used += is_new;
    return is_new;
}

void dlb_identity_set_release(dlb_identity_set *set)
{
    free(set->slots);
    *set = (dlb_identity_set){0};
}
