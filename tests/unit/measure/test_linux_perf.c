#include <criterion/criterion.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "measure/counter_api.h"
#include "measure/known_work.h"
#include "measure/sysfile.h"

static dlb_event_id find(const char *name)
{
    dlb_error err;
    dlb_event_id id = {0};
    cr_assert_eq(dlb_linux_perf.find(name, &id, &err), 0, "%s", err.message);
    return id;
}

static void expect_same(const char *name, const char *other)
{
    dlb_event_id a = find(name), b = find(other);
    cr_expect_eq(a.code, b.code, "%s and %s", name, other);
    cr_expect_eq(a.component, b.component, "%s and %s", name, other);
}

Test(linux_perf, an_event_answers_to_all_its_names)
{
    expect_same("perf::PAGE-FAULTS", "perf::FAULTS");
    expect_same("perf::PAGE-FAULTS", "perf::PERF_COUNT_SW_PAGE_FAULTS");
    expect_same("perf::MINOR-FAULTS", "perf::PERF_COUNT_SW_PAGE_FAULTS_MIN");
    expect_same("perf::CONTEXT-SWITCHES", "perf::CS");
    expect_same("perf::CPU-MIGRATIONS", "perf::migrations");
    expect_same("perf::CYCLES", "PAPI_TOT_CYC");
    expect_same("perf::INSTRUCTIONS", "PAPI_TOT_INS");
    cr_expect_neq(find("perf::TASK-CLOCK").code, find("perf::CPU-CLOCK").code);
    cr_expect_neq(find("perf::CYCLES").component, find("perf::CPU-CLOCK").component);
}

Test(linux_perf, what_the_kernel_has_no_name_for_is_unknown)
{
    const char *const names[] = {"perf::NONSENSE", "TASK-CLOCK", "PAPI_L2_DCM", "perf::", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        dlb_error err;
        dlb_event_id id;
        cr_expect_eq(dlb_linux_perf.find(names[i], &id, &err), DLB_BAD_INPUT, "%s", names[i]);
    }
}

/* No alignment fault happens on this kind of processor; a counter that stays at 0 proves nothing.
 */
Test(linux_perf, an_event_that_does_not_move_is_missing)
{
    dlb_error err;
    const char *note;
    cr_expect_eq(dlb_counters_probe_with(&dlb_linux_perf, "perf::ALIGNMENT-FAULTS", &note, &err),
                 DLB_FAIL);
    cr_expect_not_null(strstr(err.message, "perf::ALIGNMENT-FAULTS: "), "%s", err.message);
}

Test(linux_perf, instructions_and_cycles_are_counted_or_explained)
{
    dlb_error err;
    dlb_counters *c = NULL;
    cr_assert_eq(dlb_counters_create_with(&c, &dlb_linux_perf,
                                          "PAPI_TOT_INS PAPI_TOT_CYC perf::BRANCHES", 1, &err),
                 0);
    dlb_counters_start(c, 0);
    dlb_known_work();
    dlb_counters_stop(c, 0);
    for (size_t i = 0; i < dlb_counters_count(c); i++) {
        const char *name = dlb_counters_name(c, i), *why = dlb_counters_why(c, i);
        long long total;
        if (dlb_counters_value(c, i, &total))
            cr_expect_gt(total, 0, "%s", name);
        else
            cr_expect_not_null(strstr(why, name), "%s: %s", name, why);
    }
    dlb_counters_free(c);
}

/* Criterion runs each test in its own process, so the rights given up are those of this one. */
Test(linux_perf, who_may_not_count_is_told_what_to_ask_for)
{
    enum { NOBODY = 65534, USER_MODE_ONLY = 2 };
    long long paranoid;
    bool known = dlb_sys_number(&paranoid, "", "/proc/sys/kernel/perf_event_paranoid");
    uid_t user = geteuid();
    if (user == 0)
        cr_assert_eq(seteuid(NOBODY), 0);
    dlb_error err;
    const char *note;
    int status = dlb_counters_probe_with(&dlb_linux_perf, "perf::CONTEXT-SWITCHES", &note, &err);
    if (known && paranoid >= USER_MODE_ONLY) {
        cr_expect_eq(status, DLB_FAIL);
        cr_expect_not_null(strstr(err.message, "perf_event_paranoid ="), "%s", err.message);
    }
    cr_assert_eq(seteuid(user), 0);
    prctl(PR_SET_DUMPABLE, 1); /* which a change of user takes away, and LeakSanitizer needs */
}
