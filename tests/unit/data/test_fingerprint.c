#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "data/fingerprint.h"
#include "support/tempdir.h"

static const char *const names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                    "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

/* Four files of 3 items each; the last byte of the first is `last`. */
static void write_set(const char *folder, bool compressed, unsigned char last)
{
    for (int f = 0; f < 4; f++) {
        unsigned char bytes[] = {0, 0, 8, 1, 0, 0, 0, 3, 1, 2, f == 0 ? last : 7};
        char path[512];
        snprintf(path, sizeof path, "%s/%s%s", folder, names[f], compressed ? ".gz" : "");
        gzFile file = gzopen(path, compressed ? "wb9" : "wbT");
        cr_assert_eq(gzwrite(file, bytes, sizeof bytes), (int)sizeof bytes);
        gzclose(file);
    }
}

static dlb_fingerprint take(const char *folder)
{
    dlb_fingerprint taken = {0};
    dlb_error err;
    cr_assert_eq(dlb_fingerprint_take(&taken, folder, &err), 0, "%s", err.message);
    return taken;
}

Test(fingerprint, is_that_of_the_content_however_it_is_compressed)
{
    tempdir plain, packed, other;
    tempdir_make(&plain);
    tempdir_make(&packed);
    tempdir_make(&other);
    write_set(plain.path, false, 9);
    write_set(packed.path, true, 9);
    write_set(other.path, true, 8);
    cr_expect_eq(take(plain.path).hash, take(packed.path).hash);
    cr_expect_neq(take(plain.path).hash, take(other.path).hash);
    cr_expect_eq(take(packed.path).images, 3);
    tempdir_remove(&plain);
    tempdir_remove(&packed);
    tempdir_remove(&other);
}

Test(fingerprint, of_mnist_counts_its_training_images)
{
    cr_expect_eq(take(DLB_SOURCE_DIR "/data/mnist").images, 60000);
}

Test(fingerprint, of_synthetic_data_leaves_the_number_open)
{
    dlb_fingerprint taken = take("synthetic");
    cr_expect_eq(taken.images, 0);
    cr_expect_eq(taken.hash, 0);
}

Test(fingerprint, refuses_a_folder_without_the_files)
{
    dlb_fingerprint taken;
    dlb_error err;
    cr_expect_eq(dlb_fingerprint_take(&taken, "/nowhere", &err), DLB_BAD_INPUT);
}
