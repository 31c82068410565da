#include "record/baseline.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "support/tempdir.h"

static dlb_baseline make(const char *cpu, double first)
{
    dlb_baseline b = {.cpu = dlb_strdup(cpu),
                      .isa = dlb_strdup("avx2"),
                      .kernels = dlb_strdup("simd"),
                      .commit = dlb_strdup("0123abc"),
                      .date = dlb_strdup("2026-11-18T12:00:00Z"),
                      .host = dlb_strdup("node \"1\"")};
    double logs[] = {first, NAN, -1.5};
    dlb_baseline_add(&b, "keras_cnn", "dense_1 forward", "sgemm 512³", logs, 3);
    dlb_baseline_add(&b, "keras_cnn", "relu_3 forward", "triad", logs, 3);
    return b;
}

static dlb_baselines make_two(void)
{
    dlb_baselines all = {0};
    dlb_baseline one = make("cpu one", -2.25), other = make("cpu other", -3);
    dlb_baselines_put(&all, &one);
    dlb_baselines_put(&all, &other);
    return all;
}

Test(baseline, what_is_written_is_read_again)
{
    dlb_error err;
    dlb_baselines all = make_two(), read;
    tempdir dir;
    tempdir_make(&dir);
    const char *path = tempdir_file(&dir, "b.json");
    cr_assert_eq(dlb_baselines_write(&all, path, &err), 0);
    cr_assert_eq(dlb_baselines_read(&read, path, &err), 0);
    tempdir_remove(&dir);
    cr_assert_eq(read.count, 2);
    const dlb_baseline *one = dlb_baselines_find(&read, "cpu one", "avx2", "simd");
    cr_assert_not_null(one);
    cr_assert_str_eq(one->host, "node \"1\"");
    const dlb_baseline_ratio *ratio = dlb_baseline_find(one, "keras_cnn", "dense_1 forward");
    cr_assert_not_null(ratio);
    cr_assert_str_eq(ratio->beside, "sgemm 512³");
    cr_assert_eq(ratio->count, 3);
    cr_assert_float_eq(ratio->logs[0], -2.25, 1e-9);
    cr_assert(isnan(ratio->logs[1]), "a missing round stays missing");
    dlb_baselines_release(&read);
    dlb_baselines_release(&all);
}

Test(baseline, machines_are_told_apart_by_cpu_instruction_set_and_family)
{
    dlb_baselines all = make_two();
    cr_assert_null(dlb_baselines_find(&all, "cpu three", "avx2", "simd"));
    cr_assert_null(dlb_baselines_find(&all, "cpu one", "avx512", "simd"));
    cr_assert_null(dlb_baselines_find(&all, "cpu one", "avx2", "blas"));
    cr_assert_null(dlb_baseline_find(&all.list[0], "horovod_cnn", "dense_1 forward"));
    dlb_baselines_release(&all);
}

Test(baseline, a_new_one_takes_the_place_of_that_machine_alone)
{
    dlb_baselines all = make_two();
    dlb_baseline again = make("cpu one", -9);
    dlb_baselines_put(&all, &again);
    cr_assert_eq(all.count, 2);
    const dlb_baseline *one = dlb_baselines_find(&all, "cpu one", "avx2", "simd");
    const dlb_baseline *other = dlb_baselines_find(&all, "cpu other", "avx2", "simd");
    cr_assert_float_eq(one->ratios[0].logs[0], -9, 1e-9);
    cr_assert_float_eq(other->ratios[0].logs[0], -3, 1e-9);
    dlb_baselines_release(&all);
}

#define HEAD "{\"format\": \"dlbench-baselines\", \"version\": 1, \"baselines\": ["
#define ENTRY                                                                                      \
    "{\"cpu\": \"c\", \"isa\": \"i\", \"kernels\": \"k\", \"commit\": \"\", \"date\": \"\", "      \
    "\"host\": \"\", \"ratios\": ["
#define RATIO(logs)                                                                                \
    "{\"model\": \"m\", \"kernel\": \"n\", \"beside\": \"triad\", \"logs\": [" logs "]}"

static void expect_refused(const char *text, const char *why)
{
    dlb_error err;
    dlb_baselines all;
    cr_assert_eq(dlb_baselines_parse(&all, "file.json", text, strlen(text), &err), DLB_BAD_INPUT,
                 "%s", text);
    cr_assert(strstr(err.message, "file.json: "), "%s", err.message);
    cr_assert(strstr(err.message, why), "%s instead of %s", err.message, why);
    cr_assert_eq(all.count, 0);
}

Test(baseline, what_is_none_is_refused_with_a_reason)
{
    expect_refused("", "it is empty");
    expect_refused("dlbench", "it is no JSON (line 1");
    expect_refused(HEAD, "it is no JSON");
    expect_refused("[]", "no file of baselines");
    expect_refused("{\"format\": \"other\", \"version\": 1}", "no file of baselines");
    expect_refused("{\"format\": \"dlbench-baselines\", \"version\": 2}", "later version");
    expect_refused("{\"format\": \"dlbench-baselines\", \"version\": 1}", "it is damaged");
    expect_refused(HEAD "{}]}", "number 1 is damaged");
    expect_refused(HEAD ENTRY "]}, 7]}", "number 2 is damaged");
    expect_refused(HEAD ENTRY "]}, " ENTRY "]}]}", "number 2 is damaged");
    expect_refused(HEAD ENTRY RATIO("") "]}]}", "number 1 is damaged");
    expect_refused(HEAD ENTRY RATIO("\"1\"") "]}]}", "number 1 is damaged");
    expect_refused(HEAD ENTRY RATIO("1") ", " RATIO("1") "]}]}", "number 1 is damaged");
}

Test(baseline, bytes_behind_the_end_are_damage)
{
    dlb_error err;
    dlb_baselines all;
    static const char text[] = HEAD "]}\0rubbish";
    cr_assert_eq(dlb_baselines_parse(&all, "file.json", text, sizeof text - 1, &err),
                 DLB_BAD_INPUT);
    cr_assert_eq(dlb_baselines_parse(&all, "file.json", text, strlen(text), &err), 0);
    dlb_baselines_release(&all);
}

Test(baseline, a_text_that_json_cannot_hold_is_refused_before_anything_is_written)
{
    dlb_error err;
    tempdir dir;
    tempdir_make(&dir);
    dlb_baselines all = {0};
    dlb_baseline made = make("\xff\xfe", 1);
    dlb_baselines_put(&all, &made);
    const char *path = tempdir_file(&dir, "b.json");
    cr_assert_eq(dlb_baselines_write(&all, path, &err), DLB_FAIL);
    cr_assert_eq(tempdir_count(&dir), 0);
    tempdir_remove(&dir);
    dlb_baselines_release(&all);
}

Test(baseline, a_whole_one_is_taken)
{
    dlb_error err;
    dlb_baselines all;
    const char *text = HEAD ENTRY RATIO("1, null, 2.5") "]}]}";
    cr_assert_eq(dlb_baselines_parse(&all, "file.json", text, strlen(text), &err), 0);
    cr_assert_eq(all.list[0].ratios[0].count, 3);
    dlb_baselines_release(&all);
}
