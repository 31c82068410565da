#include "data/loader.h"

#include <criterion/criterion.h>

#include "base/clock.h"
#include "base/mem.h"

/* Large enough for readers to be in the middle of a batch when an epoch is abandoned. */
enum { IMAGES = 103, H = 16, W = 32, C = 2, PIXELS = H * W * C };

/* Image i has the pixels i, i+1, … and the label i % 7, so that each can be recognised. */
static dlb_dataset numbered_images(void)
{
    static uint8_t images[IMAGES][PIXELS], labels[IMAGES];
    for (int i = 0; i < IMAGES; i++) {
        labels[i] = (uint8_t)(i % 7);
        for (int pixel = 0; pixel < PIXELS; pixel++)
            images[i][pixel] = (uint8_t)(i + pixel);
    }
    return (dlb_dataset){.count = IMAGES,
                         .h = H,
                         .w = W,
                         .c = C,
                         .classes = 7,
                         .images = &images[0][0],
                         .labels = labels};
}

static dlb_dataset set;

static void make_set(void)
{
    set = numbered_images();
}

TestSuite(loader, .init = make_set);

static dlb_loader_options options(int readers)
{
    return (dlb_loader_options){.set = &set,
                                .batch = 10,
                                .shuffle = DLB_SHUFFLE_GLOBAL,
                                .readers = readers,
                                .mean = 0,
                                .std = 1,
                                .seed = 1};
}

static dlb_loader *create(dlb_loader_options wanted)
{
    dlb_loader *loader;
    dlb_error err;
    cr_assert_eq(dlb_loader_create(&loader, &wanted, &err), 0, "%s", err.message);
    return loader;
}

static bool shows(const float *x, const uint8_t *image)
{
    int differ = 0;
    for (int pixel = 0; pixel < PIXELS; pixel++)
        differ += x[pixel] != (float)image[pixel] / 255.0f;
    return differ == 0;
}

/* One epoch, checked image by image; returns how many were shown and notes their order. */
static int run_epoch(dlb_loader *loader, uint32_t epoch, uint32_t order[IMAGES])
{
    int shown = 0, step = 0;
    dlb_loader_begin_epoch(loader, epoch, 0);
    for (const dlb_batch *batch; (batch = dlb_loader_next(loader)); step++) {
        cr_assert_eq(batch->step, step);
        for (int i = 0; i < batch->count; i++) {
            uint32_t index = batch->indices[i];
            order[shown++] = index;
            cr_assert_eq(batch->labels[i], set.labels[index]);
            cr_assert(shows(batch->x + i * PIXELS, set.images + index * PIXELS));
        }
    }
    cr_assert_eq(step, dlb_loader_steps(loader));
    cr_assert_null(dlb_loader_next(loader));
    return shown;
}

static void expect_each_image_once(const uint32_t order[IMAGES])
{
    int seen[IMAGES] = {0};
    for (int i = 0; i < IMAGES; i++)
        seen[order[i]]++;
    for (int i = 0; i < IMAGES; i++)
        cr_assert_eq(seen[i], 1, "image %d was shown %d times", i, seen[i]);
}

Test(loader, an_epoch_shows_every_image_once_with_its_label)
{
    for (int readers = 0; readers <= 3; readers++) {
        dlb_loader *loader = create(options(readers));
        for (uint32_t epoch = 0; epoch < 5; epoch++) {
            uint32_t order[IMAGES];
            cr_assert_eq(run_epoch(loader, epoch, order), IMAGES);
            expect_each_image_once(order);
        }
        dlb_loader_free(loader);
    }
}

static void order_of(dlb_loader_options wanted, uint32_t epoch, uint32_t order[IMAGES])
{
    dlb_loader *loader = create(wanted);
    run_epoch(loader, epoch, order);
    dlb_loader_free(loader);
}

Test(loader, the_order_depends_on_seed_and_epoch_only)
{
    uint32_t order[IMAGES], other[IMAGES];
    order_of(options(0), 4, order);
    for (int readers = 1; readers <= 5; readers++) {
        order_of(options(readers), 4, other);
        cr_assert_arr_eq(order, other, sizeof order, "differs with %d readers", readers);
    }
    dlb_loader_options larger_batch = options(1);
    larger_batch.batch = 64;
    order_of(larger_batch, 4, other);
    cr_assert_arr_eq(order, other, sizeof order, "differs with the batch size");

    order_of(options(0), 5, other);
    cr_assert_arr_neq(order, other, sizeof order, "the same in another epoch");
    dlb_loader_options other_seed = options(0);
    other_seed.seed = 2;
    order_of(other_seed, 4, other);
    cr_assert_arr_neq(order, other, sizeof order, "the same with another seed");
}

/* Results are compared with those of other days: the order is for ever. */
Test(loader, the_order_of_a_seed_is_always_the_same)
{
    const uint32_t expected[] = {5, 48, 83, 10, 23, 90, 80, 96, 27, 9};
    uint32_t order[IMAGES];
    order_of(options(0), 4, order);
    cr_assert_arr_eq(order, expected, sizeof expected);
}

Test(loader, an_epoch_is_the_same_whatever_came_before)
{
    uint32_t fresh[IMAGES], later[IMAGES];
    order_of(options(2), 7, fresh);
    dlb_loader *loader = create(options(2));
    run_epoch(loader, 1, later);
    run_epoch(loader, 7, later);
    cr_assert_arr_eq(fresh, later, sizeof fresh);
    dlb_loader_free(loader);
}

Test(loader, every_place_is_about_equally_likely)
{
    enum { EPOCHS = 2000 };
    dlb_loader *loader = create(options(0));
    int lower_half = 0;
    for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
        dlb_loader_begin_epoch(loader, epoch, 0);
        lower_half += dlb_loader_next(loader)->indices[0] < IMAGES / 2;
    }
    dlb_loader_free(loader);
    /* 51 of 103 images, give or take six standard deviations of a binomial distribution. */
    cr_assert_float_eq(lower_half, EPOCHS * 51. / 103, 135);
}

Test(loader, without_shuffle_images_come_in_their_order)
{
    dlb_loader_options in_order = options(2);
    in_order.shuffle = DLB_SHUFFLE_NONE;
    uint32_t order[IMAGES];
    order_of(in_order, 3, order);
    for (uint32_t i = 0; i < IMAGES; i++)
        cr_assert_eq(order[i], i);
}

static int last_count(dlb_loader *loader)
{
    int count = 0;
    dlb_loader_begin_epoch(loader, 0, 0);
    for (const dlb_batch *batch; (batch = dlb_loader_next(loader));)
        count = batch->count;
    return count;
}

Test(loader, the_last_smaller_batch_is_kept_unless_dropped)
{
    dlb_loader_options wanted = options(1);
    dlb_loader *loader = create(wanted);
    cr_assert_eq(dlb_loader_steps(loader), 11);
    cr_assert_eq(last_count(loader), 3);
    dlb_loader_free(loader);

    wanted.drop_last = true;
    loader = create(wanted);
    cr_assert_eq(dlb_loader_steps(loader), 10);
    cr_assert_eq(last_count(loader), 10);
    dlb_loader_free(loader);
}

Test(loader, a_batch_larger_than_the_set_holds_all_of_it_or_nothing)
{
    dlb_loader_options wanted = options(1);
    wanted.batch = 1000;
    dlb_loader *loader = create(wanted);
    cr_assert_eq(dlb_loader_steps(loader), 1);
    cr_assert_eq(last_count(loader), IMAGES);
    dlb_loader_free(loader);

    wanted.drop_last = true;
    loader = create(wanted);
    cr_assert_eq(dlb_loader_steps(loader), 0);
    dlb_loader_begin_epoch(loader, 0, 0);
    cr_assert_null(dlb_loader_next(loader));
    dlb_loader_free(loader);
}

Test(loader, pixels_are_normalised)
{
    dlb_loader_options wanted = options(0);
    wanted.shuffle = DLB_SHUFFLE_NONE;
    wanted.mean = 0.1307f;
    wanted.std = 0.3081f;
    uint8_t images[] = {0, 51, 255, 1, 2, 3}, label = 0;
    dlb_dataset one = {1, 1, 6, 1, 1, images, &label};
    wanted.set = &one;
    dlb_loader *loader = create(wanted);
    dlb_loader_begin_epoch(loader, 0, 0);
    const float *x = dlb_loader_next(loader)->x;
    cr_assert_float_eq(x[0], -0.42421296, 1e-6);
    cr_assert_float_eq(x[1], 0.22492697, 1e-6);
    cr_assert_float_eq(x[2], 2.8214867, 1e-6);
    cr_assert_eq((uintptr_t)x % DLB_CACHE_LINE, 0);
    dlb_loader_free(loader);
}

Test(loader, a_batch_stays_as_it_is_until_the_next_is_asked_for)
{
    dlb_loader_options wanted = options(4);
    wanted.shuffle = DLB_SHUFFLE_NONE;
    dlb_loader *loader = create(wanted);
    for (uint32_t epoch = 0; epoch < 50; epoch++) {
        dlb_loader_begin_epoch(loader, epoch, 0);
        const dlb_batch *batch;
        for (int step = 0; (batch = dlb_loader_next(loader)); step++)
            for (int repeat = 0; repeat < 20; repeat++)
                cr_assert_eq(batch->x[0], (float)(uint8_t)(10 * step) / 255.0f);
    }
    dlb_loader_free(loader);
}

Test(loader, an_epoch_can_be_abandoned_for_another_at_any_step)
{
    uint32_t expected[IMAGES], order[IMAGES];
    order_of(options(0), 9, expected);
    for (int readers = 0; readers <= 3; readers++) {
        dlb_loader *loader = create(options(readers));
        for (int steps = 0; steps <= dlb_loader_steps(loader); steps++) {
            dlb_loader_begin_epoch(loader, (uint32_t)steps, 0);
            for (int i = 0; i < steps; i++)
                cr_assert_not_null(dlb_loader_next(loader));
            run_epoch(loader, 9, order);
            cr_assert_arr_eq(order, expected, sizeof order);
        }
        dlb_loader_free(loader);
    }
}

static void wait_ns(int64_t duration)
{
    for (int64_t end = dlb_clock_ns() + duration; dlb_clock_ns() < end;)
        ;
}

Test(loader, nothing_of_an_epoch_abandoned_at_any_moment_is_seen_in_the_next)
{
    uint32_t expected[IMAGES] = {0};
    order_of(options(0), 9, expected);
    dlb_loader *loader = create(options(3));
    for (int round = 0; round < 2000; round++) {
        dlb_loader_begin_epoch(loader, 0, 0);
        wait_ns(round % 100 * 1000);
        dlb_loader_begin_epoch(loader, 9, 0);
        const dlb_batch *batch = dlb_loader_next(loader);
        cr_assert_eq(batch->step, 0);
        for (int i = 0; i < batch->count; i++)
            cr_assert(shows(batch->x + i * PIXELS, set.images + expected[i] * PIXELS));
    }
    dlb_loader_free(loader);
}

Test(loader, can_be_freed_at_any_step)
{
    for (int readers = 0; readers <= 3; readers++) {
        for (int steps = 0; steps <= 11; steps++) {
            dlb_loader *loader = create(options(readers));
            dlb_loader_begin_epoch(loader, 0, 0);
            for (int i = 0; i < steps; i++)
                dlb_loader_next(loader);
            dlb_loader_free(loader);
        }
    }
    dlb_loader_free(NULL);
}

Test(loader, has_nothing_to_give_before_its_first_epoch)
{
    dlb_loader *loader = create(options(2));
    cr_assert_null(dlb_loader_next(loader));
    dlb_loader_free(loader);
}

static void expect_refusal(dlb_loader_options wanted, const char *what)
{
    dlb_loader *loader;
    dlb_error err;
    cr_assert_eq(dlb_loader_create(&loader, &wanted, &err), DLB_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, what), "no \"%s\" in: %s", what, err.message);
}

Test(loader, impossible_options_are_refused)
{
    dlb_loader_options wanted = options(-1);
    expect_refusal(wanted, "readers = -1");
    wanted = options(0);
    wanted.batch = 0;
    expect_refusal(wanted, "batch = 0");
    wanted = options(0);
    wanted.std = 0;
    expect_refusal(wanted, "std 0");
}
