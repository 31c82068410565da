#include <math.h>

#include <criterion/criterion.h>

#include "base/file.h"
#include "record/metrics.h"
#include "support/tempdir.h"

static tempdir dir;
static dlb_error err;

static void init(void)
{
    tempdir_make(&dir);
}

static void release(void)
{
    tempdir_remove(&dir);
}

TestSuite(metrics, .init = init, .fini = release);

static const char *file_of(const char *bytes, size_t count)
{
    const char *path = tempdir_file(&dir, "left_behind");
    cr_assert_eq(dlb_file_write_atomic(path, bytes, count, NULL), 0);
    return path;
}

static double by_regex(const char *output, const char *pattern)
{
    double value = -1;
    int status = dlb_metric_regex(file_of(output, strlen(output)), pattern, &value, &err);
    cr_assert_eq(status, 0, "%s", err.message);
    return value;
}

static double by_json(const char *json, const char *at)
{
    double value = -1;
    int status = dlb_metric_json(file_of(json, strlen(json)), at, &value, &err);
    cr_assert_eq(status, 0, "%s", err.message);
    return value;
}

typedef int metric(const char *path, const char *what, double *value, dlb_error *err);

/* That is refused with `code`, and says so; the value is left alone. */
static void assert_none(metric *find, const char *bytes, const char *what, int code,
                        const char *says)
{
    double value = 42;
    cr_assert_eq(find(file_of(bytes, strlen(bytes)), what, &value, &err), code, "%s", what);
    cr_assert(strstr(err.message, says), "'%s' does not tell '%s'", err.message, says);
    cr_assert_eq(value, 42);
}

Test(metrics, the_last_line_that_matches_counts)
{
    cr_assert_eq(by_regex("loss: 2.5\nloss: 0.125\nbye\n", "loss: ([0-9.]+)"), 0.125);
    cr_assert_eq(by_regex("epoch 1 acc=1e-3", "acc=([^ ]+)"), 1e-3);
    cr_assert_eq(by_regex("t=1 u=2\n", "t=(.) u=(.)"), 1, "the first group");
}

Test(metrics, a_progress_bar_has_lines_as_well)
{
    cr_assert_eq(by_regex("10% 5 img/s\r50% 6 img/s\r100% 7 img/s\n", "100% ([0-9]+)"), 7);
    cr_assert_eq(by_regex("a 1\ra 2\ra 3", "^a ([0-9])$"), 3);
}

Test(metrics, bytes_of_any_kind_and_lines_of_any_length_are_passed_over)
{
    dlb_str output = DLB_STR_INIT;
    for (int i = 0; i < 300000; i++)
        dlb_str_add_bytes(&output, i % 7 ? "\xff" : "\0", 1);
    dlb_str_add(&output, "\nok 5\n\x80\xfe");
    double value;
    const char *path = file_of(output.text, output.length);
    cr_assert_eq(dlb_metric_regex(path, "ok ([0-9])", &value, NULL), 0);
    cr_assert_eq(value, 5);
    dlb_str_release(&output);
}

Test(metrics, a_match_within_null_bytes_is_found)
{
    double value;
    cr_assert_eq(dlb_metric_regex(file_of("\0loss 3\0\n", 9), "loss ([0-9])", &value, NULL), 0);
    cr_assert_eq(value, 3);
}

Test(metrics, output_without_the_number_is_a_failed_run)
{
    assert_none(dlb_metric_regex, "nothing\n", "loss ([0-9]+)", DLB_FAIL, "no line matches loss");
    assert_none(dlb_metric_regex, "", "loss ([0-9]+)", DLB_FAIL, "no line matches");
    assert_none(dlb_metric_regex, "loss nan\n", "loss (.*)", DLB_FAIL, "'nan', no number");
    assert_none(dlb_metric_regex, "loss 1e999\n", "loss (.*)", DLB_FAIL, "'1e999', no number");
    assert_none(dlb_metric_regex, "loss 1\nloss ?\n", "loss (.*)", DLB_FAIL, "'?', no number");
    assert_none(dlb_metric_regex, "a\n", "a|(b)", DLB_FAIL, "'', no number");
}

Test(metrics, a_wrong_pattern_is_the_callers_mistake)
{
    assert_none(dlb_metric_regex, "a", "(", DLB_BAD_INPUT, "regex (: ");
    assert_none(dlb_metric_regex, "a", "a", DLB_BAD_INPUT, "regex a: a group is missing");
}

Test(metrics, json_is_followed_by_names_and_places)
{
    const char *json = "{\"results\": [{\"loss\": 0.5}, {\"loss\": 7}], \"n\": -3, \"2\": 4}";
    cr_assert_eq(by_json(json, "results.0.loss"), 0.5);
    cr_assert_eq(by_json(json, "results.-1.loss"), 7);
    cr_assert_eq(by_json(json, "n"), -3);
    cr_assert_eq(by_json(json, "2"), 4);
    cr_assert_eq(by_json("[1, [2, 3e2]]", "1.1"), 300);
    cr_assert_eq(by_json("{\"n\": 123456789012345678901234567890}", "n"), 1.2345678901234568e29);
}

Test(metrics, a_null_says_that_there_is_no_number)
{
    cr_assert(isnan(by_json("{\"a\": {\"b\": null}}", "a.b")));
    assert_none(dlb_metric_json, "{\"a\": null}", "a.b", DLB_FAIL, "'b' is not there");
}

Test(metrics, json_without_the_number_is_a_failed_run)
{
    assert_none(dlb_metric_json, "{\"a\": {}}", "a.b.c", DLB_FAIL, "'b' is not there");
    assert_none(dlb_metric_json, "[1, 2]", "2", DLB_FAIL, "'2' is not there");
    assert_none(dlb_metric_json, "[1, 2]", "-3", DLB_FAIL, "'-3' is not there");
    assert_none(dlb_metric_json, "[1, 2]", "x", DLB_FAIL, "'x' is not there");
    assert_none(dlb_metric_json, "{\"a\": \"1\"}", "a", DLB_FAIL, "not a number");
    assert_none(dlb_metric_json, "{\"a\": 1}", "a.b", DLB_FAIL, "'b' is not there");
    assert_none(dlb_metric_json, "{\"a\":\n NaN}", "a", DLB_FAIL, "left_behind:2:");
    assert_none(dlb_metric_json, "{\"a\": 1e999}", "a", DLB_FAIL, "overflow");
}

Test(metrics, a_wrong_path_is_the_callers_mistake)
{
    const char *const wrong[] = {"", ".", ".a", "a.", "a..b"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_none(dlb_metric_json, "{\"a\": 1}", wrong[i], DLB_BAD_INPUT, "separated by dots");
}

Test(metrics, the_last_row_of_a_table_counts)
{
    double value;
    const char *csv = "epoch,\"loss, mean\"\n1,0.5\n2,0.25\n";
    cr_assert_eq(dlb_metric_csv(file_of(csv, strlen(csv)), "loss, mean", &value, NULL), 0);
    cr_assert_eq(value, 0.25);
}

Test(metrics, a_table_without_the_number_is_a_failed_run)
{
    assert_none(dlb_metric_csv, "a,b\n1,2\n", "c", DLB_FAIL, "has no column c");
    assert_none(dlb_metric_csv, "a,b\n", "a", DLB_FAIL, "has no rows");
    assert_none(dlb_metric_csv, "a,b\n1,2\n,3\n", "a", DLB_FAIL, "'' in the last row");
    assert_none(dlb_metric_csv, "a,b\nx,2\n", "a", DLB_FAIL, "'x' in the last row");
    assert_none(dlb_metric_csv, "", "a", DLB_FAIL, "left_behind");
}

Test(metrics, a_file_that_was_not_written_is_a_failed_run)
{
    metric *const find[] = {dlb_metric_regex, dlb_metric_json, dlb_metric_csv};
    for (size_t i = 0; i < 3; i++) {
        double value;
        cr_assert_eq(find[i](tempdir_file(&dir, "none"), "(a)", &value, &err), DLB_FAIL);
        cr_assert(strstr(err.message, "none: ") && strstr(err.message, "No such file"), "%s",
                  err.message);
    }
}

static void assert_tail(const char *log, int lines, size_t bytes, const char *expected)
{
    dlb_str tail = DLB_STR_INIT;
    dlb_str_add(&tail, "");
    dlb_log_tail(file_of(log, strlen(log)), lines, bytes, &tail);
    cr_assert_str_eq(tail.text, expected);
    dlb_str_release(&tail);
}

Test(metrics, a_log_ends_with_its_last_lines)
{
    assert_tail("one\ntwo\nthree\n", 2, 100, "two\nthree");
    assert_tail("one\ntwo\nthree", 5, 100, "one\ntwo\nthree");
    assert_tail("one\ntwo\n\n \n", 1, 100, "two");
    assert_tail("one\ntwo\n", 2, 5, "e\ntwo");
    assert_tail("", 2, 5, "");
    assert_tail("gr\xc3\xbc\xc3\x9f", 1, 3, "\xc3\x9f");
}

Test(metrics, a_log_is_shown_without_what_moves_a_cursor)
{
    assert_tail("\x1b[1;31merror\x1b[0m: \x1b]0;title\a no\x01 file\x7f\n", 1, 100,
                "error:  no file");
    assert_tail(" 1%\r50%\r100%\n", 1, 100, "100%");
    assert_tail("dos\r\nlines\r\n", 2, 100, "dos\nlines");
    assert_tail("cut\x1b", 1, 100, "cut");
    assert_tail("cut\x1b[3", 1, 100, "cut");
}

Test(metrics, the_end_of_a_long_log_begins_with_a_line)
{
    dlb_str log = DLB_STR_INIT;
    for (int i = 0; i < 20000; i++)
        dlb_str_addf(&log, "line %d\n", i);
    assert_tail(log.text, 2, 200, "line 19998\nline 19999");
    dlb_str_release(&log);
}

Test(metrics, a_log_that_is_not_there_adds_nothing)
{
    dlb_str tail = DLB_STR_INIT;
    dlb_log_tail(tempdir_file(&dir, "none"), 3, 100, &tail);
    cr_assert_eq(tail.length, 0);
    dlb_str_release(&tail);
}
