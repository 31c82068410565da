/* From keys to axes, in an order in which each depends on earlier ones only. */
#include "base/mem.h"
#include "plan/grid.h"

typedef struct sorter {
    dlb_grid *grid;
    const dlb_study *study;
    const dlb_names *names;
    int *axis_of;    /* [slots]: the axis that a slot's value follows from, in file order; or -1 */
    size_t *rank_of; /* [axes in file order]: 1 + its place in the new order; 0: it has none yet */
} sorter;

/* ---- Axes ---- */

static void take_key(dlb_axis *axis, dlb_axis_key *from)
{
    axis->keys[axis->key_count++] = *from;
    from->slot = -1; /* taken */
}

/* Put zipped keys side by side: an axis is a part of the array of keys. */
static void make_axes(dlb_grid *grid)
{
    dlb_axis_key *keys = grid->keys;
    size_t taken = 0;
    grid->keys = dlb_alloc(grid->key_count, sizeof *keys);
    grid->axes = dlb_alloc(grid->key_count, sizeof *grid->axes);
    for (size_t i = 0; i < grid->key_count; i++) {
        if (keys[i].slot < 0)
            continue;
        dlb_axis *axis = &grid->axes[grid->axis_count++];
        axis->keys = grid->keys + taken;
        int group = keys[i].zip;
        take_key(axis, &keys[i]);
        for (size_t k = i + 1; group >= 0 && k < grid->key_count; k++)
            if (keys[k].slot >= 0 && keys[k].zip == group)
                take_key(axis, &keys[k]);
        taken += axis->key_count;
    }
    free(keys);
}

/* A key that is not set follows the model if a model may have a value for it, workers the ranks. */
static void find_sources(sorter *s)
{
    for (size_t slot = 0; slot < dlb_names_count(s->names); slot++)
        s->axis_of[slot] = -1;
    for (size_t a = 0; a < s->grid->axis_count; a++)
        for (size_t k = 0; k < s->grid->axes[a].key_count; k++)
            s->axis_of[s->grid->axes[a].keys[k].slot] = (int)a;
    for (int key = 0; !s->study->command && key < DLB_KEY_COUNT; key++)
        if (!s->grid->set[key] && dlb_key_info((enum dlb_key)key)->of_model)
            s->axis_of[key] = s->axis_of[DLB_KEY_model];
    if (!s->study->command && !s->grid->set[DLB_KEY_workers])
        s->axis_of[DLB_KEY_workers] = s->axis_of[DLB_KEY_ranks];
}

/* ---- Order ---- */

/* The first axis that one of the slots follows from and that has no place yet, or -1. */
static int waits_for(const sorter *s, const int *slots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int source = s->axis_of[slots[i]];
        if (source >= 0 && s->rank_of[source] == 0)
            return source;
    }
    return -1;
}

/* The same of an axis; *key is its key that waits. */
static int axis_waits_for(const sorter *s, const dlb_axis *axis, const dlb_axis_key **key)
{
    int source = -1;
    *key = axis->keys;
    for (size_t k = 0; source < 0 && k < axis->key_count; k++) {
        const int *slots;
        *key = &axis->keys[k];
        size_t count = dlb_list_slots(axis->keys[k].list, &slots);
        source = waits_for(s, slots, count);
    }
    return source;
}

/* The axis that an axis in a circle, or before one, waits for. */
static size_t next_in_circle(const sorter *s, size_t axis, const dlb_axis_key **key)
{
    return (size_t)axis_waits_for(s, &s->grid->axes[axis], key);
}

/* Of an axis that has no place the circle that it waits for: its first axis in the file. */
static size_t find_circle(const sorter *s, size_t axis)
{
    const dlb_axis_key *unused;
    for (size_t i = 0; i < s->grid->axis_count; i++) /* then it is surely within */
        axis = next_in_circle(s, axis, &unused);
    size_t first = axis;
    for (size_t at = next_in_circle(s, axis, &unused); at != axis;
         at = next_in_circle(s, at, &unused))
        first = at < first ? at : first;
    return first;
}

static int refuse_circle(const sorter *s, dlb_error *err)
{
    size_t axis = 0;
    while (s->rank_of[axis])
        axis++;
    size_t first = axis = find_circle(s, axis);
    const dlb_axis_key *key, *first_key;
    next_in_circle(s, first, &first_key);
    dlb_str circle = DLB_STR_INIT;
    do {
        axis = next_in_circle(s, axis, &key);
        dlb_str_addf(&circle, "%.60s needs ", key->entry->key);
    } while (axis != first && circle.length < 200);
    dlb_place_fail(err, &first_key->entry->value_place, 0, "values go round in a circle: %s%.60s",
                   circle.text, axis == first ? first_key->entry->key : "...");
    dlb_str_release(&circle);
    return DLB_BAD_INPUT;
}

static bool is_fixed(const sorter *s, const dlb_axis *axis)
{
    for (size_t k = 0; k < axis->key_count; k++) {
        const int *slots;
        size_t count = dlb_list_slots(axis->keys[k].list, &slots);
        for (size_t i = 0; i < count; i++)
            if (s->axis_of[slots[i]] >= 0)
                return false;
    }
    return true;
}

/* The first axis in the file that has no place yet and waits for nothing; axis_count: none. */
static size_t find_ready(const sorter *s, size_t from)
{
    const dlb_axis_key *unused;
    size_t axis = from;
    while (axis < s->grid->axis_count &&
           (s->rank_of[axis] || axis_waits_for(s, &s->grid->axes[axis], &unused) >= 0))
        axis++;
    return axis;
}

/* Always the first of the file that can be next, so that what is derived follows its needs. */
static int order_axes(sorter *s, dlb_error *err)
{
    dlb_grid *grid = s->grid;
    dlb_axis *ordered = dlb_alloc(grid->axis_count, sizeof *ordered);
    size_t first = 0; /* all axes before it have a place */
    for (size_t placed = 0; placed < grid->axis_count; placed++) {
        while (s->rank_of[first])
            first++;
        size_t axis = find_ready(s, first);
        if (axis == grid->axis_count) {
            free(ordered);
            return refuse_circle(s, err);
        }
        ordered[placed] = grid->axes[axis];
        ordered[placed].fixed = is_fixed(s, &grid->axes[axis]);
        s->rank_of[axis] = placed + 1;
    }
    free(grid->axes);
    grid->axes = ordered;
    return 0;
}

/* ---- Conditions ---- */

static size_t depth_of(const sorter *s, const dlb_condition *condition)
{
    const int *slots;
    size_t count = dlb_expr_slots(condition->expr, &slots), depth = 0;
    for (size_t i = 0; i < count; i++) {
        int source = s->axis_of[slots[i]];
        if (source >= 0 && s->rank_of[source] > depth)
            depth = s->rank_of[source];
    }
    return depth;
}

static int compare_depths(const void *a, const void *b)
{
    const dlb_condition *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return (x->entry > y->entry) - (x->entry < y->entry); /* in the order of the file */
}

static void order_conditions(const sorter *s)
{
    dlb_grid *grid = s->grid;
    for (size_t i = 0; i < grid->condition_count; i++)
        grid->conditions[i].depth = depth_of(s, &grid->conditions[i]);
    if (grid->condition_count)
        qsort(grid->conditions, grid->condition_count, sizeof *grid->conditions, compare_depths);
}

int dlb_grid_order(dlb_grid *grid, const dlb_study *study, const dlb_names *names, dlb_error *err)
{
    make_axes(grid);
    sorter s = {.grid = grid,
                .study = study,
                .names = names,
                .axis_of = dlb_alloc(dlb_names_count(names), sizeof *s.axis_of),
                .rank_of = dlb_alloc(grid->axis_count, sizeof *s.rank_of)};
    find_sources(&s);
    int status = order_axes(&s, err);
    if (status == 0)
        order_conditions(&s);
    free(s.rank_of);
    free(s.axis_of);
    return status;
}
