#include <math.h>

#include <criterion/criterion.h>

#include "base/file.h"
#include "record/result.h"
#include "support/tempdir.h"

static tempdir dir;
static dlb_result result;
static dlb_str json;

static void fill(void)
{
    dlb_result_init(&result);
    dlb_result_add_setting(&result, "kmp_affinity", "compact,1");
    dlb_result_add_setting(&result, "counters", "");
    dlb_row_set_text(&result.run, DLB_RUN_status, "ok");
    dlb_row_set_text(&result.run, DLB_RUN_model, "k\xc3\xa9ras \"cnn\"");
    dlb_row_set_int(&result.run, DLB_RUN_seed, 4294967295);
    dlb_row_set_real(&result.run, DLB_RUN_lr, 0.1);
    dlb_row_set_real(&result.run, DLB_RUN_train_loss, 1.0 / 3);
    dlb_row_set_extra(&result.run, "env.X", "1");
    dlb_row_set_counter(&result.run, "perf::TASK-CLOCK", 123456789012345);
    dlb_row_miss_counter(&result.run, "PAPI_TOT_INS", "no hardware counters");
    for (int i = 1; i <= 3; i++) {
        dlb_row *epoch = dlb_result_add_epoch(&result);
        dlb_row_set_int(epoch, DLB_EPOCH_epoch, i);
        dlb_row_set_real(epoch, DLB_EPOCH_train_s, 0.5 * i);
    }
    dlb_row *rank = dlb_result_add_rank(&result);
    dlb_row_set_text(rank, DLB_RANK_cpus, "0-1");
    dlb_row_set_counter(rank, "perf::PAGE-FAULTS", 7);
    dlb_result_add_placement(&result, "thread 0: CPU 1, node 0");
    dlb_result_add_note(&result, "KMP_* has no effect with libgomp");
    dlb_result_add_note(&result, "PAPI_TOT_INS: no hardware counters");
    result.ranks_ended = 1;
    cr_assert_eq(dlb_result_format(&result, &json, NULL), 0);
}

static void init(void)
{
    tempdir_make(&dir);
    fill();
}

static void release(void)
{
    dlb_str_release(&json);
    dlb_result_release(&result);
    tempdir_remove(&dir);
}

TestSuite(result, .init = init, .fini = release);

/* Cells, counters and lists are all in the text, so that equal texts are equal results. */
static void assert_same(const dlb_result *other)
{
    dlb_str text = DLB_STR_INIT;
    cr_assert_eq(dlb_result_format(other, &text, NULL), 0);
    cr_assert_str_eq(text.text, json.text);
    dlb_str_release(&text);
}

Test(result, a_file_reads_back_as_what_was_written)
{
    dlb_result back;
    dlb_error err;
    const char *path = tempdir_file(&dir, "result.json");
    cr_assert_eq(dlb_result_write(&result, path, &err), 0, "%s", err.message);
    cr_assert_eq(dlb_result_read(&back, path, &err), 0, "%s", err.message);
    assert_same(&back);
    cr_assert_eq(back.run.cells[DLB_RUN_seed].integer, 4294967295);
    cr_assert_eq(back.run.cells[DLB_RUN_train_loss].real, 1.0 / 3);
    cr_assert_str_eq(back.run.cells[DLB_RUN_model].text, "k\xc3\xa9ras \"cnn\"");
    cr_assert_eq(back.run.cells[DLB_RUN_test_loss].kind, DLB_CELL_MISSING);
    cr_assert_eq(back.epochs.count, 3);
    cr_assert_eq(back.epochs.rows[2].cells[DLB_EPOCH_train_s].real, 1.5);
    cr_assert_eq(back.ranks.rows[0].counters[0].value, 7);
    cr_assert_str_eq(back.run.extras[0].name, "env.X");
    cr_assert_str_eq(back.run.extras[0].text, "1");
    cr_assert_eq(back.run.counters[0].value, 123456789012345);
    cr_assert(back.run.counters[1].missing);
    cr_assert_str_eq(back.run.counters[1].why, "no hardware counters");
    cr_assert_str_eq(back.placement.texts[0], "thread 0: CPU 1, node 0");
    cr_assert_eq(back.ranks_ended, 1);
    cr_assert_eq(back.workload.count, 2);
    cr_assert_str_eq(back.workload.settings[0].key, "kmp_affinity");
    cr_assert_str_eq(back.workload.settings[0].value, "compact,1");
    cr_assert_str_eq(back.workload.settings[1].value, "");
    dlb_result_release(&back);
}

Test(result, notes_stand_in_the_run_joined)
{
    cr_assert_str_eq(result.run.cells[DLB_RUN_notes].text,
                     "KMP_* has no effect with libgomp; PAPI_TOT_INS: no hardware counters");
}

Test(result, an_empty_result_reads_back)
{
    dlb_result empty, back;
    dlb_result_init(&empty);
    dlb_str text = DLB_STR_INIT;
    cr_assert_eq(dlb_result_format(&empty, &text, NULL), 0);
    cr_assert_eq(dlb_result_parse(&back, "empty", text.text, text.length, NULL), 0);
    cr_assert_eq(back.epochs.count, 0);
    dlb_result_release(&back);
    dlb_str_release(&text);
    dlb_result_release(&empty);
}

Test(result, a_text_that_is_no_utf8_does_not_lose_the_result)
{
    dlb_row_set_text(&result.run, DLB_RUN_data, "caf\xe9");
    dlb_str text = DLB_STR_INIT;
    dlb_result back;
    cr_assert_eq(dlb_result_format(&result, &text, NULL), 0);
    cr_assert_eq(dlb_result_parse(&back, "x", text.text, text.length, NULL), 0);
    cr_assert_str_eq(back.run.cells[DLB_RUN_data].text, "caf?");
    dlb_result_release(&back);
    dlb_str_release(&text);
}

/* The message, after `text` has been refused as input. */
static const char *refusal(const char *text, size_t length)
{
    static dlb_error err;
    dlb_result back;
    cr_assert_eq(dlb_result_parse(&back, "r.json", text, length, &err), DLB_BAD_INPUT, "%.200s",
                 text);
    cr_assert_null(back.run.cells, "a refused result holds nothing");
    cr_assert(strstr(err.message, "r.json:") == err.message, "%s", err.message);
    return err.message;
}

/* The message for the JSON with its first `old` replaced. */
static const char *refusal_with(const char *old, const char *new)
{
    const char *at = strstr(json.text, old);
    cr_assert_not_null(at, "%s", old);
    dlb_str changed = DLB_STR_INIT;
    dlb_str_add_bytes(&changed, json.text, (size_t)(at - json.text));
    dlb_str_addf(&changed, "%s%s", new, at + strlen(old));
    const char *message = refusal(changed.text, changed.length);
    dlb_str_release(&changed);
    return message;
}

static void assert_names(const char *message, const char *what)
{
    cr_assert(strstr(message, what), "'%s' does not tell of '%s'", message, what);
}

Test(result, wrong_values_are_told_by_place)
{
    assert_names(refusal_with("\"seed\": 4294967295", "\"seed\": \"x\""), "run.seed");
    assert_names(refusal_with("\"seed\": 4294967295", "\"seed\": 1.5"), "an integer");
    assert_names(refusal_with("\"status\": \"ok\"", "\"status\": \"fine\""), "ok|failed");
    assert_names(refusal_with("\"train_s\": 1.5", "\"train_s\": []"), "epochs[2].train_s");
    assert_names(refusal_with("\"cpus\": \"0-1\"", "\"cpus\": 3"), "ranks[0].cpus");
    assert_names(refusal_with("\"ranks_ended\": 1", "\"ranks_ended\": -1"), "ranks_ended");
    assert_names(refusal_with("\"value\": 7", "\"value\": 7.5"), "perf::PAGE-FAULTS");
    assert_names(refusal_with("\"counters\": \"\"", "\"counters\": 1"), "workload.counters");
    assert_names(refusal_with("\"env.X\": \"1\"", "\"env.X\": 1"), "extras.env.X");
    assert_names(refusal_with("\"env.X\": \"1\"", "\"seed\": \"1\""), "extras.seed");
    assert_names(refusal_with("\"extras\": {", "\"extras\": [], \"x\": {"), "x");
    assert_names(refusal_with("\"why\": \"no hardware counters\"", "\"why\": null"), "say why");
}

Test(result, missing_and_unknown_members_are_named)
{
    assert_names(refusal_with("\"seed\":", "\"sead\":"), "unknown column sead");
    assert_names(refusal_with("\"batch\": null,", ""), "has no batch");
    assert_names(refusal_with("\"workload\":", "\"work\":"), "workload");
    assert_names(refusal_with("\"notes\": [", "\"motes\": ["), "notes");
    assert_names(refusal_with("\"schema\": 1,", "\"schema\": 1, \"extra\": 1,"), "extra");
    assert_names(refusal_with("\"schema\": 1,", "\"schema\": 2,"), "schema 2");
    assert_names(refusal_with("\"seed\":", "\"lr\": 1, \"seed\":"), "duplicate");
}

Test(result, the_end_agrees_with_the_run)
{
    assert_names(refusal_with("\"status\": \"ok\"", "\"status\": \"failed\""), "end.status");
}

Test(result, what_is_no_json_or_no_result_is_refused)
{
    const char *const wrong[] = {"",  "{",          "[]", "null", "{}", "{\"schema\": 1}",
                                 "3", "\"\\u0000\""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refusal(wrong[i], strlen(wrong[i]));
    assert_names(refusal("{\n\n x", 6), "r.json:3");
}

Test(result, any_truncation_is_refused)
{
    size_t whole = json.length - strlen("}\n");
    for (size_t length = 0; length <= whole; length += 37)
        refusal(json.text, length);
}

Test(result, a_file_beyond_the_limit_is_refused)
{
    FILE *file = fopen(tempdir_file(&dir, "large.json"), "w");
    cr_assert_eq(ftruncate(fileno(file), DLB_RESULT_MAX_BYTES + 1), 0);
    fclose(file);
    dlb_error err;
    dlb_result back;
    cr_assert_eq(dlb_result_read(&back, tempdir_file(&dir, "large.json"), &err), DLB_BAD_INPUT);
    assert_names(err.message, "more than 16777216 bytes");
}

Test(result, a_file_that_is_not_there_is_named)
{
    dlb_error err;
    dlb_result back;
    cr_assert_eq(dlb_result_read(&back, tempdir_file(&dir, "none.json"), &err), DLB_BAD_INPUT);
    assert_names(err.message, "none.json");
    dlb_result_release(&back);
}
