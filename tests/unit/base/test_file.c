#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

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
    cr_assert_eq(dlb_file_write_atomic(tempdir_file(&dir, "folder"), "x", 1, &err), DLB_BAD_INPUT);
    cr_assert_eq(tempdir_count(&dir), 1);
    rmdir(tempdir_file(&dir, "folder"));
}

Test(file, a_folder_is_no_file_to_read)
{
    dlb_str text = DLB_STR_INIT;
    dlb_error err;
    cr_assert_eq(dlb_file_read(dir.path, 4, &text, &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "is a folder"), "%s", err.message);
    dlb_str_release(&text);
}

static mode_t type_of(const char *name)
{
    struct stat info;
    cr_assert_eq(lstat(tempdir_file(&dir, name), &info), 0);
    return info.st_mode & S_IFMT;
}

Test(file, a_pipe_receives_the_bytes_and_stays_a_pipe)
{
    cr_assert_eq(mkfifo(tempdir_file(&dir, "pipe"), 0600), 0);
    int reader = open(tempdir_file(&dir, "pipe"), O_RDONLY | O_NONBLOCK);
    write_text("pipe", "hello");
    char seen[8] = "";
    cr_assert_eq(read(reader, seen, sizeof seen - 1), 5);
    close(reader);
    cr_assert_str_eq(seen, "hello");
    cr_assert_eq(type_of("pipe"), S_IFIFO);
    cr_assert_eq(tempdir_count(&dir), 1);
}

/* A reader that waits for the first bytes would take an open and close for the end. */
Test(file, asking_whether_a_pipe_can_be_written_does_not_open_it)
{
    cr_assert_eq(mkfifo(tempdir_file(&dir, "pipe"), 0600), 0);
    cr_assert_eq(dlb_file_writable(tempdir_file(&dir, "pipe"), NULL), 0);
}

Test(file, a_full_device_is_told_and_stays)
{
    dlb_error err;
    struct stat info;
    cr_assert_eq(symlink("/dev/full", tempdir_file(&dir, "full")), 0);
    cr_assert_eq(dlb_file_write_atomic(tempdir_file(&dir, "full"), "x", 1, &err), DLB_FAIL);
    cr_assert(strstr(err.message, "full: No space left"), "%s", err.message);
    cr_assert_eq(stat("/dev/full", &info), 0);
    cr_assert(S_ISCHR(info.st_mode));
    cr_assert_eq(type_of("full"), S_IFLNK);
}

static void link_to(const char *target, const char *name)
{
    cr_assert_eq(symlink(target, tempdir_file(&dir, name)), 0);
}

Test(file, a_link_stays_and_its_target_is_replaced)
{
    write_text("a", "old");
    link_to("a", "link");
    link_to("link", "to_link");
    write_text("to_link", "new");
    assert_text("a", "new");
    cr_assert_eq(type_of("link"), S_IFLNK);
    cr_assert_eq(type_of("to_link"), S_IFLNK);
    cr_assert_eq(tempdir_count(&dir), 3);
}

Test(file, a_link_to_nothing_is_refused)
{
    dlb_error err;
    link_to("nothing", "link");
    cr_assert_eq(dlb_file_writable(tempdir_file(&dir, "link"), &err), DLB_BAD_INPUT);
    cr_assert_eq(dlb_file_write_atomic(tempdir_file(&dir, "link"), "x", 1, &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "is a link to"), "%s", err.message);
}

static void assert_unwritable(const char *path)
{
    dlb_error err;
    cr_assert_eq(dlb_file_writable(path, &err), DLB_BAD_INPUT, "%s", path);
    cr_assert(strstr(err.message, path), "%s", err.message);
}

/* No permission forbids these to root; only trying shows it. */
Test(file, what_cannot_be_written_is_known_before)
{
    assert_unwritable("/proc/dlbench.json");
    assert_unwritable("/proc/self/comm"); /* exists and is writable, but nothing can stand beside */
    assert_unwritable("/nonexistent/a");
    assert_unwritable(dir.path);
    assert_unwritable("");
}

Test(file, asking_whether_a_file_can_be_written_leaves_no_trace)
{
    cr_assert_eq(dlb_file_writable(tempdir_file(&dir, "new"), NULL), 0);
    cr_assert_eq(tempdir_count(&dir), 0);
    write_text("a", "old");
    cr_assert_eq(dlb_file_writable(tempdir_file(&dir, "a"), NULL), 0);
    assert_text("a", "old");
    cr_assert_eq(tempdir_count(&dir), 1);
}

Test(file, two_names_of_one_file_are_the_same)
{
    cr_assert_eq(chdir(dir.path), 0);
    cr_assert(dlb_file_same("new", "./new"));
    cr_assert(dlb_file_same("new", tempdir_file(&dir, "new")));
    cr_assert_not(dlb_file_same("new", "other"));
    write_text("a", "x");
    link_to("a", "link");
    cr_assert(dlb_file_same("a", "link"));
    cr_assert(dlb_file_same("nowhere/a", "nowhere/a"));
}

/* ---- folders ---- */

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

Test(file, a_folder_is_made_with_its_parents)
{
    const char *const paths[] = {"a/b/c", "a/b/c", "a//b/c/d/", "a/./e"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        dlb_error err;
        const char *path = tempdir_file(&dir, paths[i]);
        cr_assert_eq(dlb_file_make_folder(path, &err), 0, "%s", err.message);
        cr_assert(is_folder(path), "%s", path);
    }
    cr_assert_eq(dlb_file_make_folder("/", NULL), 0);
    cr_assert_eq(dlb_file_make_folder(".", NULL), 0);
    dlb_file_remove_tree(tempdir_file(&dir, "a"));
}

Test(file, what_is_in_the_way_of_a_folder_is_not_taken_for_one)
{
    write_text("file", "x");
    const char *const paths[] = {"file", "file/", "file/folder", ""};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        dlb_error err;
        const char *path = *paths[i] ? tempdir_file(&dir, paths[i]) : "";
        cr_assert_eq(dlb_file_make_folder(path, &err), DLB_BAD_INPUT, "%s", path);
        cr_assert(strstr(err.message, *path ? "file" : "empty name"), "%s", err.message);
    }
    assert_text("file", "x");
}

/* ---- descriptors ---- */

Test(file, all_is_written_although_a_pipe_takes_little_at_a_time)
{
    enum { BYTES = 1 << 20 };
    static char bytes[BYTES];
    int ends[2];
    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    if (fork() == 0)
        _exit(dlb_file_write_all(ends[1], bytes, BYTES) == 0 ? 0 : 1);
    close(ends[1]);
    size_t total = 0;
    for (ssize_t got; (got = read(ends[0], bytes, BYTES)) > 0;)
        total += (size_t)got;
    close(ends[0]);
    int status;
    wait(&status);
    cr_assert_eq(total, BYTES);
    cr_assert_eq(status, 0);
}

Test(file, what_cannot_be_written_is_told_by_errno)
{
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    cr_assert_geq(full, 0);
    cr_assert_eq(dlb_file_write_all(full, "x", 1), -1);
    cr_assert_eq(errno, ENOSPC);
    cr_assert_eq(dlb_file_write_all(full, "", 0), 0);
    close(full);
}
