#include "cli/bench_data.h"

#include <math.h>

#include "train/fit.h"

int dlb_bench_data_count(dlb_bench_images *images, const char *name, const dlb_model *model,
                         dlb_error *err)
{
    dlb_data data;
    if (strcmp(name, "synthetic") == 0) {
        *images = (dlb_bench_images){INT_MAX, INT_MAX};
        return 0;
    }
    int status = dlb_fit_load(&data, model, name, 0, 0, err);
    if (status < 0)
        return status;
    *images = (dlb_bench_images){data.train.count, data.test.count};
    dlb_data_release(&data);
    return 0;
}

static long long smaller(long long a, long long b)
{
    return a < b ? a : b;
}

dlb_bench_length dlb_bench_length_of(double images, long long batch, const dlb_bench_images *set)
{
    long long wanted = llround(fmax(1, ceil(images / (double)batch)));
    long long steps = smaller(wanted, set->train / batch);
    long long test_steps = smaller(steps, set->test / batch);
    return (dlb_bench_length){.epoch = {.train = steps * batch, .test = test_steps * batch},
                              .epochs = (wanted + steps - 1) / steps};
}
