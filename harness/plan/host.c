/* What the host knows, each thing asked for once. */
#include "base/mem.h"
#include "plan/plan_state.h"

void dlb_plan_host_values(const dlb_plan *plan, dlb_scalar *values)
{
    const dlb_plan_host *host = &plan->host;
    const int numbers[] = {host->cores, host->hwthreads, host->sockets, host->numa_nodes,
                           host->nodes};
    for (int i = 0; i < DLB_SLOT_HOSTNAME - DLB_SLOT_CORES; i++)
        values[DLB_SLOT_CORES + i] = (dlb_scalar){DLB_SCALAR_INT, {.integer = numbers[i]}};
    values[DLB_SLOT_HOSTNAME] = (dlb_scalar){DLB_SCALAR_TEXT, {.text = plan->hostname}};
}

static uint32_t intern_key(dlb_plan *plan, const dlb_workload *workload, int key)
{
    dlb_str text = DLB_STR_INIT;
    dlb_str_add(&text, "");
    dlb_workload_get(workload, (enum dlb_key)key, &text);
    uint32_t index = dlb_values_intern_text(&plan->values[key], text.text, &plan->checker);
    dlb_str_release(&text);
    return index;
}

static int ask_for_model(dlb_plan *plan, uint32_t index, dlb_plan_model *model, dlb_error *err)
{
    dlb_workload_init(&model->workload);
    dlb_workload_set_default(&model->workload, DLB_KEY_model,
                             plan->values[DLB_KEY_model].items[index].text, NULL);
    int status = plan->host.defaults(plan->host.arg, &model->workload, err);
    if (status < 0) {
        dlb_workload_release(&model->workload);
        return status;
    }
    for (int key = 0; key < DLB_KEY_COUNT; key++)
        model->index[key] = intern_key(plan, &model->workload, key);
    model->known = true;
    return 0;
}

int dlb_plan_model_at(dlb_plan *plan, uint32_t index, const dlb_plan_model **model, dlb_error *err)
{
    plan->models =
        dlb_grow(plan->models, &plan->model_capacity, index + (size_t)1, sizeof *plan->models);
    dlb_plan_model *found = &plan->models[index];
    *model = found;
    return found->known ? 0 : ask_for_model(plan, index, found, err);
}

static int ask_for_data(const dlb_plan *plan, uint32_t index, dlb_plan_data *data, dlb_error *err)
{
    dlb_workload workload;
    dlb_workload_init(&workload);
    dlb_workload_set(&workload, DLB_KEY_data, plan->values[DLB_KEY_data].items[index].text, NULL);
    int status = plan->host.data(plan->host.arg, &workload, &data->images, &data->hash, err);
    dlb_workload_release(&workload);
    data->known = status == 0;
    return status;
}

int dlb_plan_data_at(dlb_plan *plan, uint32_t index, const dlb_plan_data **data, dlb_error *err)
{
    plan->data = dlb_grow(plan->data, &plan->data_capacity, index + (size_t)1, sizeof *plan->data);
    dlb_plan_data *found = &plan->data[index];
    *data = found;
    return found->known ? 0 : ask_for_data(plan, index, found, err);
}
