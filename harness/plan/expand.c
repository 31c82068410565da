/*
 * From grids to points, like an odometer: the last axis moves fastest, and what an axis in front of
 * it decides is computed once for all that stands behind.
 */
#include "base/mem.h"
#include "plan/draft.h"
#include "plan/identity.h"
#include "plan/modes.h"
#include "plan/rows.h"

enum {
    TRIES = 20,       /* combinations that are looked at for each point that a plan may have */
    RESERVE = 1 << 20 /* points that room is made for before they are there */
};

typedef struct expansion {
    dlb_plan *plan;
    dlb_grid *grid;
    uint32_t grid_index;
    dlb_draft draft;
    size_t depth; /* axes that are set */
    uint64_t base;
    size_t tries_left;
    size_t points; /* of this grid, including those that an earlier one has */
    dlb_rows rows; /* of all grids */
    dlb_error *err;
} expansion;

/* ---- Saying what is wrong ---- */

/* " (point ranks = 2, threads = 4)": what has been chosen so far, where there was a choice. */
static void describe(const expansion *e, dlb_str *text)
{
    const char *before = " (point ";
    dlb_str_add(text, "");
    for (size_t a = 0; a < e->depth && text->length < 200; a++) {
        const dlb_axis *axis = &e->grid->axes[a];
        for (size_t k = 0; (!axis->fixed || axis->length > 1) && k < axis->key_count; k++) {
            int slot = axis->keys[k].slot;
            dlb_str_addf(text, "%s%s = %.60s", before, dlb_names_of(&e->plan->names, slot),
                         dlb_draft_text(&e->draft, slot));
            before = ", ";
        }
    }
    if (text->length)
        dlb_str_add(text, ")");
}

static int refuse(const expansion *e, const dlb_place *place, size_t offset, const char *message)
{
    dlb_str point = DLB_STR_INIT;
    describe(e, &point);
    dlb_place_fail(e->err, place, offset, "%.400s%s", message, point.text);
    dlb_str_release(&point);
    return DLB_BAD_INPUT;
}

/* The value that a message is about, which begins with its key. */
static const dlb_place *place_of_message(const expansion *e, const char *message)
{
    char key[64];
    size_t length = strcspn(message, " :");
    if (length >= sizeof key)
        return &e->grid->place;
    memcpy(key, message, length);
    key[length] = '\0';
    int slot = strcmp(key, "mode") == 0 ? DLB_SLOT_MODE : dlb_names_find(&e->plan->names, key);
    return dlb_grid_place(e->grid, slot);
}

static int refuse_point(const expansion *e, const dlb_error *why)
{
    if (why->code != DLB_BAD_INPUT)
        return dlb_fail(e->err, why->code, "%s", why->message);
    return refuse(e, place_of_message(e, why->message), 0, why->message);
}

/* ---- Points ---- */

/* An explicit 0 means as many workers as ranks. */
static int settle_workers(dlb_draft *draft, dlb_error *err)
{
    if (draft->plan->study->command || draft->values[DLB_KEY_workers].integer != 0)
        return 0;
    return dlb_draft_override(draft, DLB_KEY_workers, &draft->values[DLB_KEY_ranks], err);
}

static int check_images(const dlb_workload *workload, const dlb_plan_data *data, dlb_error *err)
{
    if (workload->train_images > data->images)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "train_images = %lld, but data = %.80s has only %lld images",
                        workload->train_images, workload->data, data->images);
    return dlb_workload_check_images(
        workload, workload->train_images ? workload->train_images : data->images, err);
}

static int check_seed(const expansion *e, const dlb_workload *workload, dlb_error *err)
{
    int repeats = e->grid->repeats ? e->grid->repeats : e->plan->study->repeats.max;
    if ((double)(workload->seed + repeats - 1) <= dlb_key_info(DLB_KEY_seed)->max)
        return 0;
    return dlb_fail(err, DLB_BAD_INPUT, "seed = %lld leaves no seeds for %d repeats; lower it",
                    workload->seed, repeats);
}

static int check_training(expansion *e, const dlb_plan_data *data, dlb_error *err)
{
    const dlb_workload *workload = dlb_draft_workload(&e->draft);
    if (dlb_workload_check(workload, err) < 0 || check_images(workload, data, err) < 0)
        return DLB_BAD_INPUT;
    return check_seed(e, workload, err);
}

static int add_point(expansion *e, dlb_error *err)
{
    static const dlb_plan_data none = {0};
    const dlb_plan_data *data = &none;
    bool foreign = e->plan->study->command != NULL;
    if (!foreign && dlb_plan_data_at(e->plan, e->draft.index[DLB_KEY_data], &data, err) < 0)
        return err->code;
    if (!foreign && check_training(e, data, err) < 0)
        return DLB_BAD_INPUT;
    uint64_t id = dlb_identity_finish(e->draft.sum, data->hash);
    return dlb_rows_add(&e->rows, &e->draft, e->grid_index, id, err);
}

static int finish_point(expansion *e)
{
    dlb_error why;
    e->points++;
    int status = settle_workers(&e->draft, &why);
    if (status == 0)
        status = dlb_mode_apply(&e->draft, &why);
    if (status == 0)
        status = add_point(e, &why);
    dlb_draft_restore(&e->draft);
    return status < 0 ? refuse_point(e, &why) : 0;
}

/* ---- Axes ---- */

typedef struct choosing {
    const expansion *e;
    dlb_axis_key *key;
    bool refused; /* an error has been filled */
} choosing;

static int add_choice(void *arg, const dlb_scalar *value, size_t offset)
{
    choosing *c = arg;
    dlb_axis_key *key = c->key;
    dlb_error why;
    uint32_t index;
    c->refused = true;
    if (key->shared && key->choice_count == 1)
        return refuse(c->e, &key->entry->value_place, offset,
                      "[workload] is what all runs have in common; lists belong in a [grid]");
    if (dlb_values_intern(&c->e->plan->values[key->slot], value, &c->e->plan->checker, &index,
                          &why) < 0)
        return refuse(c->e, &key->entry->value_place, offset, why.message);
    key->choices =
        dlb_grow(key->choices, &key->choice_capacity, key->choice_count + 1, sizeof *key->choices);
    key->choices[key->choice_count++] = index;
    c->refused = false;
    return 0;
}

static int compute_key(expansion *e, dlb_axis_key *key)
{
    choosing c = {.e = e, .key = key};
    dlb_expr_fault fault;
    key->choice_count = 0;
    int status =
        dlb_list_eval(key->list, e->draft.values, e->plan->max_points, add_choice, &c, &fault);
    if (status < 0 && !c.refused)
        return refuse(e, &key->entry->value_place, fault.offset, fault.message);
    return status;
}

/* Compute the values of an axis, whose zipped keys must have as many each. */
static int compute_axis(expansion *e, dlb_axis *axis)
{
    char message[160];
    for (size_t k = 0; k < axis->key_count; k++) {
        dlb_axis_key *key = &axis->keys[k];
        if (compute_key(e, key) < 0)
            return DLB_BAD_INPUT;
        if (key->choice_count == axis->keys[0].choice_count)
            continue;
        snprintf(message, sizeof message,
                 "%.40s has %zu values, but %.40s, zipped with it, has %zu", key->entry->key,
                 key->choice_count, axis->keys[0].entry->key, axis->keys[0].choice_count);
        return refuse(e, &key->entry->value_place, 0, message);
    }
    axis->length = axis->keys[0].choice_count;
    return 0;
}

/* Before all grids: what does not depend on a point is wrong or right once and for all. */
static int compute_fixed(expansion *e)
{
    for (size_t a = 0; a < e->grid->axis_count; a++)
        if (e->grid->axes[a].fixed && compute_axis(e, &e->grid->axes[a]) < 0)
            return DLB_BAD_INPUT;
    return 0;
}

static int set_axis(expansion *e, const dlb_axis *axis)
{
    dlb_error why;
    for (size_t k = 0; k < axis->key_count; k++) {
        const dlb_axis_key *key = &axis->keys[k];
        if (dlb_draft_set(&e->draft, key->slot, key->choices[axis->position], &why) < 0)
            return why.code == DLB_BAD_INPUT ? refuse(e, &key->entry->value_place, 0, why.message)
                                             : dlb_fail(e->err, why.code, "%s", why.message);
    }
    return 0;
}

/* Whether all conditions hold that can be asked now, and could not before: 1, 0, or an error. */
static int ask_conditions(const expansion *e)
{
    const dlb_grid *grid = e->grid;
    for (size_t i = 0; i < grid->condition_count && grid->conditions[i].depth <= e->depth; i++) {
        const dlb_condition *condition = &grid->conditions[i];
        dlb_expr_fault fault;
        dlb_scalar answer;
        if (condition->depth < e->depth)
            continue;
        if (dlb_expr_eval(condition->expr, e->draft.values, &answer, &fault) < 0)
            return refuse(e, &condition->entry->value_place, fault.offset, fault.message);
        if (answer.kind != DLB_SCALAR_BOOL)
            return refuse(e, &condition->entry->value_place, 0,
                          "a condition must be true or false; compare, as in threads > 1");
        if (!answer.truth)
            return 0;
    }
    return 1;
}

/* ---- Grids ---- */

/* Count what is looked at, so that a grid of which hardly anything is left comes to an end. */
static int spend(expansion *e, size_t tries)
{
    if (tries < e->tries_left) {
        e->tries_left -= tries;
        return 0;
    }
    return dlb_place_fail(e->err, &e->grid->place, 0,
                          "this grid has too many combinations, most of which are left out or "
                          "doubled; give shorter lists");
}

static int open_axis(expansion *e, dlb_axis *axis)
{
    axis->position = 0;
    if (axis->fixed)
        return 0;
    return compute_axis(e, axis) < 0 ? DLB_BAD_INPUT : spend(e, axis->length);
}

/* Set axis `a` to the value at its position; 1 if the conditions hold. */
static int try_axis(expansion *e, size_t a)
{
    e->depth = a;
    int status = spend(e, 1);
    if (status == 0)
        status = set_axis(e, &e->grid->axes[a]);
    if (status < 0)
        return status;
    e->depth = a + 1;
    return ask_conditions(e);
}

/* Go through all combinations. */
static int turn(expansion *e)
{
    dlb_axis *axes = e->grid->axes;
    size_t a = 0, last = e->grid->axis_count - 1;
    int status = open_axis(e, &axes[0]);
    while (status >= 0) {
        if (axes[a].position == axes[a].length) {
            if (a == 0)
                return 0;
            axes[--a].position++;
            continue;
        }
        status = try_axis(e, a);
        if (status == 1 && a < last) {
            status = open_axis(e, &axes[++a]);
            continue;
        }
        if (status == 1)
            status = finish_point(e);
        axes[a].position++;
    }
    return status;
}

static int refuse_empty(const expansion *e)
{
    const dlb_grid *grid = e->grid;
    if (grid->condition_count == 0)
        return dlb_place_fail(e->err, &grid->place, 0, "this grid has no point: a list is empty");
    return dlb_place_fail(e->err, &grid->conditions[0].entry->value_place, 0,
                          "this grid has no point: where leaves out all of them");
}

/* Begin a grid with a fresh draft. */
static int enter(expansion *e, size_t grid)
{
    dlb_error why;
    e->grid = &e->plan->grids[grid];
    e->grid_index = (uint32_t)grid;
    e->depth = 0;
    int status = dlb_draft_init(&e->draft, e->plan, e->grid, e->base, &why);
    return status < 0 ? refuse_point(e, &why) : 0;
}

static int compute_grid(expansion *e, size_t grid)
{
    int status = enter(e, grid);
    if (status == 0)
        status = compute_fixed(e);
    dlb_draft_release(&e->draft);
    return status;
}

/*
 * Room for as many points as the fixed axes have combinations, within reason; of the first grid
 * only, since others may have the same.
 */
static void reserve(expansion *e)
{
    size_t combinations = 1;
    if (e->plan->count > 0)
        return;
    for (size_t a = 0; a < e->grid->axis_count && combinations < RESERVE; a++)
        combinations *= e->grid->axes[a].fixed ? e->grid->axes[a].length : 1;
    dlb_rows_reserve(&e->rows, combinations < RESERVE ? combinations : RESERVE);
}

static int expand_grid(expansion *e, size_t grid)
{
    dlb_error why;
    int status = enter(e, grid);
    e->points = 0;
    reserve(e);
    if (status == 0)
        status = ask_conditions(e);
    if (status == 1)
        status = e->grid->axis_count ? turn(e) : finish_point(e);
    if (status == 0 && e->points == 0)
        status = refuse_empty(e);
    if (status == 0 && dlb_rows_unite(&e->rows, &why) < 0)
        status = refuse_point(e, &why);
    dlb_draft_release(&e->draft);
    return status;
}

int dlb_plan_expand(dlb_plan *plan, dlb_error *err)
{
    expansion e = {.plan = plan,
                   .rows = {.plan = plan},
                   .base = dlb_identity_base(plan->study),
                   .tries_left = plan->max_points * TRIES,
                   .err = err};
    int status = 0;
    for (size_t g = 0; status == 0 && g < plan->grid_count; g++)
        status = compute_grid(&e, g);
    if (status == 0)
        dlb_plan_choose_columns(plan);
    for (size_t g = 0; status == 0 && g < plan->grid_count; g++)
        status = expand_grid(&e, g);
    dlb_rows_release(&e.rows);
    return status;
}
