#include "data/loader.h"

#include <math.h>
#include <pthread.h>

#include "base/mem.h"
#include "dlk/rng.h"

enum { MAX_READERS = 1024 };

/* A buffer of the ring. Batch b of an epoch is prepared in slot b % slots. */
typedef struct batch_slot {
    dlb_batch batch;
    float *x;
    bool ready; /* holds a batch that dlb_loader_next has not handed out yet */
} batch_slot;

/*
 * The batches of this process are numbered through an epoch: batch b is that of step
 * b / worker_count and of the worker b % worker_count from first_worker on.
 *
 * They pass through three counters, released <= delivered <= claimed <= batches: a reader claims
 * the next batch when its slot is free, that is claimed < released + slots; dlb_loader_next
 * delivers batches in order and releases the one it delivered before. An epoch is over when all
 * three have reached `batches`. The mutex guards these, the slots' ready flags and `stopping`; a
 * claimed slot that is not ready belongs to the thread that claimed it.
 */
struct dlb_loader {
    dlb_loader_options options; /* with workers of at least 1 */
    size_t pixels;              /* of an image */
    int steps;
    int64_t batches;
    dlk_pixels scale;
    float normalised[256]; /* of each pixel value */
    uint32_t *order;       /* [set->count], the epoch's; that of others' shards is of no matter */
    uint8_t *labels;       /* in that order */

    batch_slot *slots;
    int slot_count;

    pthread_mutex_t mutex;
    pthread_cond_t may_claim, may_deliver;
    int64_t released, delivered, claimed;
    int preparing; /* claimed slots that are not ready */
    bool stopping;

    pthread_t *threads;
    int thread_count; /* started */
};

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static batch_slot *slot_of(const dlb_loader *loader, int64_t number)
{
    return &loader->slots[number % loader->slot_count];
}

/* A worker's part of the order. */
typedef struct shard {
    int first, count;
} shard;

static shard shard_of(const dlb_loader_options *options, int worker)
{
    int64_t images = options->set->count;
    int first = (int)(worker * images / options->workers);
    int end = (int)((worker + 1) * images / options->workers);
    return (shard){first, end - first};
}

static int smallest_shard(const dlb_loader_options *options)
{
    return options->set->count / options->workers;
}

static int largest_shard(const dlb_loader_options *options)
{
    return (options->set->count - 1) / options->workers + 1;
}

/* Images of a step that a shard of `images` has. */
static int images_in_step(const dlb_loader_options *options, int images, int step)
{
    int left = images - step * options->batch;
    return left < 0 ? 0 : smaller(left, options->batch);
}

/* Over all workers. N % W of them have one image more than the others. */
static int step_images(const dlb_loader_options *options, int step)
{
    int larger = options->set->count % options->workers;
    return (options->workers - larger) * images_in_step(options, smallest_shard(options), step) +
           larger * images_in_step(options, largest_shard(options), step);
}

/* Copies the images of batch->indices into the slot. */
static void fill_images(const dlb_loader *loader, const batch_slot *slot)
{
    float *x = slot->x;
    for (int i = 0; i < slot->batch.count; i++) {
        const uint8_t *image =
            loader->options.set->images + slot->batch.indices[i] * loader->pixels;
        for (size_t pixel = 0; pixel < loader->pixels; pixel++)
            *x++ = loader->normalised[image[pixel]];
    }
}

/* Reads only what is constant during an epoch, and writes the batch's slot. */
static void prepare(const dlb_loader *loader, int64_t number)
{
    const dlb_loader_options *options = &loader->options;
    int step = (int)(number / options->worker_count);
    int worker = options->first_worker + (int)(number % options->worker_count);
    shard own = shard_of(options, worker);
    int first = own.first + smaller(step * options->batch, own.count);
    batch_slot *slot = slot_of(loader, number);
    slot->batch = (dlb_batch){
        .count = images_in_step(options, own.count, step),
        .worker = worker,
        .step = step,
        .step_images = step_images(options, step),
        .x = slot->x,
        .labels = loader->labels + first,
        .indices = loader->order + first,
    };
    if (!options->pixels)
        fill_images(loader, slot);
}

/* With the mutex held; it is let go while the batch is being prepared. */
static void claim_and_prepare(dlb_loader *loader)
{
    int64_t number = loader->claimed++;
    loader->preparing++;
    pthread_mutex_unlock(&loader->mutex);
    prepare(loader, number);
    pthread_mutex_lock(&loader->mutex);
    loader->preparing--;
    slot_of(loader, number)->ready = true;
    pthread_cond_signal(&loader->may_deliver);
}

static bool can_claim(const dlb_loader *loader)
{
    return loader->claimed < loader->batches &&
           loader->claimed < loader->released + loader->slot_count;
}

static void *reader(void *argument)
{
    dlb_loader *loader = argument;
    pthread_mutex_lock(&loader->mutex);
    while (!loader->stopping) {
        if (can_claim(loader))
            claim_and_prepare(loader);
        else
            pthread_cond_wait(&loader->may_claim, &loader->mutex);
    }
    pthread_mutex_unlock(&loader->mutex);
    return NULL;
}

const dlb_batch *dlb_loader_next(dlb_loader *loader)
{
    pthread_mutex_lock(&loader->mutex);
    loader->released = loader->delivered;
    const dlb_batch *batch = NULL;
    if (loader->delivered < loader->batches) {
        if (loader->thread_count == 0)
            claim_and_prepare(loader);
        else
            pthread_cond_signal(&loader->may_claim);
        batch_slot *slot = slot_of(loader, loader->delivered);
        while (!slot->ready)
            pthread_cond_wait(&loader->may_deliver, &loader->mutex);
        slot->ready = false;
        loader->delivered++;
        batch = &slot->batch;
    }
    pthread_mutex_unlock(&loader->mutex);
    return batch;
}

/* With the mutex held: nobody prepares a batch, and nobody begins to. */
static void abandon_epoch(dlb_loader *loader)
{
    loader->claimed = loader->batches;
    while (loader->preparing)
        pthread_cond_wait(&loader->may_deliver, &loader->mutex);
    loader->released = loader->delivered = loader->batches;
    for (int i = 0; i < loader->slot_count; i++)
        loader->slots[i].ready = false;
}

/* Fisher–Yates. */
static void shuffle(uint32_t *order, int count, const dlk_rng_key *key)
{
    for (int last = count - 1; last > 0; last--) {
        uint32_t other = dlk_rng_below(key, (uint32_t)last, (uint32_t)last + 1);
        uint32_t moved = order[last];
        order[last] = order[other];
        order[other] = moved;
    }
}

static void shuffle_own_shards(dlb_loader *loader, dlk_rng_key key)
{
    const dlb_loader_options *options = &loader->options;
    for (int i = 0; i < options->worker_count; i++) {
        int worker = options->first_worker + i;
        shard own = shard_of(options, worker);
        key.worker = (uint32_t)worker;
        shuffle(loader->order + own.first, own.count, &key);
    }
}

static void arrange(dlb_loader *loader, uint32_t epoch)
{
    const dlb_loader_options *options = &loader->options;
    for (int i = 0; i < options->set->count; i++)
        loader->order[i] = (uint32_t)i;
    dlk_rng_key key = {.seed = options->seed, .purpose = DLK_RNG_SHUFFLE, .epoch = epoch};
    if (options->shuffle == DLB_SHUFFLE_GLOBAL)
        shuffle(loader->order, options->set->count, &key);
    else if (options->shuffle == DLB_SHUFFLE_SHARD)
        shuffle_own_shards(loader, key);
    for (int i = 0; i < options->set->count; i++)
        loader->labels[i] = options->set->labels[loader->order[i]];
}

void dlb_loader_begin_epoch(dlb_loader *loader, uint32_t epoch, int first_step)
{
    int64_t first = (int64_t)first_step * loader->options.worker_count;
    pthread_mutex_lock(&loader->mutex);
    abandon_epoch(loader);
    arrange(loader, epoch);
    loader->released = loader->delivered = loader->claimed = first;
    pthread_cond_broadcast(&loader->may_claim);
    pthread_mutex_unlock(&loader->mutex);
}

const dlk_pixels *dlb_loader_scale(const dlb_loader *loader)
{
    return &loader->scale;
}

int dlb_loader_steps(const dlb_loader *loader)
{
    return loader->steps;
}

static int count_steps(const dlb_loader_options *options)
{
    return options->drop_last ? smallest_shard(options) / options->batch
                              : (largest_shard(options) - 1) / options->batch + 1;
}

/* One worker, played here, where none are given. */
static void resolve_workers(dlb_loader_options *options)
{
    if (options->workers == 0) {
        options->first_worker = 0;
        options->workers = options->worker_count = 1;
    }
}

static int check_workers(const dlb_loader_options *options, dlb_error *err)
{
    if (options->workers < 0 || options->first_worker < 0 || options->worker_count < 0 ||
        options->worker_count > options->workers - options->first_worker)
        return dlb_fail(
            err, DLB_BAD_INPUT, "workers %d to %lld of workers = %d; they are numbered from 0",
            options->first_worker, (long long)options->first_worker + options->worker_count - 1,
            options->workers);
    return 0;
}

static int check_options(const dlb_loader_options *options, dlb_error *err)
{
    if (options->batch < 1)
        return dlb_fail(err, DLB_BAD_INPUT, "batch = %d; at least 1 is needed", options->batch);
    if (options->readers < 0 || options->readers > MAX_READERS)
        return dlb_fail(err, DLB_BAD_INPUT, "readers = %d; 0 to %d are possible", options->readers,
                        MAX_READERS);
    if (!isfinite(options->mean) || !isfinite(options->std) || options->std <= 0)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "normalisation with mean %g and std %g; both must be finite and std "
                        "positive",
                        (double)options->mean, (double)options->std);
    return check_workers(options, err);
}

static int allocate(dlb_loader *loader, dlb_error *err)
{
    const dlb_loader_options *options = &loader->options;
    size_t largest = (size_t)smaller(options->batch, largest_shard(options));
    loader->slot_count = options->readers ? 2 * options->readers : 2;
    loader->slots = dlb_alloc((size_t)loader->slot_count, sizeof *loader->slots);
    loader->order = dlb_alloc((size_t)options->set->count, sizeof *loader->order);
    loader->labels = dlb_alloc((size_t)options->set->count, sizeof *loader->labels);
    loader->threads = dlb_alloc((size_t)options->readers, sizeof *loader->threads);
    for (int i = 0; i < loader->slot_count; i++) {
        if (!options->pixels)
            loader->slots[i].x = dlb_try_alloc(largest, loader->pixels * sizeof(float));
        if (!options->pixels && !loader->slots[i].x)
            return dlb_fail(err, DLB_FAIL,
                            "not enough memory for %d batches of %zu images; lower batch or "
                            "readers",
                            loader->slot_count, largest);
    }
    return 0;
}

static int start_readers(dlb_loader *loader, dlb_error *err)
{
    while (loader->thread_count < loader->options.readers) {
        int failure = pthread_create(&loader->threads[loader->thread_count], NULL, reader, loader);
        if (failure)
            return dlb_fail(err, DLB_FAIL, "cannot start reader %d of %d: %s",
                            loader->thread_count + 1, loader->options.readers, strerror(failure));
        loader->thread_count++;
    }
    return 0;
}

static void tabulate(dlb_loader *loader)
{
    loader->scale = dlk_pixels_of(loader->options.mean, loader->options.std);
    for (int value = 0; value < 256; value++)
        loader->normalised[value] = dlk_pixel(&loader->scale, (uint8_t)value);
}

/* The loader with all its sizes, but without memory and threads; its epoch is over. */
static void plan(dlb_loader *loader, const dlb_loader_options *options)
{
    const dlb_dataset *set = options->set;
    loader->options = *options;
    if (options->pixels)
        loader->options.readers = 0;
    resolve_workers(&loader->options);
    loader->pixels = (size_t)set->h * (size_t)set->w * (size_t)set->c;
    loader->steps = count_steps(&loader->options);
    loader->batches = (int64_t)loader->steps * loader->options.worker_count;
    loader->released = loader->delivered = loader->claimed = loader->batches;
    tabulate(loader);
}

int dlb_loader_create(dlb_loader **created, const dlb_loader_options *options, dlb_error *err)
{
    if (check_options(options, err) < 0)
        return DLB_BAD_INPUT;
    dlb_loader *loader = dlb_alloc(1, sizeof *loader);
    plan(loader, options);
    pthread_mutex_init(&loader->mutex, NULL);
    pthread_cond_init(&loader->may_claim, NULL);
    pthread_cond_init(&loader->may_deliver, NULL);
    int status = allocate(loader, err);
    if (status == 0)
        status = start_readers(loader, err);
    if (status < 0)
        dlb_loader_free(loader);
    else
        *created = loader;
    return status;
}

static void stop_readers(dlb_loader *loader)
{
    pthread_mutex_lock(&loader->mutex);
    loader->stopping = true;
    pthread_cond_broadcast(&loader->may_claim);
    pthread_mutex_unlock(&loader->mutex);
    for (int i = 0; i < loader->thread_count; i++)
        pthread_join(loader->threads[i], NULL);
}

void dlb_loader_free(dlb_loader *loader)
{
    if (!loader)
        return;
    stop_readers(loader);
    for (int i = 0; i < loader->slot_count; i++)
        free(loader->slots[i].x);
    free(loader->threads);
    free(loader->labels);
    free(loader->order);
    free(loader->slots);
    pthread_cond_destroy(&loader->may_deliver);
    pthread_cond_destroy(&loader->may_claim);
    pthread_mutex_destroy(&loader->mutex);
    free(loader);
}
