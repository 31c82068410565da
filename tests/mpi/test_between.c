/* Between two steps: test_between COMM, on ranks that train together. */
#include <dlbench/trainer.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

enum { STEPS = 6 };

static dlbench_trainer *load_trainer(const char *comm)
{
    const char *const keys[][2] = {
        {"model", "keras_cnn"},    {"data", "synthetic"}, {"train_images", "1000"},
        {"test_images", "100"},    {"batch", "4"},        {"threads", "1"},
        {"comm_bucket_kb", "256"}, {"comm", comm}};
    dlbench_trainer *t = dlbench_trainer_create();
    dlbench_error err;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        CHECK(dlbench_trainer_set(t, keys[i][0], keys[i][1], &err) == 0, "%s", err.message);
    CHECK(dlbench_trainer_load(t, &err) == 0, "%s", err.message);
    return t;
}

/* FNV-1a over the bits of all weights of the trained layers, the last layer first. */
static uint64_t hash_of_weights(dlbench_trainer *t)
{
    uint64_t hash = 14695981039346656037U;
    for (int i = dlbench_trainer_layer_count(t) - 1; i >= 0; i--) {
        dlbench_parameters p = dlbench_trainer_layer(t, i);
        for (size_t k = 0; k < p.weight_count; k++) {
            uint32_t bits;
            memcpy(&bits, p.weights + k, sizeof bits);
            hash = (hash ^ bits) * 1099511628211U;
        }
    }
    return hash;
}

static void all_ranks_see_the_same_weights_after_every_step(const char *comm)
{
    dlbench_trainer *t = load_trainer(comm);
    dlbench_error err;
    uint64_t before = 0;
    for (int step = 0; step < STEPS; step++) {
        CHECK(dlbench_trainer_step(t, NULL, &err) == 0, "%s", err.message);
        uint64_t mine = hash_of_weights(t), first = mine;
        MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        CHECK(mine == first, "after step %d", step + 1);
        CHECK(mine != before, "step %d has changed nothing", step + 1);
        before = mine;
    }
    dlbench_trainer_destroy(t);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(argc == 2, "usage: test_between COMM");
    all_ranks_see_the_same_weights_after_every_step(argv[1]);
    MPI_Finalize();
    return 0;
}
