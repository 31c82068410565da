#include "data/idx.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "scratch.h"

#define DIMS(...) ((const uint32_t[]){__VA_ARGS__})

TestSuite(idx, .init = scratch_make, .fini = scratch_remove);

/* Reads the scratch file "file", expects bad input, and a message that names it and says `what`. */
static void expect_refusal(const char *what)
{
    dlb_idx idx;
    dlb_error err;
    const char *path = scratch_path("file");
    cr_assert_eq(dlb_idx_read(&idx, path, &err), DLB_BAD_INPUT);
    cr_assert_eq(err.code, DLB_BAD_INPUT);
    cr_assert_eq(strncmp(err.message, path, strlen(path)), 0, "no path in: %s", err.message);
    cr_assert_not_null(strstr(err.message, what), "no \"%s\" in: %s", what, err.message);
    cr_assert_null(idx.bytes);
}

static void refuse(const blob *contents, const char *what)
{
    scratch_write("file", contents);
    expect_refusal(what);
    scratch_write_gz("file", contents);
    expect_refusal(what);
}

static void expect_array(const blob *contents, int rank)
{
    dlb_idx idx;
    dlb_error err;
    cr_assert_eq(dlb_idx_read(&idx, scratch_path("file"), &err), 0, "%s", err.message);
    size_t header = 4 + 4 * (size_t)rank;
    cr_assert_eq(idx.rank, rank);
    cr_assert_eq(idx.count_bytes, contents->count - header);
    cr_assert_arr_eq(idx.bytes, contents->bytes + header, idx.count_bytes);
    dlb_idx_release(&idx);
}

Test(idx, every_rank_is_read_plain_and_gzipped)
{
    for (int rank = 1; rank <= DLB_IDX_MAX_RANK; rank++) {
        blob contents = idx_array(rank, DIMS(7, 5, 3, 2), 256);
        scratch_write("file", &contents);
        expect_array(&contents, rank);
        scratch_write_gz("file", &contents);
        expect_array(&contents, rank);
    }
}

Test(idx, dimensions_are_big_endian_and_one_beyond_the_rank)
{
    blob contents = idx_array(2, DIMS(260, 3), 256);
    scratch_write("file", &contents);
    dlb_idx idx;
    dlb_error err;
    cr_assert_eq(dlb_idx_read(&idx, scratch_path("file"), &err), 0);
    cr_assert_arr_eq(idx.dim, ((int[]){260, 3, 1, 1}), sizeof idx.dim);
    dlb_idx_release(&idx);
}

Test(idx, an_array_longer_than_the_first_block_is_whole)
{
    blob contents = idx_array(1, DIMS(BLOB_MAX - 8), 251);
    scratch_write_gz("file", &contents);
    expect_array(&contents, 1);
}

Test(idx, the_first_items_can_be_read_alone)
{
    blob contents = idx_array(2, DIMS(9, 5), 256);
    scratch_write_gz("file", &contents);
    for (int items = 1; items <= 10; items++) {
        dlb_idx idx;
        dlb_error err;
        cr_assert_eq(dlb_idx_read_first(&idx, scratch_path("file"), items, &err), 0);
        cr_assert_eq(idx.dim[0], 9);
        cr_assert_eq(idx.count_bytes, 5 * (size_t)(items < 9 ? items : 9));
        cr_assert_arr_eq(idx.bytes, contents.bytes + 12, idx.count_bytes);
        dlb_idx_release(&idx);
    }
}

Test(idx, a_descriptor_is_closed_after_success_and_failure)
{
    for (uint32_t dim = 0; dim < 2; dim++) {
        blob contents = idx_array(1, DIMS(dim), 256);
        scratch_write("file", &contents);
        int fd = open(scratch_path("file"), O_RDONLY);
        dlb_idx idx;
        cr_assert_eq(dlb_idx_read_fd(&idx, fd, "a name", NULL), dim ? 0 : DLB_BAD_INPUT);
        cr_assert_eq(fcntl(fd, F_GETFD), -1);
        dlb_idx_release(&idx);
    }
}

Test(idx, a_missing_file_is_named)
{
    expect_refusal("No such file");
}

Test(idx, a_folder_is_refused)
{
    cr_assert_eq(mkdir(scratch_path("file"), 0700), 0);
    expect_refusal("Is a directory");
    rmdir(scratch_path("file"));
}

Test(idx, another_format_is_refused_with_its_magic)
{
    refuse(&(blob){"\x89PNG\r\n\x1a\n", 8}, "wrong magic number 89504e47");
}

Test(idx, other_element_types_are_named)
{
    blob contents = idx_array(1, DIMS(16), 256);
    contents.bytes[2] = 0x0d;
    refuse(&contents, "32-bit floats");
    contents.bytes[2] = 0x42;
    refuse(&contents, "unknown type (IDX type 42)");
}

Test(idx, no_dimensions_and_too_many_are_refused)
{
    refuse(&(blob){{0, 0, 8, 0, 1}, 5}, "0 dimensions");
    refuse(&(blob){{0, 0, 8, 5}, 24}, "5 dimensions");
}

Test(idx, an_empty_dimension_is_refused)
{
    blob contents = idx_header(3, DIMS(2, 0, 3));
    refuse(&contents, "dimension 2 is 0");
}

Test(idx, a_header_cut_short_is_refused)
{
    refuse(&(blob){{0}, 0}, "ends within its IDX header");
    refuse(&(blob){{0, 0, 8, 1, 0, 0}, 6}, "ends within its IDX header");
}

Test(idx, truncated_data_says_what_is_there)
{
    blob contents = idx_array(2, DIMS(10, 10), 256);
    contents.count -= 30;
    refuse(&contents, "of 10 x 10 bytes only 70 follow");
}

Test(idx, trailing_bytes_are_refused)
{
    blob contents = idx_array(2, DIMS(10, 10), 256);
    contents.count++;
    refuse(&contents, "trailing bytes after the 100");
}

Test(idx, a_gzip_file_cut_anywhere_is_called_truncated)
{
    blob contents = idx_array(2, DIMS(10, 10), 256);
    scratch_write_gz("file", &contents);
    struct stat info;
    stat(scratch_path("file"), &info);
    for (size_t size = (size_t)info.st_size - 1; size > 2; size--) {
        scratch_truncate("file", size);
        expect_refusal("truncated gzip file");
    }
}

Test(idx, a_gzip_file_with_a_flipped_bit_is_refused)
{
    blob contents = idx_array(2, DIMS(10, 10), 256);
    scratch_write_gz("file", &contents);
    FILE *file = fopen(scratch_path("file"), "r+b");
    fseek(file, -8, SEEK_END); /* in the checksum */
    int byte = getc(file);
    fseek(file, -8, SEEK_END);
    putc(byte ^ 1, file);
    fclose(file);
    expect_refusal("damaged gzip file");
}

Test(idx, dimensions_beyond_int_are_refused)
{
    blob contents = idx_header(1, DIMS(0x80000000u));
    refuse(&contents, "dimension 1 is 2147483648");
}

Test(idx, dimensions_whose_product_overflows_are_refused)
{
    blob contents = idx_header(4, DIMS(0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff));
    refuse(&contents, "more than can be addressed");
}

static long peak_rss_kb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

Test(idx, huge_dimensions_in_a_small_file_cost_no_memory)
{
    blob contents = idx_header(3, DIMS(60000, 2000, 2000));
    contents.count += 10;
    long before = peak_rss_kb();
    refuse(&contents, "of 60000 x 2000 x 2000 bytes only 10 follow");
    cr_assert_lt(peak_rss_kb() - before, 64 * 1024);
}
