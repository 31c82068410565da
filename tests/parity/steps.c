/*
 * Trains some steps in the file's order and writes what another framework needs to repeat them:
 *
 *     parity_steps MODEL STEPS FOLDER KERNELS
 *
 * FOLDER gets STEP.LAYER.weights and STEP.LAYER.biases (raw floats, as before that step, from 0)
 * and losses (one loss a line, of each step).
 */
#include <dlbench/trainer.h>
#include <stdio.h>
#include <stdlib.h>

static int write_floats(const char *folder, int step, const char *layer, const char *what,
                        const float *values, size_t count)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%d.%s.%s", folder, step, layer, what);
    FILE *file = fopen(path, "wb");
    if (!file)
        return -1;
    size_t written = fwrite(values, sizeof *values, count, file);
    return fclose(file) == 0 && written == count ? 0 : -1;
}

static int write_parameters(dlbench_trainer *t, int step, const char *folder)
{
    for (int i = 0; i < dlbench_trainer_layer_count(t); i++) {
        dlbench_parameters p = dlbench_trainer_layer(t, i);
        if (write_floats(folder, step, p.layer, "weights", p.weights, p.weight_count) < 0 ||
            write_floats(folder, step, p.layer, "biases", p.biases, p.bias_count) < 0)
            return -1;
    }
    return 0;
}

/* The trainer reports means over the epoch so far; a step's own loss is their difference. */
static int write_steps(dlbench_trainer *t, int steps, const char *folder, dlbench_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/losses", folder);
    FILE *file = fopen(path, "w");
    if (!file)
        return -1;
    double sum = 0;
    long images = 0;
    int status = 0;
    for (int i = 0; i < steps; i++) {
        dlbench_progress p;
        status = write_parameters(t, i, folder);
        if (status == 0)
            status = dlbench_trainer_step(t, &p, err);
        if (status < 0)
            break;
        double total = p.train.loss * (double)p.train.images;
        fprintf(file, "%.9g\n", (total - sum) / (double)(p.train.images - images));
        sum = total;
        images = p.train.images;
    }
    return fclose(file) == 0 ? status : -1;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    dlbench_error err = {0, "a file could not be written"};
    dlbench_trainer *t = dlbench_trainer_create();
    int status = dlbench_trainer_set(t, "model", argv[1], &err);
    if (status == 0)
        status = dlbench_trainer_set(t, "kernels", argv[4], &err);
    if (status == 0)
        status = dlbench_trainer_set(t, "shuffle", "none", &err);
    if (status == 0)
        status = dlbench_trainer_load(t, &err);
    if (status == 0)
        status = write_steps(t, (int)strtol(argv[2], NULL, 10), argv[3], &err);
    if (status < 0)
        fprintf(stderr, "parity_steps: %s\n", err.message);
    dlbench_trainer_destroy(t);
    return status < 0;
}
