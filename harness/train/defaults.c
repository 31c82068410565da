#include "train/defaults.h"

static int apply(const dlb_model *model, int index, dlb_workload *workload, dlb_error *err)
{
    const dlb_model_default *d = &model->defaults[index];
    int key = dlb_key_find(d->key);
    if (key < 0 || !dlb_key_info((enum dlb_key)key)->of_model)
        return dlb_model_refuse_default(model, index, "this is no key that a model may set", err);
    dlb_error why;
    if (dlb_workload_set_default(workload, (enum dlb_key)key, d->value, &why) < 0)
        return dlb_model_refuse_default(model, index, why.message, err);
    return 0;
}

int dlb_defaults_apply(const dlb_model *model, dlb_workload *workload, dlb_error *err)
{
    for (int i = 0; i < model->default_count; i++)
        if (apply(model, i, workload, err) < 0)
            return DLB_BAD_INPUT;
    return dlb_workload_check(workload, err);
}
