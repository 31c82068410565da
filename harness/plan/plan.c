#include "plan/plan.h"

#include "base/mem.h"
#include "plan/modes.h"
#include "plan/plan_state.h"

/* ---- Creation ---- */

static void init_tables(dlb_plan *plan)
{
    size_t slots = dlb_names_count(&plan->names);
    dlb_workload_init(&plan->checker);
    plan->values = dlb_alloc(slots, sizeof *plan->values);
    plan->column_of = dlb_alloc(slots, sizeof *plan->column_of);
    for (size_t slot = 0; slot < slots; slot++)
        dlb_values_init(&plan->values[slot], (int)slot, dlb_names_of(&plan->names, (int)slot),
                        &plan->checker);
}

static bool is_grid(const dlb_ini_section *section)
{
    return strcmp(section->kind, "grid") == 0;
}

static const dlb_ini_section *find_workload(const dlb_ini *ini)
{
    for (size_t i = 0; i < dlb_ini_count(ini); i++)
        if (strcmp(dlb_ini_section_at(ini, i)->kind, "workload") == 0)
            return dlb_ini_section_at(ini, i);
    return NULL;
}

static int add_grid(dlb_plan *plan, const dlb_ini_section *section, dlb_error *err)
{
    const dlb_ini_section *workload = find_workload(plan->study->ini);
    return dlb_grid_init(&plan->grids[plan->grid_count++], plan->study, &plan->names, workload,
                         section, err);
}

/* A study without a grid is the one point of its workload. */
static int read_grids(dlb_plan *plan, dlb_error *err)
{
    const dlb_ini *ini = plan->study->ini;
    int status = 0;
    plan->grids = dlb_alloc(dlb_ini_count(ini) + 1, sizeof *plan->grids);
    for (size_t i = 0; status == 0 && i < dlb_ini_count(ini); i++)
        if (is_grid(dlb_ini_section_at(ini, i)))
            status = add_grid(plan, dlb_ini_section_at(ini, i), err);
    return plan->grid_count ? status : add_grid(plan, NULL, err);
}

static int build(dlb_plan *plan, dlb_error *err)
{
    int status = dlb_names_collect(&plan->names, plan->study, err);
    init_tables(plan);
    if (status == 0)
        status = read_grids(plan, err);
    if (status == 0)
        status = dlb_plan_expand(plan, err);
    if (status == 0)
        status = dlb_plan_check_braces(plan, err);
    if (status == 0)
        dlb_plan_compare(plan);
    return status;
}

int dlb_plan_create(dlb_plan **plan, const dlb_study *study, const dlb_plan_host *host,
                    dlb_error *err)
{
    *plan = dlb_alloc(1, sizeof **plan);
    **plan = (dlb_plan){
        .study = study,
        .host = *host,
        .max_points = host->max_points ? host->max_points : DLB_PLAN_MAX_POINTS,
        .hostname = dlb_strdup(host->hostname),
    };
    int status = build(*plan, err);
    if (status < 0) {
        dlb_plan_free(*plan);
        *plan = NULL;
    }
    return status;
}

void dlb_plan_free(dlb_plan *plan)
{
    if (!plan)
        return;
    free(plan->cells);
    free(plan->points);
    free(plan->varies);
    free(plan->columns);
    for (size_t i = 0; i < plan->grid_count; i++)
        dlb_grid_release(&plan->grids[i]);
    free(plan->grids);
    for (size_t i = 0; i < plan->model_capacity; i++)
        dlb_workload_release(&plan->models[i].workload);
    free(plan->data);
    free(plan->models);
    for (size_t i = 0; i < dlb_names_count(&plan->names); i++)
        dlb_values_release(&plan->values[i]);
    free(plan->column_of);
    free(plan->values);
    dlb_workload_release(&plan->checker);
    dlb_names_release(&plan->names);
    free(plan->hostname);
    free(plan);
}

/* ---- Columns ---- */

/* What a mode that is not known before the points are may derive. */
static uint64_t derived_by_mode(const dlb_plan *plan, const dlb_axis *axis, const dlb_axis_key *key)
{
    uint64_t derived = 0;
    if (!axis->fixed)
        return dlb_mode_derives("strong") | dlb_mode_derives("weak");
    for (size_t i = 0; i < key->choice_count; i++)
        derived |= dlb_mode_derives(plan->values[DLB_SLOT_MODE].items[key->choices[i]].text);
    return derived;
}

static void give_derived(const dlb_plan *plan, dlb_grid *grid)
{
    for (size_t a = 0; a < grid->axis_count; a++)
        for (size_t k = 0; k < grid->axes[a].key_count; k++)
            if (grid->axes[a].keys[k].slot == DLB_SLOT_MODE)
                grid->given |= derived_by_mode(plan, &grid->axes[a], &grid->axes[a].keys[k]);
}

static bool is_parameter(const dlb_plan *plan, size_t slot)
{
    for (size_t g = 0; g < plan->grid_count; g++) {
        const dlb_grid *grid = &plan->grids[g];
        if (grid->set[slot] || (slot < DLB_KEY_COUNT && grid->given >> slot & 1))
            return slot != DLB_SLOT_MODE;
    }
    return false;
}

void dlb_plan_choose_columns(dlb_plan *plan)
{
    size_t slots = dlb_names_count(&plan->names);
    for (size_t g = 0; g < plan->grid_count; g++)
        give_derived(plan, &plan->grids[g]);
    plan->columns = dlb_alloc(slots, sizeof *plan->columns);
    plan->varies = dlb_alloc(slots, sizeof *plan->varies);
    for (size_t slot = 0; slot < slots; slot++) {
        plan->column_of[slot] = -1;
        if (!is_parameter(plan, slot))
            continue;
        plan->column_of[slot] = (int)plan->column_count;
        plan->columns[plan->column_count++] = (int)slot;
    }
}

void dlb_plan_compare(dlb_plan *plan)
{
    size_t columns = plan->column_count;
    for (size_t c = 0; c < columns; c++) {
        size_t point = 1;
        while (point < plan->count && plan->cells[point * columns + c] == plan->cells[c])
            point++;
        plan->varies[c] = point < plan->count;
    }
}

/* ---- Reading ---- */

size_t dlb_plan_count(const dlb_plan *plan)
{
    return plan->count;
}

size_t dlb_plan_parameters(const dlb_plan *plan)
{
    return plan->column_count;
}

const char *dlb_plan_parameter(const dlb_plan *plan, size_t parameter)
{
    return dlb_names_of(&plan->names, plan->columns[parameter]);
}

bool dlb_plan_varies(const dlb_plan *plan, size_t parameter)
{
    return plan->varies[parameter];
}

int dlb_plan_find(const dlb_plan *plan, const char *name)
{
    int slot = dlb_names_find(&plan->names, name);
    return slot < 0 ? -1 : plan->column_of[slot];
}

static uint32_t cell(const dlb_plan *plan, size_t point, int parameter)
{
    return plan->cells[point * plan->column_count + (size_t)parameter];
}

const char *dlb_plan_value(const dlb_plan *plan, size_t point, int parameter)
{
    return plan->values[plan->columns[parameter]].items[cell(plan, point, parameter)].text;
}

bool dlb_plan_has(const dlb_plan *plan, size_t point, int parameter)
{
    return cell(plan, point, parameter) != DLB_VALUE_MISSING;
}

const char *dlb_plan_grid(const dlb_plan *plan, size_t point)
{
    return plan->grids[plan->points[point].grid].name;
}

int dlb_plan_repeats(const dlb_plan *plan, size_t point)
{
    return plan->grids[plan->points[point].grid].repeats;
}

const char *dlb_plan_mode(const dlb_plan *plan, size_t point)
{
    const char *mode = plan->values[DLB_SLOT_MODE].items[plan->points[point].mode].text;
    return strcmp(mode, DLB_MODE_NONE) == 0 ? "" : mode;
}

void dlb_plan_id(const dlb_plan *plan, size_t point, char id[DLB_POINT_ID_SIZE])
{
    snprintf(id, DLB_POINT_ID_SIZE, "%016llx", (unsigned long long)plan->points[point].id);
}
