#include "plan/draft.h"

#include "base/mem.h"

static void change(dlb_draft *draft, int slot, uint32_t index)
{
    const dlb_values_item *items = draft->plan->values[slot].items;
    draft->sum += items[index].mark - items[draft->index[slot]].mark;
    draft->values[slot] = items[index].scalar;
    draft->index[slot] = index;
    if (slot < DLB_KEY_COUNT)
        draft->changed |= UINT64_C(1) << slot;
}

/* A model's own values for the keys that the grid does not set. */
static int follow_model(dlb_draft *draft, uint32_t index, dlb_error *err)
{
    const dlb_plan_model *model;
    int status = dlb_plan_model_at(draft->plan, index, &model, err);
    for (int key = 0; status == 0 && key < DLB_KEY_COUNT; key++)
        if (!draft->grid->set[key] && dlb_key_info((enum dlb_key)key)->of_model)
            change(draft, key, model->index[key]);
    return status;
}

/* Workers are as many as ranks where nobody says otherwise. */
static int follow_ranks(dlb_draft *draft, dlb_error *err)
{
    uint32_t index;
    int status =
        dlb_values_intern(&draft->plan->values[DLB_KEY_workers], &draft->values[DLB_KEY_ranks],
                          &draft->plan->checker, &index, err);
    if (status == 0)
        change(draft, DLB_KEY_workers, index);
    return status;
}

int dlb_draft_set(dlb_draft *draft, int slot, uint32_t index, dlb_error *err)
{
    change(draft, slot, index);
    if (draft->plan->study->command)
        return 0;
    if (slot == DLB_KEY_model)
        return follow_model(draft, index, err);
    if (slot == DLB_KEY_ranks && !draft->grid->set[DLB_KEY_workers])
        return follow_ranks(draft, err);
    return 0;
}

/* Keys that the grid does not set; those that a model may have a value for come with the model. */
static int set_defaults(dlb_draft *draft, dlb_error *err)
{
    dlb_plan *plan = draft->plan;
    int status = 0;
    for (int key = 0; status == 0 && key < DLB_KEY_COUNT; key++) {
        const struct dlb_key_info *info = dlb_key_info((enum dlb_key)key);
        bool follows = info->of_model || key == DLB_KEY_workers;
        if (draft->grid->set[key] || follows)
            continue;
        uint32_t index = dlb_values_intern_text(&plan->values[key], info->preset, &plan->checker);
        status = dlb_draft_set(draft, key, index, err);
    }
    return status;
}

int dlb_draft_init(dlb_draft *draft, dlb_plan *plan, const dlb_grid *grid, uint64_t base,
                   dlb_error *err)
{
    size_t slots = dlb_names_count(&plan->names);
    *draft = (dlb_draft){.plan = plan,
                         .grid = grid,
                         .index = dlb_alloc(slots, sizeof *draft->index),
                         .values = dlb_alloc(slots, sizeof *draft->values),
                         .sum = base};
    dlb_workload_init(&draft->workload);
    dlb_plan_host_values(plan, draft->values);
    return plan->study->command ? 0 : set_defaults(draft, err);
}

void dlb_draft_release(dlb_draft *draft)
{
    dlb_workload_release(&draft->workload);
    free(draft->values);
    free(draft->index);
}

int dlb_draft_override(dlb_draft *draft, int slot, const dlb_scalar *value, dlb_error *err)
{
    uint32_t index;
    int status =
        dlb_values_intern(&draft->plan->values[slot], value, &draft->plan->checker, &index, err);
    if (status < 0)
        return status;
    draft->overridden[draft->override_count].slot = slot;
    draft->overridden[draft->override_count].index = draft->index[slot];
    draft->override_count++;
    change(draft, slot, index);
    return 0;
}

void dlb_draft_restore(dlb_draft *draft)
{
    while (draft->override_count > 0) {
        draft->override_count--;
        change(draft, draft->overridden[draft->override_count].slot,
               draft->overridden[draft->override_count].index);
    }
}

const char *dlb_draft_text(const dlb_draft *draft, int slot)
{
    return draft->plan->values[slot].items[draft->index[slot]].text;
}

const dlb_workload *dlb_draft_workload(dlb_draft *draft)
{
    for (; draft->changed; draft->changed &= draft->changed - 1) {
        int key = __builtin_ctzll(draft->changed);
        bool given = draft->grid->given >> key & 1;
        (given ? dlb_workload_set : dlb_workload_set_default)(&draft->workload, (enum dlb_key)key,
                                                              dlb_draft_text(draft, key), NULL);
    }
    return &draft->workload;
}
