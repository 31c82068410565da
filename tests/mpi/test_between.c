/*
 * Between two steps, on ranks that train together: test_between COMM, or `nodes` for shared memory
 * on nodes of two ranks.
 */
#include <dlbench/trainer.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

enum { STEPS = 6, MOST_LAYERS = 8 };

static dlbench_trainer *load_trainer(const char *comm)
{
    const char *const keys[][2] = {
        {"model", "keras_cnn"},    {"data", "synthetic"}, {"train_images", "1000"},
        {"test_images", "100"},    {"batch", "4"},        {"threads", "1"},
        {"comm_bucket_kb", "256"}, {"comm", comm},        {"comm_radix", "2"}};
    dlbench_trainer *t = dlbench_trainer_create();
    dlbench_error err;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        CHECK(dlbench_trainer_set(t, keys[i][0], keys[i][1], &err) == 0, "%s", err.message);
    CHECK(dlbench_trainer_load(t, &err) == 0, "%s", err.message);
    return t;
}

/* Where parameters are; they stay there. */
typedef struct layers {
    int count;
    dlbench_parameters layer[MOST_LAYERS];
} layers;

static layers layers_of(dlbench_trainer *t)
{
    layers found = {.count = dlbench_trainer_layer_count(t)};
    CHECK(found.count <= MOST_LAYERS, "%d layers", found.count);
    for (int i = 0; i < found.count; i++)
        found.layer[i] = dlbench_trainer_layer(t, i);
    return found;
}

/* FNV-1a over the bits of all weights, the last layer first. */
static uint64_t hash_of(const layers *all)
{
    uint64_t hash = 14695981039346656037U;
    for (int i = all->count - 1; i >= 0; i--)
        for (size_t k = 0; k < all->layer[i].weight_count; k++) {
            uint32_t bits;
            memcpy(&bits, all->layer[i].weights + k, sizeof bits);
            hash = (hash ^ bits) * 1099511628211U;
        }
    return hash;
}

static void expect_new_and_the_same_on_all_ranks(const layers *all, uint64_t *before, int step)
{
    uint64_t mine = hash_of(all), first = mine;
    MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    CHECK(mine == first, "after step %d", step);
    CHECK(mine != *before, "step %d has changed nothing", step);
    *before = mine;
}

static void all_ranks_see_the_same_weights_after_every_step(const char *comm)
{
    dlbench_trainer *t = load_trainer(comm);
    dlbench_error err;
    layers all = layers_of(t);
    uint64_t before = 0;
    for (int step = 1; step <= STEPS; step++) {
        CHECK(dlbench_trainer_step(t, NULL, &err) == 0, "%s", err.message);
        expect_new_and_the_same_on_all_ranks(&all, &before, step);
    }
    dlbench_trainer_destroy(t);
}

typedef struct look {
    layers all;
    uint64_t before;
} look;

static int look_at_weights(void *arg, const dlbench_progress *progress)
{
    look *l = arg;
    expect_new_and_the_same_on_all_ranks(&l->all, &l->before, progress->step);
    return progress->step == STEPS;
}

/* Stopped, it is let go while others may not have been told yet. */
static void and_whoever_is_called_after_a_step_does_so_too(const char *comm)
{
    dlbench_trainer *t = load_trainer(comm);
    dlbench_error err;
    look l = {.all = layers_of(t)};
    dlbench_trainer_on_step(t, look_at_weights, &l);
    CHECK(dlbench_trainer_epoch(t, NULL, &err) == DLBENCH_STOPPED, "not stopped");
    dlbench_trainer_destroy(t);
}

int main(int argc, char **argv)
{
    int provided;
    CHECK(argc == 2, "usage: test_between COMM|nodes");
    bool nodes = strcmp(argv[1], "nodes") == 0;
    const char *comm = nodes ? "shm" : argv[1];
    if (nodes)
        setenv("DLBENCH_NODE_RANKS", "2", 1);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    all_ranks_see_the_same_weights_after_every_step(comm);
    and_whoever_is_called_after_a_step_does_so_too(comm);
    MPI_Finalize();
    return 0;
}
