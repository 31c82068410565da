#include "report/compare_match.h"

#include <stdint.h>

#include "base/mem.h"
#include "base/str.h"

/* A point under the text that it is looked for by. */
typedef struct entry {
    char *key; /* NULL: it is not to be found */
    size_t point;
} entry;

static int compare_entries(const void *a, const void *b)
{
    const char *x = ((const entry *)a)->key, *y = ((const entry *)b)->key;
    if (!x || !y)
        return !x - !y;
    return strcmp(x, y);
}

typedef char *key_of(const dlb_points *points, size_t point, const dlb_points *other);

/* free() it, and each key. Sorted, without keys that two points share. */
static entry *make_index(const dlb_points *points, const bool *left, key_of *key,
                         const dlb_points *other, size_t *count)
{
    size_t all = dlb_points_count(points), unique = 0;
    entry *index = dlb_alloc(all ? all : 1, sizeof *index);
    for (size_t p = 0; p < all; p++)
        index[p] = (entry){left[p] ? key(points, p, other) : NULL, p};
    qsort(index, all, sizeof *index, compare_entries);
    for (size_t i = 0, end; i < all && index[i].key; i = end) {
        for (end = i + 1; end < all && index[end].key && !strcmp(index[i].key, index[end].key);)
            free(index[end++].key);
        if (end == i + 1)
            index[unique++] = index[i];
        else
            free(index[i].key);
    }
    *count = unique;
    return index;
}

static void free_index(entry *index, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(index[i].key);
    free(index);
}

static char *key_by_id(const dlb_points *points, size_t point, const dlb_points *other)
{
    (void)other;
    const char *id = dlb_point_id(points, point);
    return *id ? dlb_strdup(id) : NULL;
}

static bool counts(const dlb_points *points, const dlb_points *other, const char *name)
{
    int own = dlb_points_find(points, name), others = dlb_points_find(other, name);
    return own >= 0 && others >= 0 && strcmp(name, "grid") != 0 &&
           (dlb_points_varies(points, own) || dlb_points_varies(other, others));
}

/* One "name=value" a parameter that counts, in the order of names: files may differ in theirs. */
static char *key_by_parameters(const dlb_points *points, size_t point, const dlb_points *other)
{
    dlb_str key = DLB_STR_INIT;
    dlb_str_add(&key, "");
    const char *last = "";
    for (;;) {
        int next = -1;
        for (size_t p = 0; p < dlb_points_parameters(points); p++) {
            const char *name = dlb_points_parameter(points, p);
            bool follows = strcmp(name, last) > 0 && counts(points, other, name);
            if (follows &&
                (next < 0 || strcmp(name, dlb_points_parameter(points, (size_t)next)) < 0))
                next = (int)p;
        }
        if (next < 0)
            return key.text;
        last = dlb_points_parameter(points, (size_t)next);
        dlb_str_addf(&key, "%s=%s\n", last, dlb_point_text(points, point, next));
    }
}

static void match_by(dlb_match *match, const dlb_points *a, const dlb_points *b, key_of *key)
{
    bool *a_left = dlb_alloc(match->a_count + 1, 1), *b_left = dlb_alloc(match->b_count + 1, 1);
    for (size_t p = 0; p < match->a_count; p++)
        a_left[p] = match->b_of[p] == SIZE_MAX;
    for (size_t p = 0; p < match->b_count; p++)
        b_left[p] = !match->taken[p];
    size_t a_count, b_count;
    entry *of_a = make_index(a, a_left, key, b, &a_count);
    entry *of_b = make_index(b, b_left, key, a, &b_count);
    for (size_t i = 0; i < a_count; i++) {
        const entry *found = bsearch(&of_a[i], of_b, b_count, sizeof *of_b, compare_entries);
        if (!found)
            continue;
        match->b_of[of_a[i].point] = found->point;
        match->taken[found->point] = true;
        match->pairs++;
    }
    free_index(of_b, b_count);
    free_index(of_a, a_count);
    free(b_left);
    free(a_left);
}

void dlb_match_make(dlb_match *match, const dlb_points *a, const dlb_points *b)
{
    *match = (dlb_match){.a_count = dlb_points_count(a), .b_count = dlb_points_count(b)};
    match->b_of = dlb_alloc(match->a_count + 1, sizeof *match->b_of);
    match->taken = dlb_alloc(match->b_count + 1, sizeof *match->taken);
    for (size_t p = 0; p < match->a_count; p++)
        match->b_of[p] = SIZE_MAX;
    match_by(match, a, b, key_by_id);
    match_by(match, a, b, key_by_parameters);
}

void dlb_match_release(dlb_match *match)
{
    free(match->taken);
    free(match->b_of);
    *match = (dlb_match){0};
}
