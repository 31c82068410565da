#include <sys/stat.h>
#include <sys/wait.h>

#include <criterion/criterion.h>

#include "base/csv.h"
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

TestSuite(csv_append, .init = make_dir, .fini = remove_dir);

static void assert_line(const char *const *fields, size_t count, const char *expected)
{
    dlb_str line = DLB_STR_INIT;
    for (size_t i = 0; i < count; i++)
        dlb_csv_add(&line, i, fields[i]);
    cr_assert_str_eq(line.text, expected);
    dlb_str_release(&line);
}

static void assert_content(const char *expected)
{
    dlb_str text = DLB_STR_INIT;
    cr_assert_eq(dlb_file_read(tempdir_file(&dir, "rows.csv"), 1 << 20, &text, NULL), 0);
    cr_assert_str_eq(text.text, expected);
    dlb_str_release(&text);
}

static void write_file(const char *text)
{
    cr_assert_eq(dlb_file_write_atomic(tempdir_file(&dir, "rows.csv"), text, strlen(text), NULL),
                 0);
}

static int append(const char *header, const char *row, dlb_error *err)
{
    return dlb_csv_append(tempdir_file(&dir, "rows.csv"), header, row, err);
}

Test(csv_add, plain_fields_are_separated_by_commas)
{
    assert_line((const char *const[]){"a", "1.5", "b c"}, 3, "a,1.5,b c");
}

Test(csv_add, special_characters_are_quoted)
{
    assert_line((const char *const[]){"a,b", "say \"hi\"", "two\nlines", "c\rd"}, 4,
                "\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\"c\rd\"");
}

Test(csv_add, empty_fields_keep_their_place)
{
    assert_line((const char *const[]){"", "", "x", ""}, 4, ",,x,");
}

Test(csv_append, a_new_file_gets_the_header_once)
{
    cr_assert_eq(append("a,b", "1,2", NULL), 0);
    cr_assert_eq(append("a,b", "3,4", NULL), 0);
    assert_content("a,b\n1,2\n3,4\n");
}

Test(csv_append, an_empty_file_counts_as_new)
{
    write_file("");
    cr_assert_eq(append("a,b", "1,2", NULL), 0);
    assert_content("a,b\n1,2\n");
}

Test(csv_append, a_file_with_another_header_is_refused_and_untouched)
{
    const char *const foreign[] = {"a,c\n9,9\n", "a,b,c\n", "a\n", "a,b", "not a table"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        dlb_error err;
        write_file(foreign[i]);
        cr_assert_eq(append("a,b", "1,2", &err), DLB_BAD_INPUT, "%s", foreign[i]);
        cr_assert(strstr(err.message, "rows.csv"));
        assert_content(foreign[i]);
    }
}

Test(csv_append, a_header_with_windows_line_ends_is_the_same)
{
    write_file("a,b\r\n1,2\r\n");
    cr_assert_eq(append("a,b", "3,4", NULL), 0);
    assert_content("a,b\r\n1,2\r\n3,4\n");
}

Test(csv_append, a_last_line_without_newline_is_not_continued)
{
    write_file("a,b\n1,2");
    cr_assert_eq(append("a,b", "3,4", NULL), 0);
    assert_content("a,b\n1,2\n3,4\n");
}

Test(csv_append, a_place_that_cannot_be_written_is_named)
{
    dlb_error err;
    cr_assert_eq(dlb_csv_append("/nonexistent/rows.csv", "a", "1", &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "/nonexistent/rows.csv"));
}

enum { WRITERS = 4, ROWS = 100, ROW_BYTES = 200 };

/* Rows of one repeated letter, so that a torn or mixed one shows. */
static void append_letters(char letter)
{
    char row[ROW_BYTES + 1];
    memset(row, letter, ROW_BYTES);
    row[ROW_BYTES] = '\0';
    for (int i = 0; i < ROWS; i++) {
        if (append("letters", row, NULL) < 0)
            _exit(1);
    }
    _exit(0);
}

static void run_writers(void)
{
    for (int i = 0; i < WRITERS; i++) {
        pid_t child = fork();
        cr_assert_geq(child, 0);
        if (child == 0)
            append_letters((char)('a' + i));
    }
    for (int i = 0; i < WRITERS; i++) {
        int status;
        cr_assert_gt(wait(&status), 0);
        cr_assert_eq(status, 0);
    }
}

static void count_row(const char *line, int *count)
{
    cr_assert_eq(strspn(line, (char[]){line[0], '\0'}), ROW_BYTES, "a torn row: %s", line);
    cr_assert_lt(line[0] - 'a', WRITERS);
    count[line[0] - 'a']++;
}

Test(csv_append, rows_of_several_processes_stay_whole_under_one_header)
{
    run_writers();
    FILE *file = fopen(tempdir_file(&dir, "rows.csv"), "r");
    char line[ROW_BYTES + 2];
    int count[WRITERS] = {0};
    cr_assert_not_null(fgets(line, sizeof line, file));
    cr_assert_str_eq(line, "letters\n");
    while (fgets(line, sizeof line, file))
        count_row(line, count);
    fclose(file);
    for (int i = 0; i < WRITERS; i++)
        cr_assert_eq(count[i], ROWS);
}

static int check(const char *path, dlb_error *err)
{
    return dlb_csv_check(path, "a,b", err);
}

Test(csv_append, the_check_tells_what_an_append_would_say)
{
    dlb_error err;
    cr_assert_eq(check(tempdir_file(&dir, "rows.csv"), &err), 0);
    cr_assert_eq(tempdir_count(&dir), 0);
    write_file("a,b\n1,2\n");
    cr_assert_eq(check(tempdir_file(&dir, "rows.csv"), &err), 0);
    write_file("c\n1\n");
    cr_assert_eq(check(tempdir_file(&dir, "rows.csv"), &err), DLB_BAD_INPUT);
    cr_assert_eq(check("/proc/rows.csv", &err), DLB_BAD_INPUT);
    cr_assert_eq(check("", &err), DLB_BAD_INPUT);
    cr_assert_eq(check(dir.path, &err), DLB_BAD_INPUT);
    cr_assert_eq(check("/dev/null", &err), 0);
}

Test(csv_append, the_check_does_not_wait_for_the_reader_of_a_pipe)
{
    cr_assert_eq(mkfifo(tempdir_file(&dir, "pipe"), 0600), 0);
    cr_assert_eq(check(tempdir_file(&dir, "pipe"), NULL), 0);
}
