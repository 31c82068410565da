#include "config/ini_sections.h"

#include <stdbool.h>

#include "base/mem.h"

void dlb_sections_release(dlb_sections *sections)
{
    for (size_t i = 0; i < sections->count; i++)
        free((void *)sections->items[i].entries);
    free(sections->items);
    *sections = (dlb_sections){0};
}

void dlb_sections_add(dlb_sections *sections, const dlb_ini_section *section)
{
    sections->items = dlb_grow(sections->items, &sections->capacity, sections->count + 1,
                               sizeof *sections->items);
    sections->items[sections->count++] = *section;
}

/* What an entry (without kind) or a section is called, and where it stands in its array. */
typedef struct label {
    const char *kind, *name;
    size_t index;
} label;

static int compare_names(const void *a, const void *b)
{
    const label *x = a, *y = b;
    int order = strcmp(x->kind, y->kind);
    return order ? order : strcmp(x->name, y->name);
}

/* Those of the same name in the order of the file. */
static int compare_labels(const void *a, const void *b)
{
    const label *x = a, *y = b;
    int order = compare_names(a, b);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Sorted; free() them. */
static label *label_entries(const dlb_ini_section *section)
{
    label *labels = dlb_alloc(section->count, sizeof *labels);
    for (size_t i = 0; i < section->count; i++)
        labels[i] = (label){"", section->entries[i].key, i};
    qsort(labels, section->count, sizeof *labels, compare_labels);
    return labels;
}

static label *label_sections(const dlb_sections *sections)
{
    label *labels = dlb_alloc(sections->count, sizeof *labels);
    for (size_t i = 0; i < sections->count; i++)
        labels[i] = (label){sections->items[i].kind, sections->items[i].name, i};
    qsort(labels, sections->count, sizeof *labels, compare_labels);
    return labels;
}

static const label *find_label(const label *labels, size_t count, const char *kind,
                               const char *name)
{
    const label wanted = {kind, name, 0};
    return bsearch(&wanted, labels, count, sizeof *labels, compare_names);
}

/*
 * Of the labels that equal the one before, the first in the file; NULL if there is none. One name
 * may be allowed to stand repeatedly.
 */
static const label *find_repeated(const label *labels, size_t count, const char *allowed)
{
    const label *repeated = NULL;
    for (size_t i = 1; i < count; i++) {
        bool same = compare_names(&labels[i - 1], &labels[i]) == 0;
        if (same && !(allowed && strcmp(labels[i].name, allowed) == 0) &&
            (!repeated || labels[i].index < repeated->index))
            repeated = &labels[i];
    }
    return repeated;
}

int dlb_section_check(const dlb_ini_section *section, dlb_error *err)
{
    label *labels = label_entries(section);
    const label *repeated = find_repeated(labels, section->count, "where");
    int status = 0;
    if (repeated) {
        const dlb_ini_entry *again = &section->entries[repeated->index];
        const dlb_ini_entry *first = &section->entries[repeated[-1].index];
        status = dlb_place_fail(err, &again->key_place, 0,
                                "%s is already set in line %d of this section", again->key,
                                first->key_place.line);
    }
    free(labels);
    return status;
}

int dlb_sections_check(const dlb_sections *sections, dlb_error *err)
{
    label *labels = label_sections(sections);
    const label *repeated = find_repeated(labels, sections->count, NULL);
    int status = 0;
    if (repeated) {
        const dlb_ini_section *again = &sections->items[repeated->index];
        const dlb_ini_section *first = &sections->items[repeated[-1].index];
        status =
            dlb_place_fail(err, &again->place, 0, "[%s%s%s] already stands in line %d", again->kind,
                           *again->name ? " " : "", again->name, first->place.line);
    }
    free(labels);
    return status;
}

/* Put the entries of `over` behind those of `under` whose keys it does not have. */
static void merge_entries(dlb_ini_section *under, const dlb_ini_section *over)
{
    label *labels = label_entries(over);
    dlb_ini_entry *merged = dlb_alloc(under->count + over->count, sizeof *merged);
    size_t kept = 0;
    for (size_t i = 0; i < under->count; i++)
        if (!find_label(labels, over->count, "", under->entries[i].key))
            merged[kept++] = under->entries[i];
    if (over->count)
        memcpy(merged + kept, over->entries, over->count * sizeof *merged);
    free(labels);
    free((void *)under->entries);
    under->entries = merged;
    under->count = kept + over->count;
    under->place = over->place;
}

static void replace(dlb_ini_section *under, const dlb_ini_section *over)
{
    if (strcmp(over->kind, "grid") == 0) {
        free((void *)under->entries);
        *under = *over;
    } else {
        merge_entries(under, over);
        free((void *)over->entries);
    }
}

void dlb_sections_merge(dlb_sections *under, dlb_sections *over)
{
    label *labels = label_sections(under);
    size_t known = under->count;
    for (size_t i = 0; i < over->count; i++) {
        const dlb_ini_section *section = &over->items[i];
        const label *found = find_label(labels, known, section->kind, section->name);
        if (found)
            replace(&under->items[found->index], section);
        else
            dlb_sections_add(under, section);
    }
    free(labels);
    free(over->items);
    *over = (dlb_sections){0};
}
