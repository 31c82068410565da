#include <criterion/criterion.h>
#include <math.h>

#include "base/file.h"
#include "base/str.h"
#include "record/frame.h"
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

TestSuite(frame_file, .init = make_dir, .fini = remove_dir);

static const dlb_frame_want wants[] = {{"run", DLB_FRAME_WORD},
                                       {"wall_s", DLB_FRAME_NUMBER},
                                       {"status", DLB_FRAME_WORD},
                                       {"absent", DLB_FRAME_NUMBER}};
enum { WANTS = sizeof wants / sizeof *wants };

static dlb_frame *parse(const char *text)
{
    dlb_frame *frame;
    dlb_error err;
    int status = dlb_frame_parse(&frame, "t.csv", text, strlen(text), wants, WANTS, &err);
    cr_assert_eq(status, 0, "%s", err.message);
    return frame;
}

static const char *word(const dlb_frame *frame, const char *column, size_t row)
{
    return dlb_frame_word(frame, dlb_frame_column(frame, column), row);
}

static double number(const dlb_frame *frame, const char *column, size_t row)
{
    return dlb_frame_number(frame, dlb_frame_column(frame, column), row);
}

Test(frame, has_the_wanted_columns_in_any_order_of_the_file)
{
    dlb_frame *frame = parse("extra,wall_s,run,status\nx,1.5,a1,ok\ny,2.5,a2,failed\n");
    cr_assert_eq(dlb_frame_rows(frame), 2);
    cr_assert_str_eq(word(frame, "run", 0), "a1");
    cr_assert_str_eq(word(frame, "status", 1), "failed");
    cr_assert_eq(number(frame, "wall_s", 0), 1.5);
    cr_assert_eq(number(frame, "wall_s", 1), 2.5);
    cr_assert_eq(dlb_frame_column(frame, "extra"), -1, "it was not wanted");
    dlb_frame_free(frame);
}

Test(frame, misses_what_the_file_lacks)
{
    dlb_frame *frame = parse("run,wall_s\na1,\n,3\n");
    cr_assert_eq(dlb_frame_column(frame, "absent"), -1);
    cr_assert(isnan(number(frame, "absent", 0)));
    cr_assert_str_eq(word(frame, "absent", 0), "");
    cr_assert(isnan(number(frame, "wall_s", 0)));
    cr_assert_str_eq(word(frame, "run", 1), "");
    cr_assert_eq(dlb_frame_code(frame, dlb_frame_column(frame, "run"), 1), 0);
    cr_assert_eq(dlb_frame_code(frame, -1, 0), 0);
    cr_assert_eq(dlb_frame_codes(frame, -1), 1);
    dlb_frame_free(frame);
}

Test(frame, reads_what_a_spreadsheet_saves)
{
    dlb_frame *frame =
        parse("\xEF\xBB\xBF\"run\",\"wall_s\",status\r\n\"a \"\"1\"\"\",\"2\",\"x,\ny\""
              "\r\na2,3,ok");
    cr_assert_eq(dlb_frame_rows(frame), 2);
    cr_assert_str_eq(word(frame, "run", 0), "a \"1\"");
    cr_assert_str_eq(word(frame, "status", 0), "x,\ny");
    cr_assert_eq(number(frame, "wall_s", 0), 2);
    cr_assert_str_eq(word(frame, "status", 1), "ok", "the last line break may be missing");
    dlb_frame_free(frame);
}

Test(frame, leaves_out_a_last_row_that_a_crash_cut_short)
{
    const char *const cut[] = {"a2,", "a2", "a2,2", "a2,\"2", "a2,2,\"fail"};
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        dlb_str text = DLB_STR_INIT;
        dlb_str_addf(&text, "run,wall_s,status\na1,1,ok\n%s", cut[i]);
        dlb_frame *frame = parse(text.text);
        cr_assert_eq(dlb_frame_rows(frame), 1, "%s", cut[i]);
        dlb_frame_free(frame);
        dlb_str_release(&text);
    }
}

Test(frame, takes_the_cells_that_a_short_row_lacks_as_missing)
{
    dlb_frame *frame = parse("run,wall_s,status\na1\na2,2,ok\n");
    cr_assert_eq(dlb_frame_rows(frame), 2);
    cr_assert(isnan(number(frame, "wall_s", 0)));
    cr_assert_str_eq(word(frame, "status", 0), "");
    cr_assert_str_eq(word(frame, "run", 1), "a2");
    dlb_frame_free(frame);
}

Test(frame, gives_equal_words_equal_codes)
{
    dlb_frame *frame = parse("status\nok\nfailed\nok\n\"\"\ntimeout\nfailed\n");
    int status = dlb_frame_column(frame, "status");
    cr_assert_eq(dlb_frame_codes(frame, status), 4);
    cr_assert_eq(dlb_frame_code(frame, status, 0), dlb_frame_code(frame, status, 2));
    cr_assert_eq(dlb_frame_code(frame, status, 1), dlb_frame_code(frame, status, 5));
    cr_assert_neq(dlb_frame_code(frame, status, 0), dlb_frame_code(frame, status, 1));
    cr_assert_eq(dlb_frame_code(frame, status, 3), 0);
    cr_assert_str_eq(dlb_frame_text(frame, status, dlb_frame_code(frame, status, 4)), "timeout");
    cr_assert_str_eq(dlb_frame_text(frame, status, 0), "");
    dlb_frame_free(frame);
}

static void assert_refused(const char *text, const char *complaint)
{
    dlb_frame *frame;
    dlb_error err;
    int status = dlb_frame_parse(&frame, "t.csv", text, strlen(text), wants, WANTS, &err);
    cr_assert_eq(status, DLB_BAD_INPUT, "%s", text);
    cr_expect_eq(strncmp(err.message, "t.csv: ", 7), 0, "%s", err.message);
    cr_expect(strstr(err.message, complaint), "\"%s\" does not say \"%s\"", err.message, complaint);
}

Test(frame, says_what_is_wrong_and_in_which_line)
{
    assert_refused("", "header line");
    assert_refused("\n\n", "header line");
    assert_refused("1,2,3\n4,5,6\n", "line 1: a header line");
    assert_refused("run,\"wall", "line 1: a header line");
    assert_refused("run,status,run\n", "line 1: column \"run\" is there twice");
    assert_refused("run,wall_s\na,1\nb,fast\n", "line 3: column \"wall_s\": \"fast\" is not a num");
    assert_refused("run,wall_s\n\"a\nb\",1\nb,1,2\n", "line 4: 3 fields, but the header has 2");
    assert_refused("run\n\"a\"b\n", "line 2: text after");
}

Test(frame, allows_columns_without_a_name)
{
    dlb_frame *frame = parse("run,,,\na,1,2,3\n");
    cr_assert_str_eq(word(frame, "run", 0), "a");
    dlb_frame_free(frame);
}

/*
 * Cells of many rows: whole numbers that outgrow each width, with gaps; words few, many and all
 * different.
 */
enum { ROWS = 100000 };

static double whole(size_t row)
{
    double size = row < 20000 ? 100 : row < 40000 ? 30000 : row < 60000 ? 2e9 : 9e15;
    return floor(size * sin((double)row));
}

static void make_table(dlb_str *text)
{
    dlb_str_add(text, "whole,real,few,many,unique\n");
    for (size_t row = 0; row < ROWS; row++) {
        if (row % 7)
            dlb_str_addf(text, "%.17g,%.17g,", whole(row), sin((double)row));
        else
            dlb_str_add(text, ",,");
        dlb_str_addf(text, "%zu,word %zu,%zu-%zu\n", row % 3, row * row % 70001, row, row % 10);
    }
}

static void assert_cells(const dlb_frame *frame, size_t row)
{
    double found = number(frame, "whole", row), real = number(frame, "real", row);
    char expected[32];
    if (row % 7) {
        cr_assert_eq(found, whole(row));
        cr_assert_eq(real, sin((double)row));
    } else {
        cr_assert(isnan(found) && isnan(real));
    }
    snprintf(expected, sizeof expected, "%zu", row % 3);
    cr_assert_str_eq(word(frame, "few", row), expected);
    snprintf(expected, sizeof expected, "word %zu", row * row % 70001);
    cr_assert_str_eq(word(frame, "many", row), expected);
    snprintf(expected, sizeof expected, "%zu-%zu", row, row % 10);
    cr_assert_str_eq(word(frame, "unique", row), expected);
}

Test(frame_file, keeps_every_cell_of_a_large_table)
{
    const dlb_frame_want all[] = {{"whole", DLB_FRAME_NUMBER},
                                  {"few", DLB_FRAME_WORD},
                                  {"real", DLB_FRAME_NUMBER},
                                  {"unique", DLB_FRAME_WORD},
                                  {"many", DLB_FRAME_WORD}};
    dlb_str text = DLB_STR_INIT;
    make_table(&text);
    const char *path = tempdir_file(&dir, "t.csv");
    cr_assert_eq(dlb_file_write_atomic(path, text.text, text.length, NULL), 0);
    dlb_frame *frame;
    cr_assert_eq(dlb_frame_read(&frame, path, all, 5, NULL), 0);
    cr_assert_eq(dlb_frame_rows(frame), ROWS);
    for (size_t row = 0; row < ROWS; row++)
        assert_cells(frame, row);
    cr_assert_eq(dlb_frame_codes(frame, dlb_frame_column(frame, "few")), 4);
    cr_assert_eq(dlb_frame_codes(frame, dlb_frame_column(frame, "unique")), ROWS + 1);
    dlb_frame_free(frame);
    dlb_str_release(&text);
}

Test(frame_file, names_the_columns_of_a_file)
{
    const char *path = tempdir_file(&dir, "t.csv");
    const char text[] = "\"a, b\",,c\r\n1,2,3\r\n";
    cr_assert_eq(dlb_file_write_atomic(path, text, sizeof text - 1, NULL), 0);
    char **names;
    cr_assert_eq(dlb_frame_header(&names, path, NULL), 0);
    cr_assert_str_eq(names[0], "a, b");
    cr_assert_str_eq(names[1], "");
    cr_assert_str_eq(names[2], "c");
    cr_assert_null(names[3]);
    dlb_frame_header_free(names);
}

Test(frame_file, of_no_file_is_refused_by_name)
{
    dlb_frame *frame;
    char **names;
    dlb_error err;
    cr_assert_eq(dlb_frame_read(&frame, "/no/runs.csv", wants, WANTS, &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "/no/runs.csv"));
    cr_assert_eq(dlb_frame_header(&names, "/no/runs.csv", &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "/no/runs.csv"));
}
