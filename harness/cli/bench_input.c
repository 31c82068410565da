#include "cli/bench_input.h"

#include <math.h>

#include "base/mem.h"
#include "train/fit.h"

struct dlb_bench_input {
    const dlb_kernel_training *training;
    dlb_loader *loader;
    uint32_t epoch;
    dlb_error failure; /* code 0: none */
};

static size_t pixels_of(const dlb_bench_input *input)
{
    const dlb_dataset *set = &input->training->data.train;
    return (size_t)set->h * (size_t)set->w * (size_t)set->c;
}

/* ---- Batches ---- */

static void next_batch(void *self)
{
    dlb_bench_input *input = self;
    while (!dlb_loader_next(input->loader))
        dlb_loader_begin_epoch(input->loader, ++input->epoch, 0);
}

dlb_kernel_call dlb_bench_input_batch(dlb_bench_input *input)
{
    return (dlb_kernel_call){input, next_batch, NULL, 1};
}

/* Bytes are read, floats written; what an image is normalised by is a multiply-add a pixel. */
dlk_cost dlb_bench_input_batch_cost(const dlb_bench_input *input)
{
    double pixels = (double)input->training->workload.batch * (double)pixels_of(input);
    return (dlk_cost){2 * pixels, pixels * (double)(1 + sizeof(float))};
}

/* ---- Files ---- */

int dlb_bench_input_images(const dlb_bench_input *input)
{
    return input->training->data.train.count;
}

bool dlb_bench_input_has_files(const dlb_bench_input *input)
{
    return strcmp(input->training->data.source, "synthetic") != 0;
}

/* It was loaded before, so it can be again, unless somebody takes the files away meanwhile. */
static void load(void *self)
{
    dlb_bench_input *input = self;
    const dlb_kernel_training *t = input->training;
    dlb_data data;
    dlb_error err;
    if (dlb_fit_load(&data, &t->model, t->workload.data, dlb_bench_input_images(input), 1, &err) ==
        0)
        dlb_data_release(&data);
    else
        input->failure = err;
}

int dlb_bench_input_status(const dlb_bench_input *input, dlb_error *err)
{
    return input->failure.code ? dlb_fail(err, DLB_FAIL, "%s", input->failure.message) : 0;
}

dlb_kernel_call dlb_bench_input_load(dlb_bench_input *input)
{
    return (dlb_kernel_call){input, load, NULL, 1};
}

dlk_cost dlb_bench_input_load_cost(const dlb_bench_input *input)
{
    return (dlk_cost){NAN, (double)dlb_bench_input_images(input) * (double)pixels_of(input)};
}

/* ---- Life ---- */

int dlb_bench_input_create(dlb_bench_input **made, const dlb_kernel_training *training,
                           dlb_error *err)
{
    dlb_bench_input *input = dlb_alloc(1, sizeof *input);
    *input = (dlb_bench_input){.training = training};
    dlb_loader_options options = {.set = &training->data.train,
                                  .batch = (int)training->workload.batch,
                                  .drop_last = true,
                                  .shuffle = DLB_SHUFFLE_GLOBAL,
                                  .mean = training->model.mean,
                                  .std = training->model.std};
    int status = dlb_loader_create(&input->loader, &options, err);
    if (status < 0) {
        free(input);
        return status;
    }
    dlb_loader_begin_epoch(input->loader, input->epoch, 0);
    *made = input;
    return 0;
}

void dlb_bench_input_free(dlb_bench_input *input)
{
    if (!input)
        return;
    dlb_loader_free(input->loader);
    free(input);
}
