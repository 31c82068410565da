#include "train/fit.h"

static int check_fit(const dlb_data *data, const dlb_model *model, dlb_error *err)
{
    const dlb_dataset *set = &data->train;
    dlb_shape in = model->input;
    if (set->h != in.h || set->w != in.w || set->c != in.c)
        return dlb_fail(err, DLB_BAD_INPUT, "%s: images of %dx%dx%d, but %s takes %dx%dx%d",
                        data->source, set->h, set->w, set->c, model->name, in.h, in.w, in.c);
    if (set->classes > model->classes)
        return dlb_fail(err, DLB_BAD_INPUT, "%s: %d classes, but %s tells only %d apart",
                        data->source, set->classes, model->name, model->classes);
    return 0;
}

int dlb_fit_load(dlb_data *data, const dlb_model *model, const char *name, int train_images,
                 int test_images, dlb_error *err)
{
    dlb_shape in = model->input;
    dlb_data_source source = {.name = name,
                              .train_images = train_images,
                              .test_images = test_images,
                              .h = in.h,
                              .w = in.w,
                              .c = in.c,
                              .classes = model->classes};
    int status = dlb_data_load(data, &source, err);
    if (status < 0)
        return status;
    status = check_fit(data, model, err);
    if (status < 0)
        dlb_data_release(data);
    return status;
}
