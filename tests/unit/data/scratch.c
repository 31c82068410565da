#include "scratch.h"

#include <zlib.h>

#include "support/tempdir.h"

static tempdir folder;

void scratch_make(void)
{
    tempdir_make(&folder);
}

void scratch_remove(void)
{
    tempdir_remove(&folder);
}

const char *scratch_path(const char *name)
{
    return *name ? tempdir_file(&folder, name) : folder.path;
}

void scratch_write(const char *name, const blob *contents)
{
    FILE *file = fopen(scratch_path(name), "wb");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(contents->bytes, 1, contents->count, file), contents->count);
    cr_assert_eq(fclose(file), 0);
}

void scratch_write_gz(const char *name, const blob *contents)
{
    gzFile file = gzopen(scratch_path(name), "wb");
    cr_assert_not_null(file);
    cr_assert_eq(gzwrite(file, contents->bytes, (unsigned)contents->count), (int)contents->count);
    cr_assert_eq(gzclose(file), Z_OK);
}

void scratch_truncate(const char *name, size_t count)
{
    cr_assert_eq(truncate(scratch_path(name), (off_t)count), 0);
}

blob idx_header(int rank, const uint32_t *dims)
{
    blob made = {.bytes = {0, 0, 8, (uint8_t)rank}, .count = 4};
    for (int axis = 0; axis < rank; axis++)
        for (int shift = 24; shift >= 0; shift -= 8)
            made.bytes[made.count++] = (uint8_t)(dims[axis] >> shift);
    return made;
}

blob idx_array(int rank, const uint32_t *dims, int modulus)
{
    blob made = idx_header(rank, dims);
    size_t elements = 1;
    for (int axis = 0; axis < rank; axis++)
        elements *= dims[axis];
    cr_assert_leq(made.count + elements, sizeof made.bytes);
    for (size_t i = 0; i < elements; i++)
        made.bytes[made.count++] = (uint8_t)(i % (size_t)modulus);
    return made;
}
