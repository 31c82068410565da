#include "data/folder.h"

#include <pthread.h>
#include <stdbool.h>

#include "data/files.h"
#include "data/idx.h"

/* One file on its way into memory; the four are inflated side by side. */
typedef struct reading {
    const char *path;
    int items; /* at most; INT_MAX = all */
    dlb_idx idx;
    dlb_error err;
    int status;
    pthread_t thread;
    bool threaded;
} reading;

static void *read_one(void *argument)
{
    reading *file = argument;
    file->status = dlb_idx_read_first(&file->idx, file->path, file->items, &file->err);
    return NULL;
}

static int read_all(reading files[DLB_FILE_COUNT], dlb_error *err)
{
    for (int i = 0; i < DLB_FILE_COUNT; i++) {
        files[i].threaded = pthread_create(&files[i].thread, NULL, read_one, &files[i]) == 0;
        if (!files[i].threaded)
            read_one(&files[i]);
    }
    int status = 0;
    for (int i = 0; i < DLB_FILE_COUNT; i++) {
        if (files[i].threaded)
            pthread_join(files[i].thread, NULL);
        if (files[i].status < 0 && status == 0)
            status = dlb_fail(err, files[i].status, "%s", files[i].err.message);
    }
    return status;
}

static size_t image_bytes(const dlb_idx *images)
{
    return (size_t)images->dim[1] * (size_t)images->dim[2] * (size_t)images->dim[3];
}

static int check_ranks(const reading *images, const reading *labels, dlb_error *err)
{
    if (images->idx.rank < 3)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "%s: %d dimensions; images have 3 (count, height, width), or 4 with "
                        "channels",
                        images->path, images->idx.rank);
    if (labels->idx.rank != 1)
        return dlb_fail(err, DLB_BAD_INPUT, "%s: %d dimensions; labels have 1", labels->path,
                        labels->idx.rank);
    if (image_bytes(&images->idx) > INT_MAX)
        return dlb_fail(err, DLB_BAD_INPUT, "%s: an image is larger than 2 GB", images->path);
    return 0;
}

static int check_pair(const reading *images, const reading *labels, dlb_error *err)
{
    if (check_ranks(images, labels, err) < 0)
        return DLB_BAD_INPUT;
    if (images->idx.dim[0] != labels->idx.dim[0])
        return dlb_fail(err, DLB_BAD_INPUT, "%s has %d images, but %s has %d labels", images->path,
                        images->idx.dim[0], labels->path, labels->idx.dim[0]);
    return 0;
}

static int check_same_shape(const reading *train, const reading *test, dlb_error *err)
{
    const int *a = train->idx.dim, *b = test->idx.dim;
    if (a[1] == b[1] && a[2] == b[2] && a[3] == b[3])
        return 0;
    return dlb_fail(err, DLB_BAD_INPUT,
                    "%s has images of %d x %d x %d, but %s has images of %d x %d x %d", train->path,
                    a[1], a[2], a[3], test->path, b[1], b[2], b[3]);
}

static int check_labels(const reading *labels, int classes, dlb_error *err)
{
    for (int i = 0; i < labels->idx.dim[0]; i++)
        if (labels->idx.bytes[i] >= classes)
            return dlb_fail(err, DLB_BAD_INPUT,
                            "%s: label %d of image %d is out of range; this set has labels 0 to %d",
                            labels->path, labels->idx.bytes[i], i, classes - 1);
    return 0;
}

static int check_files(const reading files[DLB_FILE_COUNT], dlb_error *err)
{
    if (check_pair(&files[DLB_TRAIN_IMAGES], &files[DLB_TRAIN_LABELS], err) < 0 ||
        check_pair(&files[DLB_TEST_IMAGES], &files[DLB_TEST_LABELS], err) < 0)
        return DLB_BAD_INPUT;
    return check_same_shape(&files[DLB_TRAIN_IMAGES], &files[DLB_TEST_IMAGES], err);
}

static int highest_label(const dlb_idx *labels)
{
    int highest = 0;
    for (int i = 0; i < labels->dim[0]; i++)
        if (labels->bytes[i] > highest)
            highest = labels->bytes[i];
    return highest;
}

static int count_classes(const dlb_idx *train, const dlb_idx *test)
{
    int a = highest_label(train), b = highest_label(test);
    return 1 + (a > b ? a : b);
}

/* Moves the first `wanted` images (0 = all) and their labels into *set. */
static int take(dlb_dataset *set, int wanted, const char *key, reading *images, reading *labels,
                dlb_error *err)
{
    int available = images->idx.dim[0];
    if (wanted > available)
        return dlb_fail(err, DLB_BAD_INPUT, "%s = %d, but %s has only %d images", key, wanted,
                        images->path, available);
    set->count = wanted ? wanted : available;
    set->h = images->idx.dim[1];
    set->w = images->idx.dim[2];
    set->c = images->idx.dim[3];
    set->images = images->idx.bytes;
    set->labels = labels->idx.bytes;
    images->idx.bytes = labels->idx.bytes = NULL;
    return 0;
}

static int assemble(dlb_data *data, const dlb_data_source *source, int known_classes,
                    reading files[DLB_FILE_COUNT], dlb_error *err)
{
    reading *train_labels = &files[DLB_TRAIN_LABELS], *test_labels = &files[DLB_TEST_LABELS];
    if (check_files(files, err) < 0)
        return DLB_BAD_INPUT;
    int classes =
        known_classes ? known_classes : count_classes(&train_labels->idx, &test_labels->idx);
    if (check_labels(train_labels, classes, err) < 0 || check_labels(test_labels, classes, err) < 0)
        return DLB_BAD_INPUT;
    data->train.classes = data->test.classes = classes;
    if (take(&data->train, source->train_images, "train_images", &files[DLB_TRAIN_IMAGES],
             train_labels, err) < 0)
        return DLB_BAD_INPUT;
    return take(&data->test, source->test_images, "test_images", &files[DLB_TEST_IMAGES],
                test_labels, err);
}

/* Labels are read whole, so that the number of classes does not depend on the images in use. */
static void describe(reading files[DLB_FILE_COUNT], const dlb_files *found,
                     const dlb_data_source *source)
{
    for (int i = 0; i < DLB_FILE_COUNT; i++)
        files[i] = (reading){.path = found->path[i].text, .items = INT_MAX};
    if (source->train_images)
        files[DLB_TRAIN_IMAGES].items = source->train_images;
    if (source->test_images)
        files[DLB_TEST_IMAGES].items = source->test_images;
}

int dlb_folder_load(dlb_data *data, const dlb_data_source *source, dlb_error *err)
{
    dlb_files found = {0};
    reading files[DLB_FILE_COUNT] = {0};
    int status = dlb_files_find(&found, source->name, err);
    if (status == 0) {
        describe(files, &found, source);
        status = read_all(files, err);
    }
    if (status == 0)
        status = assemble(data, source, found.classes, files, err);
    memcpy(data->source, found.folder, sizeof data->source);

    for (int i = 0; i < DLB_FILE_COUNT; i++)
        dlb_idx_release(&files[i].idx);
    dlb_files_release(&found);
    return status;
}
