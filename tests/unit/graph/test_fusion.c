/* Stages are found by pattern and shape, and what is not fused says why. */
#include <criterion/criterion.h>

#include "graph/fusion.h"

/* A model with these lines in it, and the kernels for it. */
static void make(const char *lines, dlk_family family, dlb_model *model, dlk_kernels *kernels)
{
    char text[1024];
    dlb_error err;
    snprintf(text, sizeof text, "model t\ninput 28x28x1\n%sflatten\ndense units=10\nsoftmax\n",
             lines);
    cr_assert_eq(dlb_model_parse(model, "t", text, &err), 0, "%s", err.message);
    cr_assert_eq(dlk_kernels_select(kernels, family, DLK_ISA_AUTO, &err), 0, "%s", err.message);
}

/* The stage of the first convolution of a model with these lines in it. */
static dlb_stage stage_of(const char *lines, dlk_family family)
{
    dlb_model model;
    dlk_kernels kernels;
    make(lines, family, &model, &kernels);
    int first = 0;
    while (model.layers[first].kind != DLB_CONV2D)
        first++;
    dlb_stage stage = dlb_stage_at(&model, first, &kernels);
    dlb_model_release(&model);
    return stage;
}

Test(fusion, takes_the_layers_that_commute_with_a_stage)
{
    static const struct {
        const char *lines;
        int layers;
        bool relu, pool;
    } cases[] = {
        {"conv2d filters=32 kernel=3\nrelu\n", 2, true, false},
        {"conv2d filters=32 kernel=3\nrelu\nmaxpool size=2\n", 3, true, true},
        {"conv2d filters=10 kernel=5\nmaxpool size=2\nrelu\n", 3, true, true},
        {"conv2d filters=10 kernel=5\ndropout2d rate=0.5\nmaxpool size=2\nrelu\n", 4, true, true},
        {"conv2d filters=10 kernel=5\nmaxpool size=2\ndropout2d rate=0.5\n", 3, false, true},
        {"conv2d filters=10 kernel=5\nrelu\nmaxpool size=2\ndropout rate=0.2\n", 4, true, true},
        /* What is dropped before a pool may not win there. */
        {"conv2d filters=32 kernel=3\nrelu\ndropout rate=0.2\nmaxpool size=2\n", 3, true, false},
        /* Another pool than 2×2 is no part of a stage. */
        {"conv2d filters=32 kernel=3\nrelu\nmaxpool size=3\n", 2, true, false},
        {"conv2d filters=32 kernel=3\nrelu\nmaxpool size=2 stride=1\n", 2, true, false},
        /* Nothing would remember what a dropout alone has dropped. */
        {"conv2d filters=32 kernel=3\ndropout rate=0.2\n", 1, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dlb_stage stage = stage_of(cases[i].lines, DLK_FAMILY_SIMD);
        cr_assert(dlb_stage_is_fused(&stage), "%s: %s", cases[i].lines, stage.why);
        cr_assert_eq(stage.end - stage.first, cases[i].layers, "%s", cases[i].lines);
        cr_assert_eq(stage.shape.relu, cases[i].relu, "%s", cases[i].lines);
        cr_assert_eq(stage.shape.pool, cases[i].pool, "%s", cases[i].lines);
    }
}

Test(fusion, says_why_a_convolution_is_computed_by_itself)
{
    dlb_stage stage = stage_of("conv2d filters=8 kernel=3 stride=3\nrelu\n", DLK_FAMILY_SIMD);
    cr_assert_not(dlb_stage_is_fused(&stage));
    cr_assert_eq(stage.end - stage.first, 1);
    cr_assert_not_null(strstr(stage.why, "stride"), "%s", stage.why);

    stage = stage_of("conv2d filters=32 kernel=3\nrelu\n", DLK_FAMILY_BLAS);
    cr_assert_not(dlb_stage_is_fused(&stage));
    cr_assert_not_null(strstr(stage.why, "blas"), "%s", stage.why);
}

/* The stages of the trunk that these lines make, in lanes or not. */
static int stages_in_lanes(const char *lines, int stages)
{
    dlb_model model;
    dlk_kernels kernels;
    dlb_stage found[DLB_TRUNK_STAGES];
    make(lines, DLK_FAMILY_SIMD, &model, &kernels);
    cr_assert_eq(dlb_trunk_stages(&model, 0, &kernels, found), stages, "%s", lines);
    int lanes = 0;
    for (int k = 0; k < stages; k++)
        lanes += found[k].lanes != NULL;
    dlb_model_release(&model);
    return lanes;
}

Test(fusion, evaluates_many_images_at_once_where_all_stages_of_a_trunk_can)
{
    static const char five[] = "conv2d filters=10 kernel=5\nmaxpool size=2\nrelu\n";
    static const char three[] = "conv2d filters=32 kernel=3\nrelu\nmaxpool size=2\n";
    char lines[256];
    cr_assert_eq(stages_in_lanes(five, 1), 1);
    snprintf(lines, sizeof lines, "%s%s", five, five);
    cr_assert_eq(stages_in_lanes(lines, 2), 2);
    snprintf(lines, sizeof lines, "%s%s", five, three);
    cr_assert_eq(stages_in_lanes(lines, 2), 0);
}

static bool trains_in_lanes(const char *lines, int batch)
{
    dlb_model model;
    dlk_kernels kernels;
    dlb_stage found[DLB_TRUNK_STAGES];
    make(lines, DLK_FAMILY_SIMD, &model, &kernels);
    int count = dlb_trunk_stages(&model, 0, &kernels, found);
    bool trains = dlb_stages_train_in_lanes(found, count, batch, &kernels);
    dlb_model_release(&model);
    return trains;
}

Test(fusion, trains_many_images_at_once_if_they_drop_nothing_but_planes)
{
    enum { LARGE = 64, SMALL = 7 };
    static const char plain[] = "conv2d filters=10 kernel=5\nmaxpool size=2\nrelu\n";
    static const char planes[] =
        "conv2d filters=10 kernel=5\ndropout2d rate=0.5\nmaxpool size=2\nrelu\n";
    static const char outputs[] =
        "conv2d filters=10 kernel=5\nmaxpool size=2\nrelu\ndropout rate=0.5\n";
    cr_assert(trains_in_lanes(plain, LARGE));
    cr_assert(trains_in_lanes(planes, LARGE));
    cr_assert_not(trains_in_lanes(outputs, LARGE));
    cr_assert_not(trains_in_lanes(plain, SMALL), "most lanes would be empty");
}

Test(fusion, wants_the_gradient_of_the_input_only_where_something_below_is_trained)
{
    dlb_stage first = stage_of("conv2d filters=10 kernel=5\nmaxpool size=2\n", DLK_FAMILY_SIMD);
    cr_assert_not(first.data);
}

/* More inputs may be cut into slices by the size of the batch. */
Test(fusion, a_dense_layer_is_small_only_if_an_image_does_not_depend_on_those_beside_it)
{
    const struct {
        int inputs, weights;
        bool small;
    } cases[] = {{512, 16384, true}, {512, 16385, false}, {513, 16384, false}, {600, 15000, false},
                 {1024, 4096, true}, {1024, 4097, false}, {2048, 2048, false}};
    dlb_layer dense = {.kind = DLB_DENSE};
    dlk_kernels kernels;
    dlb_error err;
    cr_assert_eq(dlk_kernels_select(&kernels, DLK_FAMILY_SIMD, DLK_ISA_AUTO, &err), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dense.in = (dlb_shape){1, 1, cases[i].inputs};
        dense.weights = cases[i].weights;
        cr_assert_eq(dlb_layer_is_small(&dense, &kernels), cases[i].small, "%d inputs, %d weights",
                     cases[i].inputs, cases[i].weights);
    }
    cr_assert_eq(dlk_kernels_select(&kernels, DLK_FAMILY_REF, DLK_ISA_AUTO, &err), 0);
    dense = (dlb_layer){.kind = DLB_RELU, .in = {1, 1, 10}};
    cr_assert_not(dlb_layer_is_small(&dense, &kernels), "ref fuses nothing");
}

Test(fusion, groups_cover_the_batch_and_leave_none_without_images)
{
    for (int n = 1; n <= 300; n++)
        for (int groups = 1; groups <= 32 && groups <= n; groups++) {
            cr_assert_eq(dlb_group_start(n, groups, 0), 0);
            cr_assert_eq(dlb_group_start(n, groups, groups), n);
            for (int i = 0; i < groups; i++)
                cr_assert_lt(dlb_group_start(n, groups, i), dlb_group_start(n, groups, i + 1),
                             "group %d of %d, %d images", i, groups, n);
        }
}

Test(fusion, groups_become_larger_towards_the_end_of_each_half)
{
    const int starts[] = {0, 4, 8, 16, 32, 36, 40, 48, 64};
    for (int i = 0; i <= 8; i++)
        cr_assert_eq(dlb_group_start(64, 8, i), starts[i]);
}
