/* A point of a plan as others want it: a workload, or values for expressions. */
#include "plan/plan_state.h"

static const dlb_plan_model *model_of(const dlb_plan *plan, size_t point)
{
    int column = plan->column_of[DLB_KEY_model];
    uint32_t index = 0;
    if (column >= 0)
        index = plan->cells[point * plan->column_count + (size_t)column];
    else
        while (!plan->models[index].known) /* the default model is the only one */
            index++;
    return &plan->models[index];
}

const dlb_values_item *dlb_plan_value_of_slot(const dlb_plan *plan, size_t point, int slot)
{
    if (slot == DLB_KEY_workers && plan->column_of[slot] < 0 && !plan->study->command)
        slot = DLB_KEY_ranks; /* as many */
    int column = plan->column_of[slot];
    uint32_t index = DLB_VALUE_MISSING;
    if (column >= 0)
        index = plan->cells[point * plan->column_count + (size_t)column];
    else if (slot < DLB_KEY_COUNT && !plan->study->command)
        index = model_of(plan, point)->index[slot];
    return index == DLB_VALUE_MISSING ? NULL : &plan->values[slot].items[index];
}

void dlb_plan_workload(const dlb_plan *plan, size_t point, dlb_workload *workload)
{
    uint64_t given = plan->grids[plan->points[point].grid].given;
    if (plan->study->command)
        dlb_workload_init(workload);
    else
        dlb_workload_copy(workload, &model_of(plan, point)->workload);
    for (size_t c = 0; c < plan->column_count && plan->columns[c] < DLB_KEY_COUNT; c++) {
        enum dlb_key key = (enum dlb_key)plan->columns[c];
        const dlb_values_item *value = dlb_plan_value_of_slot(plan, point, plan->columns[c]);
        if (value)
            (given >> key & 1 ? dlb_workload_set : dlb_workload_set_default)(workload, key,
                                                                             value->text, NULL);
    }
}
