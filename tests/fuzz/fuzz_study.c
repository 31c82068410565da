/* Any sweep file is points that can be read, selected and filled, or a clear error. */
#include "../support/fake_host.h"
#include "base/mem.h"
#include "fuzz.h"
#include "plan/plan.h"

static void check_error(int status, const dlb_error *err)
{
    if (status != DLB_BAD_INPUT || err->code != status || err->message[0] == '\0')
        abort();
}

static void take_word(void *arg, const char *word)
{
    *(size_t *)arg += strlen(word);
}

static void fill(const dlb_plan *plan, size_t point, dlb_words words)
{
    static const dlb_fill run = {.repeat = 1, .seed = 1, .run_dir = "runs"};
    dlb_error err = {0};
    size_t length = 0;
    int status = words ? dlb_plan_fill(plan, point, words, &run, take_word, &length, &err) : 0;
    if (status != 0)
        check_error(status, &err);
}

/* A point's workload has the values that the plan shows. */
static void check_workload(const dlb_plan *plan, size_t point)
{
    dlb_workload workload;
    dlb_plan_workload(plan, point, &workload);
    for (size_t p = 0; p < dlb_plan_parameters(plan); p++) {
        int key = dlb_key_find(dlb_plan_parameter(plan, p));
        dlb_str text = DLB_STR_INIT;
        dlb_str_add(&text, "");
        if (key >= 0)
            dlb_workload_get(&workload, (enum dlb_key)key, &text);
        if (key >= 0 && dlb_plan_has(plan, point, (int)p) &&
            strcmp(text.text, dlb_plan_value(plan, point, (int)p)) != 0)
            abort();
        dlb_str_release(&text);
    }
    dlb_workload_release(&workload);
}

static int compare_ids(const void *a, const void *b)
{
    return memcmp(a, b, DLB_POINT_ID_SIZE);
}

static void check_ids(const dlb_plan *plan)
{
    size_t count = dlb_plan_count(plan);
    char(*ids)[DLB_POINT_ID_SIZE] = dlb_alloc(count, sizeof *ids);
    for (size_t i = 0; i < count; i++)
        dlb_plan_id(plan, i, ids[i]);
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 1; i < count; i++)
        if (compare_ids(ids[i - 1], ids[i]) == 0)
            abort();
    free(ids);
}

static void check_plan(dlb_plan *plan, const dlb_study *study)
{
    size_t count = dlb_plan_count(plan);
    if (count == 0)
        abort();
    check_ids(plan);
    for (size_t i = 0; i < count; i += count / 4 + 1) {
        fill(plan, i, study->command);
        fill(plan, i, study->wrap);
        check_workload(plan, i);
    }
    dlb_error err = {0};
    int status = dlb_plan_select(plan, "cores > 1", &err);
    if (status != 0 || dlb_plan_count(plan) != count)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    dlb_plan_host host = fake_host(NULL);
    dlb_study *study;
    dlb_plan *plan;
    dlb_error err = {0};
    host.max_points = 200;
    int status = dlb_study_parse(&study, "study.ini", (const char *)bytes, count, &err);
    if (status != 0) {
        check_error(status, &err);
        return 0;
    }
    status = dlb_plan_create(&plan, study, &host, &err);
    if (status != 0)
        check_error(status, &err);
    else
        check_plan(plan, study);
    if (status == 0)
        dlb_plan_free(plan);
    dlb_study_free(study);
    return 0;
}
