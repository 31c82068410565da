#include <criterion/criterion.h>

#include "config/workload.h"

static dlb_workload w;

static void init(void)
{
    dlb_workload_init(&w);
}

static void release(void)
{
    dlb_workload_release(&w);
}

TestSuite(check, .init = init, .fini = release);

static void set(enum dlb_key key, const char *text)
{
    dlb_error err;
    cr_assert_eq(dlb_workload_set(&w, key, text, &err), 0, "%s", err.message);
}

/* The message, after the check has refused. */
static const char *contradiction(void)
{
    static dlb_error err;
    cr_assert_eq(dlb_workload_check(&w, &err), DLB_BAD_INPUT);
    return err.message;
}

static void assert_consistent(void)
{
    dlb_error err;
    cr_assert_eq(dlb_workload_check(&w, &err), 0, "%s", err.message);
}

#define REFUSES(message) cr_assert_str_eq(contradiction(), message)

Test(check, the_defaults_do_not_contradict_each_other)
{
    assert_consistent();
}

Test(check, the_pool_is_no_larger_than_the_threads)
{
    set(DLB_KEY_intra_op, "4");
    assert_consistent();
    set(DLB_KEY_threads, "4");
    assert_consistent();
    set(DLB_KEY_threads, "3");
    cr_assert(strstr(contradiction(), "intra_op = 4 is more than threads = 3"));
}

Test(check, there_are_no_more_teams_than_threads_in_the_pool)
{
    set(DLB_KEY_inter_op, "2");
    assert_consistent();
    set(DLB_KEY_threads, "1");
    cr_assert(strstr(contradiction(), "inter_op = 2 is more than threads = 1"));
    set(DLB_KEY_threads, "4");
    assert_consistent();
    set(DLB_KEY_intra_op, "1");
    cr_assert(strstr(contradiction(), "inter_op = 2 is more than intra_op = 1"));
}

Test(check, nesterov_needs_an_optimizer_with_momentum)
{
    set(DLB_KEY_nesterov, "yes");
    cr_assert(strstr(contradiction(), "needs optimizer = sgd, lars or larc, not adam"));
    const char *const with_momentum[] = {"sgd", "lars", "larc"};
    for (int i = 0; i < 3; i++) {
        set(DLB_KEY_optimizer, with_momentum[i]);
        set(DLB_KEY_momentum, "0");
        cr_assert(strstr(contradiction(), "needs a momentum"));
        set(DLB_KEY_momentum, "0.9");
        assert_consistent();
    }
}

Test(check, a_users_optimizer_is_free_of_the_models_nesterov)
{
    cr_assert_eq(dlb_workload_set_default(&w, DLB_KEY_nesterov, "yes", NULL), 0);
    set(DLB_KEY_optimizer, "adam");
    assert_consistent();
}

Test(check, blocktime_is_milliseconds_or_infinite)
{
    const char *const right[] = {"", "0", "200", "infinite"};
    const char *const wrong[] = {"-1", "fast", "1.5", "200ms", "INFINITE"};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        set(DLB_KEY_kmp_blocktime, right[i]);
        assert_consistent();
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        set(DLB_KEY_kmp_blocktime, wrong[i]);
        cr_assert(strstr(contradiction(), "kmp_blocktime"));
    }
}

Test(check, dropping_the_only_batch_leaves_nothing_to_train)
{
    set(DLB_KEY_train_images, "100");
    assert_consistent();
    set(DLB_KEY_drop_last, "yes");
    cr_assert(strstr(contradiction(), "batch = 128 is more than train_images = 100"));
    set(DLB_KEY_batch, "100");
    assert_consistent();
}

Test(check, trust_is_of_layerwise_optimizers_only)
{
    set(DLB_KEY_trust, "0.02");
    REFUSES("trust = 0.02 has no effect with optimizer = adam; give optimizer = lars or larc, or "
            "leave it out");
    set(DLB_KEY_optimizer, "lars");
    assert_consistent();
    set(DLB_KEY_optimizer, "larc");
    assert_consistent();
}

Test(check, a_users_optimizer_is_free_of_the_models_trust)
{
    cr_assert_eq(dlb_workload_set_default(&w, DLB_KEY_trust, "0.02", NULL), 0);
    set(DLB_KEY_optimizer, "sgd");
    assert_consistent();
}

Test(check, what_a_schedule_falls_by_needs_one_that_falls)
{
    set(DLB_KEY_schedule_epochs, "3");
    REFUSES("schedule_epochs = 3 has no effect with schedule = constant; give schedule = step or "
            "plateau, or leave it out");
    set(DLB_KEY_schedule_factor, "0.5");
    set(DLB_KEY_schedule, "cosine");
    REFUSES("schedule_factor = 0.5 has no effect with schedule = cosine; give schedule = step or "
            "plateau, or leave it out");
    set(DLB_KEY_schedule, "step");
    assert_consistent();
    set(DLB_KEY_schedule, "plateau");
    assert_consistent();
}

Test(check, a_warmup_ends_within_the_training)
{
    set(DLB_KEY_warmup, "flat");
    assert_consistent();
    set(DLB_KEY_warmup_epochs, "5.0000001");
    REFUSES("warmup_epochs = 5.0000001 is more than epochs = 5: the scaled rate would never be "
            "reached; lower it to 5 at most, or train longer");
    set(DLB_KEY_warmup_epochs, "5");
    assert_consistent();
    set(DLB_KEY_epochs, "4");
    cr_assert(strstr(contradiction(), "lower it to 4 at most"));
}

static void set_scale(const char *workers, const char *ranks)
{
    set(DLB_KEY_workers, workers);
    set(DLB_KEY_ranks, ranks);
}

Test(check, workers_are_spread_evenly_over_ranks)
{
    set_scale("6", "4");
    REFUSES("workers = 6 cannot be spread evenly over ranks = 4; take 4 or 8 workers, or 3 or 6 "
            "ranks");
    set_scale("128", "48");
    REFUSES("workers = 128 cannot be spread evenly over ranks = 48; take 96 or 144 workers, or 32 "
            "or 64 ranks");
    set_scale("7", "2");
    REFUSES("workers = 7 cannot be spread evenly over ranks = 2; take 6 or 8 workers, or 1 or 7 "
            "ranks");
    const char *const even[][2] = {{"6", "1"}, {"6", "6"}, {"6", "3"}, {"0", "4"}, {"6", "0"}};
    for (size_t i = 0; i < sizeof even / sizeof *even; i++) {
        set_scale(even[i][0], even[i][1]);
        assert_consistent();
    }
}

Test(check, each_rank_has_a_worker)
{
    set_scale("2", "4");
    REFUSES("workers = 2 is less than ranks = 4, and each rank needs one; give workers = 4, or "
            "ranks = 2");
}

Test(check, nodes_are_filled_evenly)
{
    set(DLB_KEY_ranks, "12");
    set(DLB_KEY_ranks_per_node, "5");
    REFUSES("ranks = 12 do not fill whole nodes with ranks_per_node = 5; take 4 or 6 ranks a node");
    set(DLB_KEY_ranks_per_node, "16");
    REFUSES("ranks_per_node = 16 is more than ranks = 12; lower it to 12 at most");
    set(DLB_KEY_ranks_per_node, "4");
    assert_consistent();
    set(DLB_KEY_ranks, "0");
    set(DLB_KEY_ranks_per_node, "5");
    assert_consistent();
}

Test(check, several_ranks_need_a_way_to_communicate)
{
    set(DLB_KEY_comm, "single");
    set(DLB_KEY_ranks, "4");
    REFUSES("comm = single is for one process, not for ranks = 4; give comm = auto, mpi or shm, or "
            "ranks = 1");
    set(DLB_KEY_comm, "mpi");
    assert_consistent();
}

Test(check, one_rank_may_communicate_in_any_way)
{
    const char *const ways[] = {"auto", "single", "mpi", "shm"};
    set(DLB_KEY_ranks, "1");
    for (int i = 0; i < 4; i++) {
        set(DLB_KEY_comm, ways[i]);
        assert_consistent();
    }
}

Test(check, a_batch_is_no_larger_than_a_shard)
{
    set(DLB_KEY_train_images, "1000");
    set(DLB_KEY_batch, "64");
    set(DLB_KEY_workers, "16");
    REFUSES("batch = 64 is larger than a worker's shard, 62 images of train_images = 1000 over "
            "workers = 16; lower batch to 62, or workers to 15");
    set(DLB_KEY_batch, "62");
    assert_consistent();
    set(DLB_KEY_batch, "64");
    set(DLB_KEY_workers, "15");
    assert_consistent();
    set(DLB_KEY_batch, "1001");
    REFUSES("batch = 1001 is larger than a worker's shard, 66 images of train_images = 1000 over "
            "workers = 15; lower batch to 66");
}

Test(check, workers_that_follow_the_ranks_have_shards_too)
{
    set(DLB_KEY_train_images, "100");
    set(DLB_KEY_batch, "60");
    set(DLB_KEY_ranks, "2");
    REFUSES("batch = 60 is larger than a worker's shard, 50 images of train_images = 100 over "
            "ranks = 2; lower batch to 50, or ranks to 1");
    set(DLB_KEY_ranks, "101");
    REFUSES("ranks = 101 is more than train_images = 100, and each worker needs one; lower it to "
            "100 at most");
}

Test(check, each_worker_has_an_image)
{
    set(DLB_KEY_train_images, "7");
    set(DLB_KEY_batch, "1");
    set(DLB_KEY_workers, "8");
    REFUSES("workers = 8 is more than train_images = 7, and each worker needs one; lower it to 7 "
            "at most");
    set(DLB_KEY_workers, "7");
    assert_consistent();
}

Test(check, one_worker_may_ask_for_more_than_there_is)
{
    set(DLB_KEY_train_images, "10");
    assert_consistent();
    set_scale("1", "1");
    assert_consistent();
}
