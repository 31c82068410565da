#include <sys/stat.h>

#include <criterion/criterion.h>

#include "base/file.h"
#include "support/tempdir.h"

static tempdir dir;

static void make_dir(void)
{
    tempdir_make(&dir);
}

static void remove_dir(void)
{
    tempdir_remove(&dir);
}

TestSuite(file, .init = make_dir, .fini = remove_dir);

static void write_text(const char *name, const char *text)
{
    cr_assert_eq(dlb_file_write_atomic(tempdir_file(&dir, name), text, strlen(text), NULL), 0);
}

static void assert_text(const char *name, const char *expected)
{
    dlb_str text = DLB_STR_INIT;
    cr_assert_eq(dlb_file_read(tempdir_file(&dir, name), 1 << 20, &text, NULL), 0);
    cr_assert_str_eq(text.text, expected);
    dlb_str_release(&text);
}

Test(file, what_is_written_is_read)
{
    write_text("a", "hello\n");
    assert_text("a", "hello\n");
}

Test(file, an_empty_file_reads_as_empty_text)
{
    write_text("a", "");
    assert_text("a", "");
}

Test(file, zero_bytes_and_large_contents_survive)
{
    enum { BYTES = 300000 };
    static char bytes[BYTES];
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (char)(i * 7);
    cr_assert_eq(dlb_file_write_atomic(tempdir_file(&dir, "a"), bytes, BYTES, NULL), 0);
    dlb_str text = DLB_STR_INIT;
    cr_assert_eq(dlb_file_read(tempdir_file(&dir, "a"), BYTES, &text, NULL), 0);
    cr_assert_eq(text.length, BYTES);
    cr_assert_eq(memcmp(text.text, bytes, BYTES), 0);
    dlb_str_release(&text);
}

Test(file, more_than_the_limit_is_refused)
{
    write_text("a", "12345");
    dlb_str text = DLB_STR_INIT;
    dlb_error err;
    cr_assert_eq(dlb_file_read(tempdir_file(&dir, "a"), 4, &text, &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "more than 4 bytes"));
    dlb_str_release(&text);
}

Test(file, a_file_that_is_not_there_is_named)
{
    dlb_str text = DLB_STR_INIT;
    dlb_error err;
    cr_assert_eq(dlb_file_read(tempdir_file(&dir, "none"), 4, &text, &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "none"));
    dlb_str_release(&text);
}

Test(file, writing_replaces_the_old_contents_and_leaves_nothing_beside)
{
    write_text("a", "a long first version");
    write_text("a", "second");
    assert_text("a", "second");
    cr_assert_eq(tempdir_count(&dir), 1);
}

Test(file, one_who_has_the_old_file_open_keeps_reading_it)
{
    write_text("a", "old");
    FILE *reader = fopen(tempdir_file(&dir, "a"), "r");
    write_text("a", "new");
    char seen[8] = "";
    cr_assert_not_null(fgets(seen, sizeof seen, reader));
    fclose(reader);
    cr_assert_str_eq(seen, "old");
}

Test(file, the_mode_follows_the_umask)
{
    umask(027);
    write_text("a", "x");
    struct stat info;
    cr_assert_eq(stat(tempdir_file(&dir, "a"), &info), 0);
    cr_assert_eq(info.st_mode & 0777, 0640);
}

Test(file, a_failed_write_says_so_and_leaves_nothing)
{
    dlb_error err;
    cr_assert_eq(dlb_file_write_atomic("/nonexistent/a", "x", 1, &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "/nonexistent/a"));
    cr_assert_eq(mkdir(tempdir_file(&dir, "folder"), 0777), 0);
    cr_assert_eq(dlb_file_write_atomic(tempdir_file(&dir, "folder"), "x", 1, &err), DLB_FAIL);
    cr_assert_eq(tempdir_count(&dir), 1);
    rmdir(tempdir_file(&dir, "folder"));
}
