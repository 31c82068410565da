#include "report/compare_provenance.h"

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

static void flatten(dlb_provenance *p, const char *path, const json_t *json);

static void flatten_member(dlb_provenance *p, const char *path, const char *name,
                           const json_t *json)
{
    dlb_str deeper = DLB_STR_INIT;
    dlb_str_addf(&deeper, "%s%s%s", path, *path ? "." : "", name);
    if (!is_left_out(deeper.text))
        flatten(p, deeper.text, json);
    dlb_str_release(&deeper);
}

static void flatten_array(dlb_provenance *p, const char *path, const json_t *array)
{
    size_t i;
    json_t *value;
    json_array_foreach(array, i, value)
    {
        char place[24];
        snprintf(place, sizeof place, "%zu", i);
        flatten_member(p, path, place, value);
    }
}

static void flatten_object(dlb_provenance *p, const char *path, json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) flatten_member(p, path, key, value);
}

static void flatten_number(dlb_provenance *p, const char *path, const json_t *json)
{
    char text[32];
    dlb_format_real(json_number_value(json), text, sizeof text);
    add_fact(p, path, text);
}

/* What is null is not known, and no fact. Depth is limited by jansson. */
static void flatten(dlb_provenance *p, const char *path, const json_t *json)
{
    if (json_is_object(json))
        flatten_object(p, path, (json_t *)json);
    else if (json_is_array(json))
        flatten_array(p, path, json);
    else if (json_is_number(json))
        flatten_number(p, path, json);
    else if (json_is_boolean(json))
        add_fact(p, path, json_is_true(json) ? "yes" : "no");
    else if (json_is_string(json))
        add_fact(p, path, json_string_value(json));
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
    flatten(provenance, "", root);
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
