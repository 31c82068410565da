/* The batches of several workers, played by one process or by several. */
#include <criterion/criterion.h>

#include "data/loader.h"

enum { MOST_IMAGES = 103, MOST_WORKERS = 8 };

/* Image i has one pixel, which is i, and so is its label. */
static uint8_t numbers[MOST_IMAGES];
static dlb_dataset set = {
    .h = 1, .w = 1, .c = 1, .classes = MOST_IMAGES, .images = numbers, .labels = numbers};

static void make_set(void)
{
    for (int i = 0; i < MOST_IMAGES; i++)
        numbers[i] = (uint8_t)i;
    set.count = MOST_IMAGES;
}

TestSuite(loader_workers, .init = make_set);

static dlb_loader_options options(int workers, int batch, dlb_shuffle shuffle)
{
    return (dlb_loader_options){.set = &set,
                                .batch = batch,
                                .shuffle = shuffle,
                                .workers = workers,
                                .worker_count = workers,
                                .readers = 1,
                                .std = 1,
                                .seed = 1};
}

/* What an epoch made of each image. */
typedef struct shown {
    int times, worker, step, place, step_images;
} shown;

typedef struct epoch_seen {
    int steps;
    shown images[MOST_IMAGES];
    int counts[MOST_IMAGES][MOST_WORKERS]; /* of each step and worker */
} epoch_seen;

static void note(epoch_seen *seen, const dlb_batch *batch)
{
    seen->counts[batch->step][batch->worker] = batch->count;
    for (int i = 0; i < batch->count; i++) {
        uint32_t image = batch->indices[i];
        cr_assert_eq(batch->labels[i], image);
        cr_assert_eq(batch->x[i], (float)image / 255.0F);
        int times = seen->images[image].times + 1;
        seen->images[image] = (shown){times, batch->worker, batch->step, i, batch->step_images};
    }
}

/* The part of an epoch that the workers of one process see, step by step and worker by worker. */
static void run(const dlb_loader_options *wanted, uint32_t epoch, int first_step, epoch_seen *seen)
{
    dlb_loader *loader;
    dlb_error err;
    cr_assert_eq(dlb_loader_create(&loader, wanted, &err), 0, "%s", err.message);
    seen->steps = dlb_loader_steps(loader);
    dlb_loader_begin_epoch(loader, epoch, first_step);
    for (int step = first_step; step < seen->steps; step++) {
        for (int i = 0; i < wanted->worker_count; i++) {
            const dlb_batch *batch = dlb_loader_next(loader);
            cr_assert_not_null(batch);
            cr_assert_eq(batch->step, step);
            cr_assert_eq(batch->worker, wanted->first_worker + i);
            note(seen, batch);
        }
    }
    cr_assert_null(dlb_loader_next(loader));
    dlb_loader_free(loader);
}

/* An epoch whose workers are spread over processes, unevenly if need be. */
static epoch_seen spread(dlb_loader_options wanted, int processes, uint32_t epoch)
{
    epoch_seen seen = {0};
    for (int process = 0; process < processes; process++) {
        wanted.first_worker = process * wanted.workers / processes;
        wanted.worker_count = (process + 1) * wanted.workers / processes - wanted.first_worker;
        run(&wanted, epoch, 0, &seen);
    }
    return seen;
}

static void expect_same(const epoch_seen *a, const epoch_seen *b)
{
    cr_assert_eq(a->steps, b->steps);
    cr_assert_arr_eq(a->images, b->images, sizeof a->images);
    cr_assert_arr_eq(a->counts, b->counts, sizeof a->counts);
}

/* Sizes that divide each other, that do not, and that leave workers without an image. */
static void for_each_case(void (*check)(dlb_loader_options))
{
    const int images[4] = {1, 7, 64, MOST_IMAGES}, workers[4] = {1, 2, 3, MOST_WORKERS};
    const int batches[4] = {1, 4, 10, 200};
    const dlb_shuffle shuffles[3] = {DLB_SHUFFLE_NONE, DLB_SHUFFLE_GLOBAL, DLB_SHUFFLE_SHARD};
    for (int i = 0; i < 4 * 4 * 4 * 3; i++) {
        set.count = images[i % 4];
        check(options(workers[i / 4 % 4], batches[i / 16 % 4], shuffles[i / 64]));
    }
}

static void expect_each_image_once(dlb_loader_options wanted)
{
    for (int processes = 1; processes <= wanted.workers; processes++) {
        epoch_seen seen = spread(wanted, processes, 5);
        for (int i = 0; i < set.count; i++)
            cr_assert_eq(seen.images[i].times, 1, "image %d of %d, %d workers, batch %d", i,
                         set.count, wanted.workers, wanted.batch);
    }
}

Test(loader_workers, together_they_see_every_image_once_an_epoch)
{
    for_each_case(expect_each_image_once);
}

static void expect_the_same_in_every_spread(dlb_loader_options wanted)
{
    epoch_seen alone = spread(wanted, 1, 5);
    for (int processes = 2; processes <= wanted.workers + 1; processes++) {
        epoch_seen apart = spread(wanted, processes, 5);
        expect_same(&alone, &apart);
    }
}

Test(loader_workers, batches_do_not_depend_on_how_workers_are_spread_over_processes)
{
    for_each_case(expect_the_same_in_every_spread);
}

static void expect_step_images(dlb_loader_options wanted)
{
    epoch_seen seen = spread(wanted, 1, 5);
    for (int i = 0; i < set.count; i++) {
        int sum = 0;
        for (int worker = 0; worker < wanted.workers; worker++)
            sum += seen.counts[seen.images[i].step][worker];
        cr_assert_eq(seen.images[i].step_images, sum);
    }
}

Test(loader_workers, a_batch_tells_the_images_of_all_workers_in_its_step)
{
    for_each_case(expect_step_images);
}

static void expect_full_batches(dlb_loader_options wanted)
{
    wanted.drop_last = true;
    epoch_seen seen = spread(wanted, wanted.workers, 5);
    cr_assert_eq(seen.steps, set.count / wanted.workers / wanted.batch);
    for (int step = 0; step < seen.steps; step++)
        for (int worker = 0; worker < wanted.workers; worker++)
            cr_assert_eq(seen.counts[step][worker], wanted.batch);
}

Test(loader_workers, drop_last_leaves_full_batches_for_all)
{
    for_each_case(expect_full_batches);
}

static void expect_even_steps(dlb_loader_options wanted)
{
    epoch_seen seen = spread(wanted, 1, 5);
    for (int step = 0; step < seen.steps; step++) {
        int least = wanted.batch, most = 0;
        for (int worker = 0; worker < wanted.workers; worker++) {
            int count = seen.counts[step][worker];
            least = count < least ? count : least;
            most = count > most ? count : most;
        }
        cr_assert_gt(most, 0, "nobody has an image in step %d", step);
        cr_assert_leq(most - least, 1, "batches of %d and %d images in one step", least, most);
    }
}

Test(loader_workers, nobody_has_more_than_one_image_less_than_another)
{
    for_each_case(expect_even_steps);
}

static void expect_the_tail_after_resuming(dlb_loader_options wanted)
{
    epoch_seen whole = spread(wanted, 1, 3);
    for (int first = 0; first <= whole.steps; first++) {
        epoch_seen tail = {0};
        run(&wanted, 3, first, &tail);
        for (int i = 0; i < set.count; i++) {
            const shown nothing = {0}, *then = &whole.images[i];
            const shown *expected = then->step < first ? &nothing : then;
            cr_assert_arr_eq(&tail.images[i], expected, sizeof *expected);
        }
    }
}

Test(loader_workers, an_epoch_resumed_at_a_step_is_the_tail_of_the_whole)
{
    for_each_case(expect_the_tail_after_resuming);
}

Test(loader_workers, batches_do_not_depend_on_the_readers)
{
    dlb_loader_options wanted = options(5, 4, DLB_SHUFFLE_GLOBAL);
    wanted.readers = 0;
    epoch_seen expected = spread(wanted, 2, 5);
    for (wanted.readers = 1; wanted.readers <= 3; wanted.readers++) {
        epoch_seen seen = spread(wanted, 2, 5);
        expect_same(&expected, &seen);
    }
}

static int shard_of(int image, int workers)
{
    int worker = 0;
    while ((worker + 1) * set.count / workers <= image)
        worker++;
    return worker;
}

Test(loader_workers, images_stay_in_their_shard_under_shuffle_shard)
{
    for (uint32_t epoch = 0; epoch < 10; epoch++) {
        epoch_seen seen = spread(options(5, 4, DLB_SHUFFLE_SHARD), 2, epoch);
        for (int i = 0; i < set.count; i++)
            cr_assert_eq(seen.images[i].worker, shard_of(i, 5));
    }
}

Test(loader_workers, images_move_between_workers_under_shuffle_global)
{
    epoch_seen one = spread(options(5, 4, DLB_SHUFFLE_GLOBAL), 1, 0);
    epoch_seen two = spread(options(5, 4, DLB_SHUFFLE_GLOBAL), 1, 1);
    int moved = 0;
    for (int i = 0; i < set.count; i++)
        moved += one.images[i].worker != two.images[i].worker;
    cr_assert_gt(moved, set.count / 2);
}

/* The order within the shard of `worker`, from 0. */
static void order_in_shard(const epoch_seen *seen, int worker, int images, int order[])
{
    for (int i = 0; i < images; i++) {
        const shown *image = &seen->images[worker * images + i];
        order[image->step * 4 + image->place] = i;
    }
}

Test(loader_workers, each_shard_has_an_order_of_its_own_and_a_new_one_each_epoch)
{
    enum { SHARD = 25 };
    set.count = 4 * SHARD;
    int first[SHARD], other[SHARD];
    epoch_seen seen = spread(options(4, 4, DLB_SHUFFLE_SHARD), 1, 0);
    epoch_seen next = spread(options(4, 4, DLB_SHUFFLE_SHARD), 1, 1);
    order_in_shard(&seen, 0, SHARD, first);
    for (int worker = 1; worker < 4; worker++) {
        order_in_shard(&seen, worker, SHARD, other);
        cr_assert_arr_neq(first, other, sizeof first, "that of worker %d is the same", worker);
    }
    order_in_shard(&next, 0, SHARD, other);
    cr_assert_arr_neq(first, other, sizeof first, "the same in the next epoch");
}

Test(loader_workers, one_worker_is_the_same_as_none_given)
{
    dlb_loader_options one = options(1, 10, DLB_SHUFFLE_GLOBAL), unspecified = one;
    unspecified.workers = unspecified.worker_count = 0;
    epoch_seen expected = spread(one, 1, 5), seen = {0};
    dlb_loader *loader;
    cr_assert_eq(dlb_loader_create(&loader, &unspecified, NULL), 0);
    dlb_loader_begin_epoch(loader, 5, 0);
    for (const dlb_batch *batch; (batch = dlb_loader_next(loader));)
        note(&seen, batch);
    cr_assert_arr_eq(seen.images, expected.images, sizeof seen.images);
    dlb_loader_free(loader);
}

Test(loader_workers, a_process_without_workers_has_no_batches)
{
    for (int readers = 0; readers <= 2; readers++) {
        dlb_loader_options wanted = options(3, 10, DLB_SHUFFLE_GLOBAL);
        wanted.first_worker = 3;
        wanted.worker_count = 0;
        wanted.readers = readers;
        epoch_seen seen = {0};
        run(&wanted, 0, 0, &seen);
        cr_assert_eq(seen.steps, 4);
    }
}

static void expect_refusal(int workers, int first, int count)
{
    dlb_loader_options wanted = options(workers, 10, DLB_SHUFFLE_NONE);
    wanted.first_worker = first;
    wanted.worker_count = count;
    dlb_loader *loader;
    dlb_error err;
    cr_assert_eq(dlb_loader_create(&loader, &wanted, &err), DLB_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "workers = "), "%s", err.message);
}

Test(loader_workers, workers_that_there_are_not_are_refused)
{
    expect_refusal(4, 2, 3);
    expect_refusal(4, 5, 0);
    expect_refusal(4, -1, 2);
    expect_refusal(4, 0, -1);
    expect_refusal(-4, 0, 0);
    expect_refusal(0, 0, 2);
    expect_refusal(0x7fffffff, 0x7fffffff, 0x7fffffff);
}
