#include "report/provenance.h"

#include <jansson.h>
#include <math.h>

#include "base/mem.h"
#include "base/str.h"

static void add_fact(dlb_provenance *p, const char *path, const char *text)
{
    p->facts = dlb_grow(p->facts, &p->capacity, p->count + 1, sizeof *p->facts);
    p->facts[p->count++] = (dlb_fact){dlb_strdup(path), dlb_strdup(text)};
}

static bool is_left_out(const char *path)
{
    static const char *const paths[] = {"since", "earlier", "study.file"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (strcmp(path, paths[i]) == 0)
            return true;
    return false;
}

/* What is still to be looked at. */
typedef struct branch {
    char *path;
    const json_t *json;
} branch;

typedef struct branches {
    branch *items;
    size_t count, capacity;
} branches;

static void push(branches *left, const char *path, const char *name, const json_t *json)
{
    dlb_str deeper = DLB_STR_INIT;
    dlb_str_add(&deeper, path);
    dlb_str_addf(&deeper, "%s%s", *path ? "." : "", name);
    if (is_left_out(deeper.text)) {
        dlb_str_release(&deeper);
        return;
    }
    left->items = dlb_grow(left->items, &left->capacity, left->count + 1, sizeof *left->items);
    left->items[left->count++] = (branch){deeper.text, json};
}

static void push_members(branches *left, const branch *at)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)at->json, key, value) push(left, at->path, key, value);
}

static void push_elements(branches *left, const branch *at)
{
    size_t i;
    json_t *value;
    json_array_foreach(at->json, i, value)
    {
        char place[24];
        snprintf(place, sizeof place, "%zu", i);
        push(left, at->path, place, value);
    }
}

/* What is null is not known, and no fact. */
static void add_value(dlb_provenance *p, const branch *at)
{
    char number[32];
    if (json_is_string(at->json)) {
        add_fact(p, at->path, json_string_value(at->json));
    } else if (json_is_boolean(at->json)) {
        add_fact(p, at->path, json_is_true(at->json) ? "yes" : "no");
    } else if (json_is_number(at->json)) {
        dlb_format_real(json_number_value(at->json), number, sizeof number);
        add_fact(p, at->path, number);
    }
}

static void flatten(dlb_provenance *p, const json_t *root)
{
    branches left = {0};
    push(&left, "", "", root);
    while (left.count) {
        branch at = left.items[--left.count];
        if (json_is_object(at.json))
            push_members(&left, &at);
        else if (json_is_array(at.json))
            push_elements(&left, &at);
        else
            add_value(p, &at);
        free(at.path);
    }
    free(left.items);
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(((const dlb_fact *)a)->path, ((const dlb_fact *)b)->path);
}

bool dlb_provenance_read(dlb_provenance *provenance, const char *path)
{
    *provenance = (dlb_provenance){0};
    json_t *root = json_load_file(path, 0, NULL);
    if (!root)
        return false;
    flatten(provenance, root);
    json_decref(root);
    if (provenance->count)
        qsort(provenance->facts, provenance->count, sizeof *provenance->facts, compare_paths);
    return true;
}

void dlb_provenance_release(dlb_provenance *provenance)
{
    for (size_t i = 0; i < provenance->count; i++) {
        free(provenance->facts[i].text);
        free(provenance->facts[i].path);
    }
    free(provenance->facts);
    *provenance = (dlb_provenance){0};
}

const char *dlb_provenance_find(const dlb_provenance *provenance, const char *path)
{
    for (size_t i = 0; i < provenance->count; i++)
        if (strcmp(provenance->facts[i].path, path) == 0)
            return provenance->facts[i].text;
    return NULL;
}

double dlb_provenance_cores(const dlb_provenance *provenance)
{
    static const char *const paths[] = {"machine.cores.allowed", "facts.cores_allowed"};
    double cores;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const char *text = dlb_provenance_find(provenance, paths[i]);
        if (text && dlb_parse_real(text, &cores) && cores > 0)
            return cores;
    }
    return NAN;
}
