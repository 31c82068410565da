#include "data/dataset.h"

#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "scratch.h"

#define DIMS(...)   ((const uint32_t[]){__VA_ARGS__})
#define MNIST_DIR   DLB_SOURCE_DIR "/data/mnist"
#define FASHION_DIR "/usr/share/datasets/fashion-mnist"

TestSuite(dataset, .init = scratch_make, .fini = scratch_remove);

static void load(dlb_data *data, const dlb_data_source *source)
{
    dlb_error err;
    cr_assert_eq(dlb_data_load(data, source, &err), 0, "%s", err.message);
}

static void expect_refusal(const dlb_data_source *source, const char *what)
{
    dlb_data data;
    dlb_error err;
    cr_assert_eq(dlb_data_load(&data, source, &err), DLB_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, what), "no \"%s\" in: %s", what, err.message);
    cr_assert_null(data.train.images);
}

static void refuse_folder(const char *what)
{
    expect_refusal(&(dlb_data_source){.name = scratch_path("")}, what);
}

static void write_array(const char *name, int rank, const uint32_t *dims, int modulus)
{
    blob contents = idx_array(rank, dims, modulus);
    scratch_write_gz(name, &contents);
}

/* Twelve training and five test images of 4 x 3 with labels 0 … 2. */
static void write_small_set(void)
{
    write_array("train-images-idx3-ubyte.gz", 3, DIMS(12, 4, 3), 251);
    write_array("train-labels-idx1-ubyte.gz", 1, DIMS(12), 3);
    write_array("t10k-images-idx3-ubyte.gz", 3, DIMS(5, 4, 3), 251);
    write_array("t10k-labels-idx1-ubyte.gz", 1, DIMS(5), 2);
}

static void expect_shape(const dlb_dataset *set, const int expected[5])
{
    const int shape[5] = {set->count, set->h, set->w, set->c, set->classes};
    cr_assert_arr_eq(shape, expected, sizeof shape);
}

static void expect_digits(const dlb_data *data)
{
    expect_shape(&data->train, (int[]){60000, 28, 28, 1, 10});
    expect_shape(&data->test, (int[]){10000, 28, 28, 1, 10});
}

static void count_labels(const dlb_dataset *set, int histogram[10])
{
    memset(histogram, 0, 10 * sizeof *histogram);
    for (int i = 0; i < set->count; i++)
        histogram[set->labels[i]]++;
}

Test(dataset, mnist_is_the_published_set)
{
    dlb_data data;
    setenv("DLBENCH_DATA", DLB_SOURCE_DIR "/data", 1);
    load(&data, &(dlb_data_source){.name = "mnist"});
    expect_digits(&data);
    cr_assert_not_null(strstr(data.source, "/data/mnist"));

    int histogram[10];
    count_labels(&data.train, histogram);
    const int train[] = {5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949};
    cr_assert_arr_eq(histogram, train, sizeof train);
    count_labels(&data.test, histogram);
    const int test[] = {980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009};
    cr_assert_arr_eq(histogram, test, sizeof test);
    cr_assert_eq(data.checksum, 0x479b2d23efdd80fbu);
    dlb_data_release(&data);
}

Test(dataset, mnist_has_the_mean_that_models_normalise_with)
{
    dlb_data data;
    load(&data, &(dlb_data_source){.name = MNIST_DIR});
    uint64_t sum = 0;
    size_t bytes = (size_t)data.train.count * 28 * 28;
    for (size_t i = 0; i < bytes; i++)
        sum += data.train.images[i];
    cr_assert_float_eq((double)sum / 255 / (double)bytes, 0.1307, 5e-5);
    dlb_data_release(&data);
}

Test(dataset, the_bundled_mnist_is_found_without_environment)
{
    dlb_data data;
    unsetenv("DLBENCH_DATA");
    load(&data, &(dlb_data_source){.name = "mnist", .train_images = 1});
    cr_assert_not_null(strstr(data.source, "/mnist"));
    dlb_data_release(&data);
}

Test(dataset, bundled_files_match_their_checksums)
{
    pid_t child = fork();
    if (child == 0) {
        if (chdir(MNIST_DIR) == 0)
            execlp("sha256sum", "sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS",
                   (char *)NULL);
        _exit(127);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

Test(dataset, mnist_elsewhere_is_looked_for_only_there)
{
    setenv("DLBENCH_DATA", scratch_path(""), 1);
    expect_refusal(&(dlb_data_source){.name = "mnist"}, scratch_path(""));
    expect_refusal(&(dlb_data_source){.name = "mnist"}, "set DLBENCH_DATA");
}

Test(dataset, fashion_mnist_is_read_or_its_package_is_named)
{
    dlb_data_source source = {.name = "fashion-mnist"};
    if (access(FASHION_DIR, F_OK) < 0) {
        expect_refusal(&source, "apt-get install dataset-fashion-mnist");
        return;
    }
    dlb_data data;
    load(&data, &source);
    expect_digits(&data);
    int histogram[10];
    count_labels(&data.train, histogram);
    for (int label = 0; label < 10; label++)
        cr_assert_eq(histogram[label], 6000);
    dlb_data_release(&data);
}

Test(dataset, any_folder_with_the_four_files_is_read)
{
    write_small_set();
    dlb_data data;
    load(&data, &(dlb_data_source){.name = scratch_path("")});
    expect_shape(&data.train, (int[]){12, 4, 3, 1, 3});
    expect_shape(&data.test, (int[]){5, 4, 3, 1, 3});
    cr_assert_str_eq(data.source, scratch_path(""));
    for (int i = 0; i < 12 * 4 * 3; i++)
        cr_assert_eq(data.train.images[i], i % 251);
    for (int i = 0; i < 5; i++)
        cr_assert_eq(data.test.labels[i], i % 2);
    dlb_data_release(&data);
}

Test(dataset, plain_files_and_the_dotted_spelling_are_read)
{
    blob images = idx_array(4, DIMS(6, 2, 2, 3), 256), labels = idx_array(1, DIMS(6), 4);
    scratch_write("train-images.idx4-ubyte", &images);
    scratch_write("train-labels.idx1-ubyte", &labels);
    scratch_write_gz("t10k-images.idx4-ubyte.gz", &images);
    scratch_write("t10k-labels-idx1-ubyte", &labels);
    dlb_data data;
    load(&data, &(dlb_data_source){.name = scratch_path("")});
    expect_shape(&data.train, (int[]){6, 2, 2, 3, 4});
    dlb_data_release(&data);
}

Test(dataset, the_first_images_can_be_chosen)
{
    write_small_set();
    dlb_data all, some;
    load(&all, &(dlb_data_source){.name = scratch_path("")});
    load(&some, &(dlb_data_source){.name = scratch_path(""), .train_images = 2, .test_images = 1});
    expect_shape(&some.train, (int[]){2, 4, 3, 1, 3});
    expect_shape(&some.test, (int[]){1, 4, 3, 1, 3});
    cr_assert_arr_eq(some.train.images, all.train.images, 2 * 4 * 3);
    cr_assert_neq(some.checksum, all.checksum);
    dlb_data_release(&some);
    dlb_data_release(&all);
}

Test(dataset, more_images_than_there_are_is_refused)
{
    write_small_set();
    dlb_data_source source = {.name = scratch_path(""), .train_images = 13};
    expect_refusal(&source, "train_images = 13, but ");
    expect_refusal(&source, "has only 12 images");
    source = (dlb_data_source){.name = scratch_path(""), .test_images = 6};
    expect_refusal(&source, "test_images = 6, but ");
    source = (dlb_data_source){.name = scratch_path(""), .test_images = -1};
    expect_refusal(&source, "test_images = -1");
}

Test(dataset, every_missing_file_is_named)
{
    write_small_set();
    unlink(scratch_path("train-labels-idx1-ubyte.gz"));
    unlink(scratch_path("t10k-images-idx3-ubyte.gz"));
    refuse_folder("missing train-labels-idx1-ubyte, t10k-images-idx3-ubyte;");
}

Test(dataset, a_missing_folder_says_what_data_can_be)
{
    expect_refusal(&(dlb_data_source){.name = "no/such/folder"}, "data no/such/folder: No such");
    expect_refusal(&(dlb_data_source){.name = ""}, "mnist, fashion-mnist, synthetic, or a folder");
    expect_refusal(&(dlb_data_source){.name = MNIST_DIR "/SHA256SUMS"}, "Not a directory");
}

Test(dataset, a_broken_file_is_named)
{
    write_small_set();
    scratch_truncate("t10k-images-idx3-ubyte.gz", 30);
    refuse_folder("t10k-images-idx3-ubyte.gz: truncated gzip file");
}

Test(dataset, counts_of_images_and_labels_must_agree)
{
    write_small_set();
    write_array("train-labels-idx1-ubyte.gz", 1, DIMS(11), 3);
    refuse_folder("train-images-idx3-ubyte.gz has 12 images, but ");
    refuse_folder("train-labels-idx1-ubyte.gz has 11 labels");
}

Test(dataset, shapes_of_training_and_test_images_must_agree)
{
    write_small_set();
    write_array("t10k-images-idx3-ubyte.gz", 3, DIMS(5, 3, 4), 251);
    refuse_folder("has images of 4 x 3 x 1, but ");
    refuse_folder("has images of 3 x 4 x 1");
}

Test(dataset, labels_in_place_of_images_are_refused)
{
    write_small_set();
    write_array("train-images-idx3-ubyte.gz", 1, DIMS(12), 3);
    refuse_folder("train-images-idx3-ubyte.gz: 1 dimensions; images have 3");
    write_small_set();
    write_array("train-labels-idx1-ubyte.gz", 3, DIMS(12, 4, 3), 3);
    refuse_folder("train-labels-idx1-ubyte.gz: 3 dimensions; labels have 1");
}

Test(dataset, a_label_out_of_the_known_range_is_refused)
{
    write_small_set();
    write_array("train-labels-idx1-ubyte.gz", 1, DIMS(12), 11);
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", scratch_path("mnist"));
    cr_assert_eq(symlink(".", folder), 0);
    setenv("DLBENCH_DATA", scratch_path(""), 1);
    expect_refusal(&(dlb_data_source){.name = "mnist"},
                   "train-labels-idx1-ubyte.gz: label 10 of image 10 is out of range");
}

static dlb_data synthetic(uint32_t seed, int train_images)
{
    dlb_data data;
    load(&data, &(dlb_data_source){.name = "synthetic",
                                   .seed = seed,
                                   .train_images = train_images,
                                   .test_images = 50,
                                   .h = 9,
                                   .w = 7,
                                   .c = 3,
                                   .classes = 5});
    return data;
}

Test(dataset, synthetic_data_is_as_large_as_mnist_unless_told)
{
    dlb_data data;
    load(&data, &(dlb_data_source){.name = "synthetic"});
    expect_digits(&data);
    cr_assert_str_eq(data.source, "synthetic");
    dlb_data_release(&data);
}

Test(dataset, synthetic_data_depends_on_the_seed_alone)
{
    dlb_data a = synthetic(1, 100), same = synthetic(1, 100), other = synthetic(2, 100);
    dlb_data fewer = synthetic(1, 60);
    expect_shape(&a.train, (int[]){100, 9, 7, 3, 5});
    cr_assert_eq(a.checksum, same.checksum);
    cr_assert_neq(a.checksum, other.checksum);
    cr_assert_arr_eq(a.train.images, fewer.train.images, 60 * 9 * 7 * 3);
    cr_assert_arr_neq(a.train.images, a.test.images, 9 * 7 * 3);
    dlb_data_release(&fewer);
    dlb_data_release(&other);
    dlb_data_release(&same);
    dlb_data_release(&a);
}

static long distance(const uint8_t *image, const double *mean, int pixels)
{
    double sum = 0;
    for (int i = 0; i < pixels; i++)
        sum += (image[i] - mean[i]) * (image[i] - mean[i]);
    return (long)sum;
}

/* The class whose mean training image is nearest. */
static int nearest(const dlb_dataset *train, const uint8_t *image)
{
    enum { PIXELS = 9 * 7 * 3 };
    int best = -1;
    long best_distance = LONG_MAX;
    for (int label = 0; label < train->classes; label++) {
        double mean[PIXELS] = {0};
        for (int i = label; i < train->count; i += train->classes)
            for (int pixel = 0; pixel < PIXELS; pixel++)
                mean[pixel] +=
                    train->images[i * PIXELS + pixel] * train->classes / (double)train->count;
        if (distance(image, mean, PIXELS) < best_distance) {
            best_distance = distance(image, mean, PIXELS);
            best = label;
        }
    }
    return best;
}

Test(dataset, synthetic_classes_can_be_learned_from_one_set_for_the_other)
{
    dlb_data data = synthetic(3, 100);
    for (int i = 0; i < data.test.count; i++)
        cr_assert_eq(nearest(&data.train, data.test.images + (size_t)i * 9 * 7 * 3),
                     data.test.labels[i]);
    dlb_data_release(&data);
}

Test(dataset, an_impossible_synthetic_shape_is_refused)
{
    expect_refusal(&(dlb_data_source){.name = "synthetic", .h = -1}, "images of -1 x 28 x 1");
    expect_refusal(&(dlb_data_source){.name = "synthetic", .classes = 257}, "in 257 classes");
}
