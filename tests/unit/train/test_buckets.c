#include "train/buckets.h"

#include <criterion/criterion.h>

static dlb_model model;
static dlb_graph *graph;

static void load(const char *name)
{
    dlb_error err;
    dlk_kernels kernels;
    cr_assert_eq(dlb_model_load(&model, name, &err), 0, "%s", err.message);
    cr_assert_eq(dlk_kernels_select(&kernels, DLK_FAMILY_REF, DLK_ISA_AUTO, &err), 0);
    cr_assert_eq(dlb_graph_create(&graph, &model, 1, &kernels, 0, &err), 0);
}

static void unload(void)
{
    dlb_graph_free(graph);
    dlb_model_release(&model);
}

/* From the end of the array to its begin, without gaps, as gradients become ready. */
static void check_cover(const dlb_buckets *b, size_t limit)
{
    size_t reached = dlb_graph_size(graph);
    int block = dlb_graph_block_count(graph), bucket = 0;
    for (int g = 0; g < b->group_count; g++) {
        cr_assert_eq(b->groups[g].end_block, block);
        cr_assert_lt(b->groups[g].first_block, block);
        block = b->groups[g].first_block;
        cr_assert_eq(b->groups[g].first_bucket, bucket);
        for (; bucket < b->groups[g].end_bucket; bucket++) {
            dlb_range range = b->buckets[bucket];
            cr_assert(range.first < range.end && range.end - range.first <= limit);
            cr_assert_eq(range.first % DLB_EXCHANGE_GRAIN, 0);
            reached = range.first < reached ? range.first : reached;
        }
        cr_assert_eq(reached, dlb_graph_block(graph, block)->offset);
    }
    cr_assert_eq(block, 0);
    cr_assert_eq(bucket, b->bucket_count);
}

Test(buckets, every_gradient_is_in_one_bucket_of_at_most_the_limit)
{
    const size_t limits[] = {1, 1024, 5000, 65536, 262144, 10000000};
    const char *const models[] = {"keras_cnn", "horovod_cnn"};
    for (int m = 0; m < 2; m++) {
        load(models[m]);
        for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
            dlb_buckets b;
            dlb_buckets_init(&b, graph, limits[i], DLB_FUSE_TO_LIMIT);
            check_cover(&b, limits[i] < DLB_EXCHANGE_GRAIN ? DLB_EXCHANGE_GRAIN : limits[i]);
            size_t floats = 0;
            for (int k = 0; k < b.bucket_count; k++)
                floats += b.buckets[k].end - b.buckets[k].first;
            cr_assert_eq(floats, dlb_graph_size(graph));
            dlb_buckets_release(&b);
        }
        unload();
    }
}

Test(buckets, small_layers_are_fused_and_large_ones_cut)
{
    load("keras_cnn");
    dlb_buckets b;
    dlb_buckets_init(&b, graph, 262144, DLB_FUSE_TO_LIMIT);
    cr_assert_eq(b.group_count, 3, "dense_2; dense_1, which is larger than the limit; both conv2d");
    cr_assert_eq(b.groups[1].end_bucket - b.groups[1].first_bucket, 5);
    cr_assert_eq(b.groups[2].first_block, 0);
    cr_assert_eq(dlb_buckets_group_of(&b, 3), 0);
    cr_assert_eq(dlb_buckets_group_of(&b, 2), 1);
    cr_assert_eq(dlb_buckets_group_of(&b, 0), 2);
    dlb_buckets_release(&b);
    unload();
}

Test(buckets, a_rank_alone_updates_small_layers_together_and_cuts_none)
{
    load("keras_cnn");
    dlb_buckets b;
    dlb_buckets_init(&b, graph, 1024, DLB_FUSE_SMALL);
    cr_assert_eq(b.group_count, 3, "dense_2; dense_1, which is large; both conv2d");
    cr_assert_eq(b.bucket_count, 3);
    check_cover(&b, dlb_graph_size(graph));
    dlb_buckets_release(&b);
    unload();
    load("horovod_cnn");
    dlb_buckets_init(&b, graph, 1024, DLB_FUSE_SMALL);
    cr_assert_eq(b.group_count, 1);
    cr_assert_eq(b.bucket_count, 1);
    check_cover(&b, dlb_graph_size(graph));
    dlb_buckets_release(&b);
    unload();
}

/* An operation names only so many operands. */
Test(buckets, no_more_small_layers_are_updated_together_than_an_operation_can_name)
{
    dlb_error err;
    dlk_kernels kernels;
    const char *text = "model deep\ninput 4x4x1\nflatten\ndense units=4\ndense units=4\n"
                       "dense units=4\ndense units=4\ndense units=4\ndense units=4\n"
                       "dense units=4\nsoftmax\n";
    cr_assert_eq(dlb_model_parse(&model, "deep.model", text, &err), 0, "%s", err.message);
    cr_assert_eq(dlk_kernels_select(&kernels, DLK_FAMILY_REF, DLK_ISA_AUTO, &err), 0);
    cr_assert_eq(dlb_graph_create(&graph, &model, 1, &kernels, 0, &err), 0);
    dlb_buckets b;
    dlb_buckets_init(&b, graph, 1024, DLB_FUSE_SMALL);
    cr_assert_eq(b.group_count, 2, "of seven layers");
    cr_assert_eq(b.groups[0].end_block - b.groups[0].first_block, DLB_FUSED_SMALL);
    check_cover(&b, dlb_graph_size(graph));
    dlb_buckets_release(&b);
    unload();
}

Test(buckets, norms_need_all_layers_together)
{
    load("keras_cnn");
    dlb_buckets b;
    dlb_buckets_init(&b, graph, 262144, DLB_FUSE_ALL);
    cr_assert_eq(b.group_count, 1);
    check_cover(&b, 262144);
    dlb_buckets_release(&b);
    unload();
}
