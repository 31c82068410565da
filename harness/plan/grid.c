#include "plan/grid.h"

#include "base/mem.h"

/* What is needed to read a grid. */
typedef struct reader {
    dlb_grid *grid;
    const dlb_names *names;
    bool foreign; /* the study has a command */
    dlb_error *err;
} reader;

static const dlb_place *value_place(const dlb_ini_entry *entry)
{
    return &entry->value_place;
}

/* ---- Keys ---- */

/* Keys of one of the sections that set no slot. */
static bool is_key_of(const char *key, bool in_workload)
{
    if (in_workload)
        return strcmp(key, "command") == 0;
    return strcmp(key, "zip") == 0 || strcmp(key, "where") == 0 || strcmp(key, "repeats") == 0;
}

static int refuse_key(const reader *r, const dlb_ini_entry *entry, bool in_workload)
{
    static const char *const further[] = {"mode", "command", "zip", "where", "repeats"};
    enum { FURTHER = sizeof further / sizeof *further };
    const char *candidates[DLB_KEY_COUNT + FURTHER], *key = entry->key;
    if (is_key_of(key, !in_workload))
        return dlb_place_fail(r->err, &entry->key_place, 0, "%s belongs in %s", key,
                              in_workload ? "a [grid]" : "[workload]");
    for (int i = 0; i < DLB_KEY_COUNT; i++)
        candidates[i] = dlb_key_info((enum dlb_key)i)->name;
    memcpy(candidates + DLB_KEY_COUNT, further, sizeof further);
    const char *closest = dlb_closest(key, candidates, DLB_KEY_COUNT + FURTHER);
    return dlb_place_fail(r->err, &entry->key_place, 0, "unknown key '%.80s'%s%s%s", key,
                          closest ? "; did you mean " : "", closest ? closest : "",
                          closest ? "?" : "");
}

/* The slot that an entry sets, or -1 for what sets none: names of the host and of a run. */
static int slot_of(const reader *r, const char *key)
{
    if (strcmp(key, "mode") == 0)
        return DLB_SLOT_MODE;
    int slot = dlb_names_find(r->names, key);
    return slot >= DLB_KEY_COUNT && slot < DLB_SLOT_OWN ? -1 : slot;
}

static void remove_key(dlb_grid *grid, int slot)
{
    size_t kept = 0;
    for (size_t i = 0; i < grid->key_count; i++)
        if (grid->keys[i].slot != slot)
            grid->keys[kept++] = grid->keys[i];
    grid->key_count = kept;
}

/* A key of the grid takes the place of that of the workload. */
static int add_key(reader *r, const dlb_ini_entry *entry, bool in_workload)
{
    dlb_grid *grid = r->grid;
    int slot = slot_of(r, entry->key);
    if (slot < 0)
        return refuse_key(r, entry, in_workload);
    if (!r->foreign && dlb_names_is_param(entry->key))
        return dlb_place_fail(r->err, &entry->key_place, 0,
                              "%s is for a foreign program, and [workload] has no command",
                              entry->key);
    if (grid->set[slot])
        remove_key(grid, slot);
    grid->set[slot] = true;
    if (slot < DLB_KEY_COUNT)
        grid->given |= UINT64_C(1) << slot;
    grid->keys = dlb_grow(grid->keys, &grid->key_capacity, grid->key_count + 1, sizeof *grid->keys);
    grid->keys[grid->key_count++] =
        (dlb_axis_key){.slot = slot, .entry = entry, .shared = in_workload, .zip = -1};
    return 0;
}

static int add_keys(reader *r, const dlb_ini_section *section, bool in_workload)
{
    for (size_t i = 0; section && i < section->count; i++) {
        const dlb_ini_entry *entry = &section->entries[i];
        if (!is_key_of(entry->key, in_workload) && add_key(r, entry, in_workload) < 0)
            return DLB_BAD_INPUT;
    }
    return 0;
}

/* A training has a value for every key; of a foreign program only what the file sets is known. */
static void find_names(reader *r)
{
    size_t count = dlb_names_count(r->names);
    for (size_t slot = 0; slot < count; slot++) {
        bool of_host = slot >= DLB_SLOT_CORES && slot <= DLB_SLOT_HOSTNAME;
        r->grid->has[slot] = r->grid->set[slot] || of_host || (slot < DLB_KEY_COUNT && !r->foreign);
    }
}

/* ---- Lists ---- */

static bool has_lone_operator(const char *text)
{
    for (const char *word = text; *word; word += strspn(word, " \t\n")) {
        size_t length = strcspn(word, " \t\n");
        if (length == 1 && strchr("+-*/%", *word))
            return true;
        word += length;
    }
    return false;
}

/*
 * A parameter of a foreign program may be either: numbers where that is what it reads as. What was
 * clearly meant to be computed is not taken for words.
 */
static dlb_list *parse_param(const char *text, dlb_scope *scope, const dlb_expr_scope *within,
                             dlb_expr_fault *fault)
{
    dlb_list *list = dlb_list_parse(text, DLB_LIST_NUMBERS, within, fault);
    if (list || scope->unset >= 0 || has_lone_operator(text))
        return list;
    return dlb_list_parse(text, DLB_LIST_TEXTS, within, fault);
}

static enum dlb_list_kind kind_of(int slot)
{
    if (slot >= DLB_KEY_COUNT)
        return DLB_LIST_TEXTS;
    enum dlb_key_type type = dlb_key_info((enum dlb_key)slot)->type;
    return type == DLB_TYPE_TEXT || type == DLB_TYPE_CHOICE ? DLB_LIST_TEXTS : DLB_LIST_NUMBERS;
}

static int parse_list(const reader *r, dlb_axis_key *key)
{
    dlb_scope scope;
    dlb_expr_scope within = dlb_scope_init(&scope, r->names, r->grid->has, r->grid->name);
    dlb_expr_fault fault;
    const char *text = key->entry->value;
    key->list = dlb_names_is_param(key->entry->key)
                    ? parse_param(text, &scope, &within, &fault)
                    : dlb_list_parse(text, kind_of(key->slot), &within, &fault);
    return key->list ? 0 : dlb_scope_refuse(&scope, value_place(key->entry), &fault, r->err);
}

static int parse_lists(const reader *r)
{
    for (size_t i = 0; i < r->grid->key_count; i++)
        if (parse_list(r, &r->grid->keys[i]) < 0)
            return DLB_BAD_INPUT;
    return 0;
}

/* ---- zip ---- */

static dlb_axis_key *find_key(const dlb_grid *grid, const char *name, size_t length)
{
    for (size_t i = 0; i < grid->key_count; i++) {
        const char *key = grid->keys[i].entry->key;
        if (!grid->keys[i].shared && strlen(key) == length && strncmp(key, name, length) == 0)
            return &grid->keys[i];
    }
    return NULL;
}

/* Put the key that is named at `offset` of the entry's value into a group. */
static int zip_key(const reader *r, const dlb_ini_entry *entry, size_t offset, size_t length,
                   int group)
{
    const char *name = entry->value + offset;
    dlb_axis_key *key = find_key(r->grid, name, length);
    if (!key)
        return dlb_place_fail(r->err, value_place(entry), offset,
                              "'%.*s' is no key that this grid sets", (int)length, name);
    if (key->zip >= 0)
        return dlb_place_fail(r->err, value_place(entry), offset, "%s is zipped twice",
                              key->entry->key);
    key->zip = group;
    return 0;
}

/* Zip the keys from byte *at on, separated by blanks, up to a comma or the end, where *at is then.
 */
static int zip_group(const reader *r, const dlb_ini_entry *entry, size_t *at, int group)
{
    for (int members = 0;; members++) {
        *at += strspn(entry->value + *at, " \t\n");
        size_t length = strcspn(entry->value + *at, ", \t\n");
        if (length == 0 && members < 2)
            return dlb_place_fail(r->err, value_place(entry), *at,
                                  "zip needs two keys at least before this");
        if (length == 0)
            return 0;
        if (zip_key(r, entry, *at, length, group) < 0)
            return DLB_BAD_INPUT;
        *at += length;
    }
}

static int zip_keys(const reader *r, const dlb_ini_entry *entry)
{
    size_t at = 0;
    for (int group = 0;; group++, at++) {
        if (zip_group(r, entry, &at, group) < 0)
            return DLB_BAD_INPUT;
        if (entry->value[at] == '\0')
            return 0;
    }
}

/* ---- where ---- */

static int add_condition(const reader *r, const dlb_ini_entry *entry)
{
    dlb_grid *grid = r->grid;
    dlb_scope scope;
    dlb_expr_scope within = dlb_scope_init(&scope, r->names, grid->has, grid->name);
    dlb_expr_fault fault;
    size_t end;
    dlb_expr *expr = dlb_expr_parse(entry->value, &end, &within, &fault);
    if (!expr)
        return dlb_scope_refuse(&scope, value_place(entry), &fault, r->err);
    grid->conditions = dlb_grow(grid->conditions, &grid->condition_capacity,
                                grid->condition_count + 1, sizeof *grid->conditions);
    grid->conditions[grid->condition_count++] = (dlb_condition){.entry = entry, .expr = expr};
    end += strspn(entry->value + end, " \t\n");
    if (entry->value[end])
        return dlb_place_fail(r->err, value_place(entry), end,
                              "an operator is missing before this");
    return 0;
}

/* ---- The grid ---- */

/* What a section has besides keys that are set. */
static int read_rest(const reader *r, const dlb_ini_section *section)
{
    int status = 0;
    for (size_t i = 0; status == 0 && section && i < section->count; i++) {
        const dlb_ini_entry *entry = &section->entries[i];
        if (strcmp(entry->key, "zip") == 0)
            status = zip_keys(r, entry);
        else if (strcmp(entry->key, "where") == 0)
            status = add_condition(r, entry);
        else if (strcmp(entry->key, "repeats") == 0)
            status = dlb_study_read_repeats(entry, &r->grid->repeats, r->err);
    }
    return status;
}

static void locate(dlb_grid *grid, const dlb_study *study, const dlb_ini_section *workload,
                   const dlb_ini_section *section)
{
    const dlb_ini_section *shown = section ? section : workload;
    grid->name = section ? section->name : "";
    grid->place =
        shown ? shown->place : (dlb_place){.file = study->name, .line = 1, .column = 1, .text = ""};
}

int dlb_grid_init(dlb_grid *grid, const dlb_study *study, const dlb_names *names,
                  const dlb_ini_section *workload, const dlb_ini_section *section, dlb_error *err)
{
    size_t slots = dlb_names_count(names);
    *grid = (dlb_grid){.set = dlb_alloc(slots, sizeof *grid->set),
                       .has = dlb_alloc(slots, sizeof *grid->has)};
    locate(grid, study, workload, section);
    reader r = {grid, names, study->command != NULL, err};
    if (add_keys(&r, workload, true) < 0 || add_keys(&r, section, false) < 0)
        return DLB_BAD_INPUT;
    find_names(&r);
    if (parse_lists(&r) < 0 || read_rest(&r, section) < 0)
        return DLB_BAD_INPUT;
    return dlb_grid_order(grid, study, names, err);
}

void dlb_grid_release(dlb_grid *grid)
{
    for (size_t i = 0; i < grid->condition_count; i++)
        dlb_expr_free(grid->conditions[i].expr);
    for (size_t i = 0; i < grid->key_count; i++) {
        free(grid->keys[i].choices);
        dlb_list_free(grid->keys[i].list);
    }
    free(grid->conditions);
    free(grid->axes);
    free(grid->keys);
    free(grid->has);
    free(grid->set);
    *grid = (dlb_grid){0};
}

const dlb_place *dlb_grid_place(const dlb_grid *grid, int slot)
{
    for (size_t i = 0; i < grid->key_count; i++)
        if (grid->keys[i].slot == slot)
            return value_place(grid->keys[i].entry);
    return &grid->place;
}
