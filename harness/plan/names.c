#include "plan/names.h"

#include "base/mem.h"
#include "config/study_words.h"

static const char env_prefix[] = "env.", param_prefix[] = "param.";

static const char *const fixed_names[] = {
    [DLB_SLOT_CORES - DLB_KEY_COUNT] = "cores",
    [DLB_SLOT_HWTHREADS - DLB_KEY_COUNT] = "hwthreads",
    [DLB_SLOT_SOCKETS - DLB_KEY_COUNT] = "sockets",
    [DLB_SLOT_NUMA_NODES - DLB_KEY_COUNT] = "numa_nodes",
    [DLB_SLOT_NODES - DLB_KEY_COUNT] = "nodes",
    [DLB_SLOT_HOSTNAME - DLB_KEY_COUNT] = "hostname",
    [DLB_SLOT_REPEAT - DLB_KEY_COUNT] = "repeat",
    [DLB_SLOT_RUN_DIR - DLB_KEY_COUNT] = "run_dir",
    [DLB_SLOT_MODE - DLB_KEY_COUNT] = "mode",
};

/* ---- The file's own names ---- */

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool dlb_names_is_env(const char *name)
{
    return starts_with(name, env_prefix);
}

bool dlb_names_is_param(const char *name)
{
    return starts_with(name, param_prefix);
}

/* Variables that a key stands for, and would contradict. */
static const char *key_of_variable(const char *variable)
{
    static const char *const pairs[][2] = {{"OMP_NUM_THREADS", "threads"},
                                           {"KMP_BLOCKTIME", "kmp_blocktime"},
                                           {"KMP_AFFINITY", "kmp_affinity"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(variable, pairs[i][0]) == 0)
            return pairs[i][1];
    return NULL;
}

static int check_own(const dlb_ini_entry *entry, dlb_error *err)
{
    bool env = dlb_names_is_env(entry->key);
    size_t prefix = strlen(env ? env_prefix : param_prefix);
    const char *name = entry->key + prefix, *key = env ? key_of_variable(name) : NULL;
    if (!dlb_is_identifier(name))
        return dlb_place_fail(err, &entry->key_place, prefix,
                              "'%.80s' is no name of %s: letters, digits and _, no digit first",
                              name, env ? "an environment variable" : "a parameter");
    if (key)
        return dlb_place_fail(err, &entry->key_place, 0, "give %s, which sets %s", key, name);
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int collect_section(dlb_names *names, const dlb_ini_section *section, dlb_error *err)
{
    for (size_t i = 0; i < section->count; i++) {
        const dlb_ini_entry *entry = &section->entries[i];
        if (!dlb_names_is_env(entry->key) && !dlb_names_is_param(entry->key))
            continue;
        if (check_own(entry, err) < 0)
            return DLB_BAD_INPUT;
        names->own =
            dlb_grow(names->own, &names->own_capacity, names->own_count + 1, sizeof *names->own);
        names->own[names->own_count++] = entry->key;
    }
    return 0;
}

static void sort_and_unite(dlb_names *names)
{
    size_t kept = 0;
    if (names->own_count)
        qsort(names->own, names->own_count, sizeof *names->own, compare_names);
    for (size_t i = 0; i < names->own_count; i++)
        if (kept == 0 || strcmp(names->own[kept - 1], names->own[i]) != 0)
            names->own[kept++] = names->own[i];
    names->own_count = kept;
}

int dlb_names_collect(dlb_names *names, const dlb_study *study, dlb_error *err)
{
    *names = (dlb_names){0};
    int status = 0;
    for (size_t i = 0; status == 0 && i < dlb_ini_count(study->ini); i++) {
        const dlb_ini_section *section = dlb_ini_section_at(study->ini, i);
        if (strcmp(section->kind, "workload") == 0 || strcmp(section->kind, "grid") == 0)
            status = collect_section(names, section, err);
    }
    sort_and_unite(names);
    return status;
}

void dlb_names_release(dlb_names *names)
{
    free(names->own);
    *names = (dlb_names){0};
}

/* ---- Slots ---- */

size_t dlb_names_count(const dlb_names *names)
{
    return DLB_SLOT_OWN + names->own_count;
}

const char *dlb_names_of(const dlb_names *names, int slot)
{
    if (slot < DLB_KEY_COUNT)
        return dlb_key_info((enum dlb_key)slot)->name;
    return slot < DLB_SLOT_OWN ? fixed_names[slot - DLB_KEY_COUNT]
                               : names->own[slot - DLB_SLOT_OWN];
}

static int find_own(const dlb_names *names, const char *name)
{
    const char **found = NULL;
    if (names->own_count)
        found = bsearch(&name, names->own, names->own_count, sizeof *names->own, compare_names);
    return found ? (int)(DLB_SLOT_OWN + (found - names->own)) : -1;
}

/* A key is written as it is in keys.def, so that one key has one name in a file. */
int dlb_names_find(const dlb_names *names, const char *name)
{
    int key = dlb_key_find(name);
    if (key >= 0)
        return strcmp(dlb_key_info((enum dlb_key)key)->name, name) == 0 ? key : -1;
    for (int slot = DLB_KEY_COUNT; slot < DLB_SLOT_MODE; slot++)
        if (strcmp(dlb_names_of(names, slot), name) == 0)
            return slot;
    return find_own(names, name);
}

/* ---- Scopes ---- */

static int find_slot(void *arg, const char *name)
{
    dlb_scope *scope = arg;
    int slot = dlb_names_find(scope->names, name);
    if (slot < 0 || scope->has[slot])
        return slot;
    scope->unset = slot;
    return -1;
}

static const char *find_closest(void *arg, const char *name)
{
    const dlb_scope *scope = arg;
    size_t count = dlb_names_count(scope->names), known = 0;
    const char **candidates = dlb_alloc(count, sizeof *candidates);
    for (size_t slot = 0; slot < count; slot++)
        if (scope->has[slot] && slot != DLB_SLOT_MODE)
            candidates[known++] = dlb_names_of(scope->names, (int)slot);
    const char *closest = dlb_closest(name, candidates, known);
    free(candidates);
    return closest;
}

dlb_expr_scope dlb_scope_init(dlb_scope *scope, const dlb_names *names, const bool *has,
                              const char *grid)
{
    *scope = (dlb_scope){.names = names, .has = has, .grid = grid, .unset = -1};
    return (dlb_expr_scope){.slot = find_slot, .closest = find_closest, .arg = scope};
}

int dlb_scope_refuse(const dlb_scope *scope, const dlb_place *place, const dlb_expr_fault *fault,
                     dlb_error *err)
{
    if (scope->unset < 0)
        return dlb_place_fail(err, place, fault->offset, "%s", fault->message);
    const char *name = dlb_names_of(scope->names, scope->unset);
    if (scope->unset == DLB_SLOT_REPEAT || scope->unset == DLB_SLOT_RUN_DIR)
        return dlb_place_fail(err, place, fault->offset,
                              "%s is known to command, wrap and metrics only", name);
    if (*scope->grid)
        return dlb_place_fail(err, place, fault->offset,
                              "%s has no value in [grid %s]; set it there or in [workload]", name,
                              scope->grid);
    return dlb_place_fail(err, place, fault->offset,
                          "%s has no value; set it in [workload] or in the grid", name);
}
