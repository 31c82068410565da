/* Braces in command, wrap and metrics: what they name is there in every grid, and no axis is idle.
 */
#include "base/mem.h"
#include "config/list.h"
#include "plan/plan_state.h"

bool *dlb_plan_names_of_run(const dlb_plan *plan, const bool *has)
{
    size_t slots = dlb_names_count(&plan->names);
    bool *known = memcpy(dlb_alloc(slots, sizeof *known), has, slots * sizeof *known);
    known[DLB_KEY_seed] = known[DLB_SLOT_REPEAT] = known[DLB_SLOT_RUN_DIR] = true;
    return known;
}

typedef struct checker {
    const dlb_plan *plan;
    const dlb_grid *grid;
    bool *known; /* [slots] */
    bool *used;  /* [slots] */
    dlb_error *err;
} checker;

static void mark(const checker *c, const int *slots, size_t count)
{
    for (size_t i = 0; i < count; i++)
        c->used[slots[i]] = true;
}

static void mark_list(const checker *c, const dlb_list *list)
{
    const int *slots;
    size_t count = dlb_list_slots(list, &slots);
    mark(c, slots, count);
}

/* ---- What braces name ---- */

/* Refuse braces in a value, from byte `offset` on, that are none, or name what is not there. */
static int check_value(const checker *c, const dlb_ini_entry *entry, size_t offset)
{
    dlb_scope scope;
    dlb_expr_scope within = dlb_scope_init(&scope, &c->plan->names, c->known, c->grid->name);
    dlb_expr_fault fault;
    dlb_list *list = dlb_list_parse(entry->value + offset, DLB_LIST_TEXTS, &within, &fault);
    if (list) {
        mark_list(c, list);
        dlb_list_free(list);
        return 0;
    }
    fault.offset += offset;
    return dlb_scope_refuse(&scope, &entry->value_place, &fault, c->err);
}

/* Whether an entry is filled for each run, and from which byte on: a regular expression is not. */
static bool has_braces(const dlb_ini_section *section, const dlb_ini_entry *entry, size_t *offset)
{
    *offset = 0;
    if (strcmp(section->kind, "metrics") == 0) {
        *offset = strcspn(entry->value, " \t\n");
        return strncmp(entry->value, "regex", strlen("regex")) != 0;
    }
    return (strcmp(section->kind, "workload") == 0 && strcmp(entry->key, "command") == 0) ||
           (strcmp(section->kind, "launch") == 0 && strcmp(entry->key, "wrap") == 0);
}

static int check_sections(const checker *c)
{
    const dlb_ini *ini = c->plan->study->ini;
    size_t offset;
    for (size_t s = 0; s < dlb_ini_count(ini); s++) {
        const dlb_ini_section *section = dlb_ini_section_at(ini, s);
        for (size_t i = 0; i < section->count; i++)
            if (has_braces(section, &section->entries[i], &offset) &&
                check_value(c, &section->entries[i], offset) < 0)
                return DLB_BAD_INPUT;
    }
    return 0;
}

/* ---- What reaches a foreign program ---- */

/* Keys that change how any program is started. */
static const enum dlb_key of_launch[] = {
    DLB_KEY_ranks,   DLB_KEY_ranks_per_node, DLB_KEY_binding,      DLB_KEY_threads_per_core,
    DLB_KEY_threads, DLB_KEY_kmp_blocktime,  DLB_KEY_kmp_affinity,
};

/* Keys that a mode computes with. */
static const enum dlb_key of_mode[] = {DLB_KEY_workers, DLB_KEY_batch, DLB_KEY_train_images,
                                       DLB_KEY_lr_scaling};

static void mark_uses(const checker *c)
{
    for (size_t i = 0; i < sizeof of_launch / sizeof *of_launch; i++)
        c->used[of_launch[i]] = true;
    for (size_t i = 0; c->grid->set[DLB_SLOT_MODE] && i < sizeof of_mode / sizeof *of_mode; i++)
        c->used[of_mode[i]] = true;
    for (size_t i = 0; i < c->grid->key_count; i++)
        mark_list(c, c->grid->keys[i].list);
    for (size_t i = 0; i < c->grid->condition_count; i++) {
        const int *slots;
        size_t count = dlb_expr_slots(c->grid->conditions[i].expr, &slots);
        mark(c, slots, count);
    }
}

/* A list that nothing depends on would run the same program again and again. A key that is zipped
 * may be there to name what it goes with. */
static int check_axes(const checker *c)
{
    for (size_t a = 0; a < c->grid->axis_count; a++) {
        const dlb_axis *axis = &c->grid->axes[a];
        const dlb_ini_entry *entry = axis->keys[0].entry;
        int slot = axis->keys[0].slot;
        bool idle = axis->fixed && axis->length > 1 && axis->key_count == 1 && !c->used[slot] &&
                    slot != DLB_SLOT_MODE && !dlb_names_is_env(entry->key);
        if (idle)
            return dlb_place_fail(c->err, &entry->key_place, 0,
                                  "the program would never know: command has no {%s}", entry->key);
    }
    return 0;
}

static int check_grid(const checker *c)
{
    if (check_sections(c) < 0)
        return DLB_BAD_INPUT;
    if (!c->plan->study->command)
        return 0;
    mark_uses(c);
    return check_axes(c);
}

int dlb_plan_check_braces(const dlb_plan *plan, dlb_error *err)
{
    int status = 0;
    for (size_t g = 0; status == 0 && g < plan->grid_count; g++) {
        const dlb_grid *grid = &plan->grids[g];
        checker c = {.plan = plan,
                     .grid = grid,
                     .known = dlb_plan_names_of_run(plan, grid->has),
                     .used = dlb_alloc(dlb_names_count(&plan->names), sizeof *c.used),
                     .err = err};
        status = check_grid(&c);
        free(c.used);
        free(c.known);
    }
    return status;
}
