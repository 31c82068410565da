#include "data/synthetic.h"

#include <endian.h>
#include <stdbool.h>

#include "base/mem.h"
#include "dlk/rng.h"

enum { STREAM_PATTERN, STREAM_TRAIN, STREAM_TEST }; /* of DLK_RNG_SYNTHETIC */
enum { CELL = 4 };                                  /* pixels; coarse enough to outlast pooling */
enum { MAX_SIDE = 4096, MAX_CHANNELS = 64, MAX_CLASSES = 256 };

static bool within(int value, int limit)
{
    return 1 <= value && value <= limit;
}

static int check_shape(const dlb_dataset *set, dlb_error *err)
{
    if (within(set->h, MAX_SIDE) && within(set->w, MAX_SIDE) && within(set->c, MAX_CHANNELS) &&
        within(set->classes, MAX_CLASSES))
        return 0;
    return dlb_fail(err, DLB_BAD_INPUT,
                    "data synthetic: images of %d x %d x %d in %d classes; from 1 x 1 x 1 in 1 to "
                    "%d x %d x %d in %d can be made",
                    set->h, set->w, set->c, set->classes, MAX_SIDE, MAX_SIDE, MAX_CHANNELS,
                    MAX_CLASSES);
}

static size_t pixels_of(const dlb_dataset *set)
{
    return (size_t)set->h * (size_t)set->w * (size_t)set->c;
}

static dlk_rng_key key_of(uint32_t seed, int stream, int item)
{
    return (dlk_rng_key){.seed = seed,
                         .purpose = DLK_RNG_SYNTHETIC,
                         .stream = (uint16_t)stream,
                         .step = (uint32_t)item};
}

/* A brightness for each cell of CELL x CELL pixels, in each channel. */
static void draw_pattern(const dlb_dataset *set, const dlk_rng_key *key, uint8_t *pattern)
{
    int cells_in_row = (set->w + CELL - 1) / CELL * set->c;
    for (int y = 0; y < set->h; y++) {
        for (int x = 0; x < set->w * set->c; x++) {
            int cell = y / CELL * cells_in_row + x / (CELL * set->c) * set->c + x % set->c;
            *pattern++ = (uint8_t)dlk_rng_below(key, (uint32_t)cell, 256);
        }
    }
}

/* [classes][h][w][c], or NULL. */
static uint8_t *make_patterns(const dlb_dataset *set, uint32_t seed)
{
    uint8_t *patterns = dlb_try_alloc((size_t)set->classes, pixels_of(set));
    for (int label = 0; patterns && label < set->classes; label++) {
        dlk_rng_key key = key_of(seed, STREAM_PATTERN, label);
        draw_pattern(set, &key, patterns + (size_t)label * pixels_of(set));
    }
    return patterns;
}

/* The pattern and noise in equal parts. */
static void draw_image(const dlk_rng_key *key, const uint8_t *pattern, uint8_t *image,
                       size_t pixels)
{
    uint32_t words[4];
    uint8_t noise[sizeof words];
    for (size_t at = 0; at < pixels; at += sizeof noise) {
        dlk_rng_block(key, (uint32_t)(at / sizeof noise), words);
        for (int i = 0; i < 4; i++)
            words[i] = htole32(words[i]);
        memcpy(noise, words, sizeof noise);
        size_t count = pixels - at < sizeof noise ? pixels - at : sizeof noise;
        for (size_t i = 0; i < count; i++)
            image[at + i] = (uint8_t)((pattern[at + i] + noise[i]) / 2);
    }
}

static int make_set(dlb_dataset *set, uint32_t seed, int stream, const uint8_t *patterns,
                    dlb_error *err)
{
    size_t pixels = pixels_of(set);
    set->images = dlb_try_alloc((size_t)set->count, pixels);
    set->labels = dlb_try_alloc((size_t)set->count, 1);
    if (!set->images || !set->labels || !patterns)
        return dlb_fail(err, DLB_FAIL,
                        "data synthetic: not enough memory for %d images of %zu bytes", set->count,
                        pixels);
    for (int i = 0; i < set->count; i++) {
        int label = i % set->classes;
        dlk_rng_key key = key_of(seed, stream, i);
        set->labels[i] = (uint8_t)label;
        draw_image(&key, patterns + (size_t)label * pixels, set->images + (size_t)i * pixels,
                   pixels);
    }
    return 0;
}

static int value_or(int value, int otherwise)
{
    return value ? value : otherwise;
}

int dlb_synthetic_make(dlb_data *data, const dlb_data_source *source, dlb_error *err)
{
    dlb_dataset shape = {.h = value_or(source->h, 28),
                         .w = value_or(source->w, 28),
                         .c = value_or(source->c, 1),
                         .classes = value_or(source->classes, 10)};
    if (check_shape(&shape, err) < 0)
        return DLB_BAD_INPUT;
    snprintf(data->source, sizeof data->source, "synthetic");
    data->train = data->test = shape;
    data->train.count = value_or(source->train_images, 60000);
    data->test.count = value_or(source->test_images, 10000);

    uint8_t *patterns = make_patterns(&shape, source->seed);
    int status = make_set(&data->train, source->seed, STREAM_TRAIN, patterns, err);
    if (status == 0)
        status = make_set(&data->test, source->seed, STREAM_TEST, patterns, err);
    free(patterns);
    return status;
}
