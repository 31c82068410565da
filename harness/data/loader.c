#include "data/loader.h"

#include <math.h>
#include <pthread.h>

#include "base/mem.h"
#include "dlk/rng.h"

enum { MAX_READERS = 1024 };

/* A buffer of the ring. Step s of an epoch is prepared in slot s % slots. */
typedef struct batch_slot {
    dlb_batch batch;
    float *x;
    uint8_t *labels;
    bool ready; /* holds a batch that dlb_loader_next has not handed out yet */
} batch_slot;

/*
 * Steps pass through three counters, released <= delivered <= claimed <= steps: a reader claims
 * the next step when its slot is free, that is claimed < released + slots; dlb_loader_next
 * delivers steps in order and releases the one it delivered before. An epoch is over when all
 * three have reached `steps`. The mutex guards these, the slots' ready flags and `stopping`; a
 * claimed slot that is not ready belongs to the thread that claimed it.
 */
struct dlb_loader {
    dlb_loader_options options;
    size_t pixels; /* of an image */
    int steps;
    float normalised[256]; /* of each pixel value */
    uint32_t *order;       /* [set->count], the epoch's permutation */

    batch_slot *slots;
    int slot_count;

    pthread_mutex_t mutex;
    pthread_cond_t may_claim, may_deliver;
    int released, delivered, claimed;
    int preparing; /* claimed slots that are not ready */
    bool stopping;

    pthread_t *threads;
    int thread_count; /* started */
};

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Fills slot `step` % slots. Reads only what is constant during an epoch. */
static void prepare(dlb_loader *loader, int step)
{
    const dlb_dataset *set = loader->options.set;
    batch_slot *slot = &loader->slots[step % loader->slot_count];
    size_t first = (size_t)step * (size_t)loader->options.batch;
    int count = smaller(loader->options.batch, set->count - (int)first);
    const uint32_t *indices = loader->order + first;

    float *x = slot->x;
    for (int i = 0; i < count; i++) {
        const uint8_t *image = set->images + indices[i] * loader->pixels;
        for (size_t pixel = 0; pixel < loader->pixels; pixel++)
            *x++ = loader->normalised[image[pixel]];
        slot->labels[i] = set->labels[indices[i]];
    }
    slot->batch = (dlb_batch){
        .count = count, .step = step, .x = slot->x, .labels = slot->labels, .indices = indices};
}

/* With the mutex held; it is let go while the batch is being prepared. */
static void claim_and_prepare(dlb_loader *loader)
{
    int step = loader->claimed++;
    loader->preparing++;
    pthread_mutex_unlock(&loader->mutex);
    prepare(loader, step);
    pthread_mutex_lock(&loader->mutex);
    loader->preparing--;
    loader->slots[step % loader->slot_count].ready = true;
    pthread_cond_signal(&loader->may_deliver);
}

static bool can_claim(const dlb_loader *loader)
{
    return loader->claimed < loader->steps &&
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
    if (loader->delivered < loader->steps) {
        if (loader->thread_count == 0)
            claim_and_prepare(loader);
        else
            pthread_cond_signal(&loader->may_claim);
        batch_slot *slot = &loader->slots[loader->delivered % loader->slot_count];
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
    loader->claimed = loader->steps;
    while (loader->preparing)
        pthread_cond_wait(&loader->may_deliver, &loader->mutex);
    loader->released = loader->delivered = loader->steps;
    for (int i = 0; i < loader->slot_count; i++)
        loader->slots[i].ready = false;
}

/* Fisher–Yates from the identity. */
static void arrange(dlb_loader *loader, uint32_t epoch)
{
    uint32_t *order = loader->order, count = (uint32_t)loader->options.set->count;
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    if (!loader->options.shuffle)
        return;
    dlk_rng_key key = {.seed = loader->options.seed, .purpose = DLK_RNG_SHUFFLE, .epoch = epoch};
    for (uint32_t i = count - 1; i > 0; i--) {
        uint32_t other = dlk_rng_below(&key, i, i + 1);
        uint32_t moved = order[i];
        order[i] = order[other];
        order[other] = moved;
    }
}

void dlb_loader_begin_epoch(dlb_loader *loader, uint32_t epoch)
{
    pthread_mutex_lock(&loader->mutex);
    abandon_epoch(loader);
    arrange(loader, epoch);
    loader->released = loader->delivered = loader->claimed = 0;
    pthread_cond_broadcast(&loader->may_claim);
    pthread_mutex_unlock(&loader->mutex);
}

int dlb_loader_steps(const dlb_loader *loader)
{
    return loader->steps;
}

static int count_steps(const dlb_loader_options *options)
{
    int whole = options->set->count / options->batch;
    bool rest = options->set->count % options->batch != 0;
    return whole + (rest && !options->drop_last);
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
    return 0;
}

static int allocate(dlb_loader *loader, dlb_error *err)
{
    const dlb_loader_options *options = &loader->options;
    size_t largest = (size_t)smaller(options->batch, options->set->count);
    loader->slot_count = options->readers ? 2 * options->readers : 2;
    loader->slots = dlb_alloc((size_t)loader->slot_count, sizeof *loader->slots);
    loader->order = dlb_alloc((size_t)options->set->count, sizeof *loader->order);
    loader->threads = dlb_alloc((size_t)options->readers, sizeof *loader->threads);
    for (int i = 0; i < loader->slot_count; i++) {
        loader->slots[i].x = dlb_try_alloc(largest, loader->pixels * sizeof(float));
        loader->slots[i].labels = dlb_try_alloc(largest, 1);
        if (!loader->slots[i].x || !loader->slots[i].labels)
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
    for (int value = 0; value < 256; value++)
        loader->normalised[value] =
            ((float)value / 255.0f - loader->options.mean) / loader->options.std;
}

int dlb_loader_create(dlb_loader **created, const dlb_loader_options *options, dlb_error *err)
{
    if (check_options(options, err) < 0)
        return DLB_BAD_INPUT;
    const dlb_dataset *set = options->set;
    dlb_loader *loader = dlb_alloc(1, sizeof *loader);
    loader->options = *options;
    loader->pixels = (size_t)set->h * (size_t)set->w * (size_t)set->c;
    loader->steps = count_steps(options);
    loader->released = loader->delivered = loader->claimed = loader->steps;
    tabulate(loader);
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
    for (int i = 0; i < loader->slot_count; i++) {
        free(loader->slots[i].labels);
        free(loader->slots[i].x);
    }
    free(loader->threads);
    free(loader->order);
    free(loader->slots);
    pthread_cond_destroy(&loader->may_deliver);
    pthread_cond_destroy(&loader->may_claim);
    pthread_mutex_destroy(&loader->mutex);
    free(loader);
}
