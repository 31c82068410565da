#include "data/dataset.h"

#include <stdbool.h>

#include "data/checksum.h"
#include "data/folder.h"
#include "data/synthetic.h"

static uint64_t add_to_checksum(uint64_t sum, const dlb_dataset *set)
{
    size_t count = (size_t)set->count;
    size_t pixels = (size_t)set->h * (size_t)set->w * (size_t)set->c;
    sum = dlb_checksum(sum, set->images, count * pixels);
    return dlb_checksum(sum, set->labels, count);
}

int dlb_data_load(dlb_data *data, const dlb_data_source *source, dlb_error *err)
{
    memset(data, 0, sizeof *data);
    if (source->train_images < 0 || source->test_images < 0)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "train_images = %d and test_images = %d; neither can be negative",
                        source->train_images, source->test_images);
    bool synthetic = strcmp(source->name, "synthetic") == 0;
    int status =
        synthetic ? dlb_synthetic_make(data, source, err) : dlb_folder_load(data, source, err);
    if (status < 0)
        dlb_data_release(data);
    else
        data->checksum = add_to_checksum(add_to_checksum(0, &data->train), &data->test);
    return status;
}

void dlb_data_release(dlb_data *data)
{
    free(data->test.labels);
    free(data->test.images);
    free(data->train.labels);
    free(data->train.images);
    memset(data, 0, sizeof *data);
}
