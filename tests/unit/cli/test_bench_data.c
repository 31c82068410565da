#include "cli/bench_data.h"

#include <criterion/criterion.h>

/* ---- How much of a data set ---- */

static const dlb_bench_images mnist = {.train = 60000, .test = 10000};

static void expect_length(double images, long long batch, dlb_bench_images set,
                          dlb_bench_length expected)
{
    dlb_bench_length found = dlb_bench_length_of(images, batch, &set);
    cr_expect_eq(found.epoch.train, expected.epoch.train, "%lld", found.epoch.train);
    cr_expect_eq(found.epoch.test, expected.epoch.test, "%lld", found.epoch.test);
    cr_expect_eq(found.epochs, expected.epochs, "%lld", found.epochs);
}

Test(bench_data, a_short_training_takes_part_of_the_set_once)
{
    expect_length(1280, 128, mnist, (dlb_bench_length){{1280, 1280}, 1});
    expect_length(0, 128, mnist, (dlb_bench_length){{128, 128}, 1});
}

Test(bench_data, what_is_evaluated_is_no_more_than_the_set_has)
{
    expect_length(12800, 128, mnist, (dlb_bench_length){{12800, 9984}, 1});
}

Test(bench_data, a_long_training_takes_the_set_in_several_epochs)
{
    expect_length(59968, 64, mnist, (dlb_bench_length){{59968, 9984}, 1});
    expect_length(59969, 64, mnist, (dlb_bench_length){{59968, 9984}, 2});
    expect_length(160000, 64, mnist, (dlb_bench_length){{59968, 9984}, 3});
}

Test(bench_data, no_training_is_shorter_than_was_asked_for_and_all_steps_are_whole)
{
    for (long long batch = 1; batch <= 1000; batch += 37)
        for (double images = 1; images < 1e6; images *= 1.7) {
            dlb_bench_length length = dlb_bench_length_of(images, batch, &mnist);
            cr_assert_geq((double)(length.epoch.train * length.epochs), images);
            cr_assert_eq(length.epoch.train % batch, 0);
            cr_assert_eq(length.epoch.test % batch, 0);
            cr_assert_leq(length.epoch.train, mnist.train);
            cr_assert_leq(length.epoch.test, mnist.test);
        }
}

/* ---- The data set ---- */

Test(bench_data, images_are_counted_for_a_model_that_takes_them)
{
    dlb_error err;
    dlb_model model = {.name = "tiny", .input = {28, 28, 1}, .classes = 10};
    dlb_bench_images images;
    cr_assert_eq(dlb_bench_data_count(&images, "mnist", &model, &err), 0);
    cr_expect_eq(images.train, 60000);
    cr_expect_eq(images.test, 10000);
}

Test(bench_data, made_up_images_fit_every_model_and_never_run_out)
{
    dlb_error err;
    dlb_model model = {.name = "wide", .input = {512, 512, 3}, .classes = 1000};
    dlb_bench_images images;
    cr_assert_eq(dlb_bench_data_count(&images, "synthetic", &model, &err), 0);
    cr_expect_eq(dlb_bench_length_of(1e6, 1000, &images).epochs, 1);
}
