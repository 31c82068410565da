#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

#include "base/csv.h"
#include "base/csv_reader.h"
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

TestSuite(csv_reader_file, .init = make_dir, .fini = remove_dir);

/* All records as text: fields in brackets, "!" after a record that is cut and "?" if it is open. */
static void show(dlb_csv_reader *reader, dlb_str *shown)
{
    dlb_csv_record record;
    dlb_error err;
    int got;
    while ((got = dlb_csv_next(reader, &record, &err)) > 0) {
        dlb_str_addf(shown, "%zu", record.line);
        for (size_t i = 0; i < record.count; i++) {
            dlb_str_addf(shown, "[%s]", record.fields[i].text);
            cr_assert_eq(record.fields[i].text[record.fields[i].length], '\0');
        }
        dlb_str_add(shown, record.open ? "?" : record.cut ? "!" : ";");
    }
    if (got < 0)
        dlb_str_addf(shown, "error: %s", err.message);
}

static void assert_bytes(const char *bytes, size_t length, const char *expected)
{
    dlb_str shown = DLB_STR_INIT;
    dlb_csv_reader *reader;
    dlb_csv_open_bytes(&reader, "t.csv", bytes, length);
    dlb_str_add(&shown, "");
    show(reader, &shown);
    cr_expect_str_eq(shown.text, expected, "%s\nread as %s\nnot as  %s", bytes, shown.text,
                     expected);
    dlb_csv_close(reader);
    dlb_str_release(&shown);
}

static void assert_read(const char *text, const char *expected)
{
    assert_bytes(text, strlen(text), expected);
}

Test(csv_reader, splits_at_commas_and_line_breaks)
{
    assert_read("a,b,c\n1,22,333\n", "1[a][b][c];2[1][22][333];");
    assert_read("a rather long field,and another that is long\n",
                "1[a rather long field][and another that is long];");
}

Test(csv_reader, keeps_empty_fields)
{
    assert_read(",,\na,,\n,,c\n", "1[][][];2[a][][];3[][][c];");
    assert_read(",,,,,,,,,,,,\n", "1[][][][][][][][][][][][][];");
}

Test(csv_reader, takes_quotes_off)
{
    assert_read("\"a,b\",\"say \"\"hi\"\"\",\"\"\n", "1[a,b][say \"hi\"][];");
    assert_read("\"\"\"\",\"\"\"\"\"\"\n", "1[\"][\"\"];");
    assert_read("x,\"a\",y\n\"b\",z,\"c\"\n", "1[x][a][y];2[b][z][c];");
}

Test(csv_reader, counts_lines_within_quotes)
{
    assert_read("\"two\nlines\",x\ny\n", "1[two\nlines][x];3[y];");
}

Test(csv_reader, leaves_a_quote_within_a_field_alone)
{
    assert_read("5\" disk,a\"b\"\n", "1[5\" disk][a\"b\"];");
}

Test(csv_reader, takes_windows_line_ends)
{
    assert_read("a,b\r\n\"c\",\"d\"\r\ne,\r\n", "1[a][b];2[c][d];3[e][];");
}

Test(csv_reader, skips_a_byte_order_mark_and_empty_lines)
{
    assert_read("\xEF\xBB\xBF"
                "a\n\n\r\nb\n\n",
                "1[a];4[b];");
    assert_read("\xEF\xBB\xBF\"a\",b\n", "1[a][b];");
}

Test(csv_reader, of_nothing_has_no_records)
{
    assert_read("", "");
    assert_read("\n\r\n\n", "");
    assert_read("\xEF\xBB\xBF", "");
}

Test(csv_reader, tells_that_the_last_record_is_cut)
{
    assert_read("a,b\n1,2", "1[a][b];2[1][2]!");
    assert_read("a,b\n1,", "1[a][b];2[1][]!");
    assert_read("a,b\n\"1\"", "1[a][b];2[1]!");
    assert_read("a,b\r\n1,2\r", "1[a][b];2[1][2]!");
    assert_read("a,b\n1,\"x,\ny", "1[a][b];2[1][x,\ny]?");
    assert_read("a,b\n1,\"", "1[a][b];2[1][]?");
    assert_read("\"a\"\"", "1[a\"]?");
}

Test(csv_reader, names_the_line_of_text_after_a_quote)
{
    assert_read("a\n\"b\"c\n",
                "1[a];error: t.csv: line 2: text after the closing quote of a field; "
                "quotes within it are to be doubled");
}

Test(csv_reader, keeps_nul_bytes)
{
    dlb_csv_reader *reader;
    dlb_csv_record record;
    dlb_csv_open_bytes(&reader, "t.csv", "a\0b,c\n", 6);
    cr_assert_eq(dlb_csv_next(reader, &record, NULL), 1);
    cr_assert_eq(record.count, 2);
    cr_assert_eq(record.fields[0].length, 3);
    cr_assert_arr_eq(record.fields[0].text, "a\0b", 4);
    dlb_csv_close(reader);
}

Test(csv_reader, tells_where_a_record_begins)
{
    const char *text = "\xEF\xBB\xBFname\n\n\"q\nr\",x\r\nlast\n";
    const uint64_t offsets[] = {3, 9, 18};
    dlb_csv_reader *reader;
    dlb_csv_record record;
    dlb_csv_open_bytes(&reader, "t.csv", text, strlen(text));
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(dlb_csv_next(reader, &record, NULL), 1);
        cr_assert_eq(record.offset, offsets[i]);
    }
    cr_assert_eq(dlb_csv_next(reader, &record, NULL), 0);
    cr_assert_eq(dlb_csv_next(reader, &record, NULL), 0, "the end stays the end");
    dlb_csv_close(reader);
}

/* The text of a field that depends on its place, some of them quoted, some long. */
static void make_field(dlb_str *field, size_t record, size_t column)
{
    size_t kind = (record * 31 + column * 7) % 11;
    dlb_str_clear(field);
    dlb_str_addf(field, "%zu", record);
    for (size_t i = 0; i < (kind == 3 ? 300 : kind); i++)
        dlb_str_add(field, kind % 2 ? "x," : "\"\n");
}

enum { RECORDS = 20000, COLUMNS = 5 };

static void write_records(const char *path)
{
    dlb_str text = DLB_STR_INIT, field = DLB_STR_INIT;
    for (size_t record = 0; record < RECORDS; record++) {
        for (size_t column = 0; column < COLUMNS; column++) {
            make_field(&field, record, column);
            dlb_csv_add(&text, column, field.text);
        }
        dlb_str_add(&text, "\n");
    }
    cr_assert_eq(dlb_file_write_atomic(path, text.text, text.length, NULL), 0);
    dlb_str_release(&field);
    dlb_str_release(&text);
}

static void assert_records(const char *path)
{
    dlb_csv_reader *reader;
    dlb_csv_record read;
    dlb_str field = DLB_STR_INIT;
    cr_assert_eq(dlb_csv_open(&reader, path, NULL), 0);
    for (size_t record = 0; record < RECORDS; record++) {
        cr_assert_eq(dlb_csv_next(reader, &read, NULL), 1);
        cr_assert_eq(read.count, COLUMNS);
        for (size_t column = 0; column < COLUMNS; column++) {
            make_field(&field, record, column);
            cr_assert_str_eq(read.fields[column].text, field.text);
            cr_assert_eq(read.fields[column].length, field.length);
        }
    }
    cr_assert_eq(dlb_csv_next(reader, &read, NULL), 0);
    dlb_csv_close(reader);
    dlb_str_release(&field);
}

Test(csv_reader_file, gives_back_what_was_written_across_the_bounds_of_blocks)
{
    char path[128];
    snprintf(path, sizeof path, "%s", tempdir_file(&dir, "t.csv"));
    write_records(path);
    assert_records(path);
}

static void *fill_pipe(void *path)
{
    int fd = open(path, O_WRONLY);
    const char *const pieces[] = {"a,\"b", "\nc", "\"", "\"d\"\r", "\ne\n"};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t length = strlen(pieces[i]);
        cr_assert_eq(write(fd, pieces[i], length), (ssize_t)length);
    }
    close(fd);
    return NULL;
}

Test(csv_reader_file, reads_from_a_pipe)
{
    char path[128];
    snprintf(path, sizeof path, "%s", tempdir_file(&dir, "pipe"));
    cr_assert_eq(mkfifo(path, 0600), 0);
    pthread_t writer;
    cr_assert_eq(pthread_create(&writer, NULL, fill_pipe, path), 0);
    dlb_csv_reader *reader;
    dlb_str shown = DLB_STR_INIT;
    cr_assert_eq(dlb_csv_open(&reader, path, NULL), 0);
    show(reader, &shown);
    pthread_join(writer, NULL);
    cr_assert_str_eq(shown.text, "1[a][b\nc\"d];3[e];");
    dlb_str_release(&shown);
    dlb_csv_close(reader);
}

Test(csv_reader_file, names_a_file_that_cannot_be_read)
{
    dlb_csv_reader *reader;
    dlb_csv_record record;
    dlb_error err;
    cr_assert_eq(dlb_csv_open(&reader, "/nonexistent.csv", &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "/nonexistent.csv"));
    cr_assert_eq(dlb_csv_open(&reader, dir.path, &err), 0);
    cr_assert_eq(dlb_csv_next(reader, &record, &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, dir.path));
    dlb_csv_close(reader);
}

Test(csv_reader_file, refuses_a_record_without_end)
{
    enum { MANY = 17 * 1024 * 1024 };
    char *bytes = malloc(MANY);
    memset(bytes, 'x', MANY);
    bytes[0] = '"';
    dlb_csv_reader *reader;
    dlb_csv_record record;
    dlb_error err;
    dlb_csv_open_bytes(&reader, "t.csv", bytes, MANY);
    cr_assert_eq(dlb_csv_next(reader, &record, &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "quote"));
    dlb_csv_close(reader);
    free(bytes);
}
