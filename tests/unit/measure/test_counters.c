#include <criterion/criterion.h>
#include <pthread.h>

#include "fake_counters.h"

static dlb_counters *create(const char *events, int threads)
{
    dlb_error err;
    dlb_counters *c = NULL;
    cr_assert_eq(dlb_counters_create_with(&c, &fake_counters, events, threads, &err), 0, "%s",
                 err.message);
    return c;
}

static void free_all(dlb_counters *c)
{
    dlb_counters_free(c);
    cr_expect_eq(fake_open_sets, 0, "every set that was opened is closed");
}

static void expect_value(const dlb_counters *c, size_t event, long long expected)
{
    long long total;
    cr_assert(dlb_counters_value(c, event, &total), "%s", dlb_counters_why(c, event));
    cr_expect_eq(total, expected, "%s: %lld", dlb_counters_name(c, event), total);
}

static void expect_missing(const dlb_counters *c, size_t event, const char *reason)
{
    long long total = -7;
    cr_expect_not(dlb_counters_value(c, event, &total), "%s", dlb_counters_name(c, event));
    cr_expect_eq(total, -7, "a missing value is not touched");
    cr_expect_not_null(strstr(dlb_counters_why(c, event), reason), "%s",
                       dlb_counters_why(c, event));
}

/* Two windows of `amount` each on the calling thread. */
static void count(dlb_counters *c, int thread, long long amount)
{
    for (int window = 0; window < 2; window++) {
        dlb_counters_start(c, thread);
        fake_work += amount;
        dlb_counters_stop(c, thread);
        fake_work += 1000; /* not counted */
    }
}

typedef struct job {
    dlb_counters *counters;
    int thread;
    long long amount;
    bool fails;
} job;

static void *run_job(void *arg)
{
    const job *j = arg;
    fake_start_fails = j->fails;
    count(j->counters, j->thread, j->amount);
    return NULL;
}

static void run_beside(job other, job own)
{
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, run_job, &other), 0);
    run_job(&own);
    pthread_join(thread, NULL);
    fake_start_fails = false;
}

Test(counters, windows_of_all_threads_add_up)
{
    dlb_counters *c = create("FAKE_A OTHER_A", 2);
    run_beside((job){c, 1, 30, false}, (job){c, 0, 5, false});
    expect_value(c, 0, 2 * (30 + 1) + 2 * (5 + 1));
    expect_value(c, 1, 2 * (30 + 1) + 2 * (5 + 1));
    cr_expect_str_eq(dlb_counters_why(c, 0), "");
    free_all(c);
}

Test(counters, no_events_is_a_valid_list)
{
    dlb_counters *c = create("", 1);
    count(c, 0, 1);
    cr_expect_eq(dlb_counters_count(c), 0);
    free_all(c);
}

Test(counters, each_missing_event_has_its_reason_and_the_others_count)
{
    dlb_counters *c = create("FAKE_DEAD FAKE_A FAKE_FORBIDDEN FAKE_OFF", 1);
    count(c, 0, 10);
    expect_missing(c, 0, "counted 0 over known work");
    expect_value(c, 1, 22);
    expect_missing(c, 2, "cannot be added: Permission denied");
    expect_missing(c, 3, "component is off");
    free_all(c);
}

Test(counters, an_event_that_happens_in_the_kernel_is_counted_there)
{
    dlb_counters *c = create("FAKE_KERNEL", 1);
    count(c, 0, 10);
    expect_value(c, 0, 22);
    cr_expect_str_eq(dlb_counters_why(c, 0), "FAKE_KERNEL: counted in kernel mode, too");
    free_all(c);
}

Test(counters, more_events_than_counters_take_turns_and_say_so)
{
    fake_capacity = 2;
    dlb_counters *c = create("FAKE_A FAKE_B FAKE_C OTHER_A", 1);
    count(c, 0, 10);
    for (size_t i = 0; i < 3; i++) {
        expect_value(c, i, 22);
        cr_expect_not_null(strstr(dlb_counters_why(c, i), "took turns"));
        cr_expect_not_null(strstr(dlb_counters_why(c, i), dlb_counters_name(c, i)));
    }
    expect_value(c, 3, 22);
    cr_expect_str_eq(dlb_counters_why(c, 3), "", "its own component had room");
    free_all(c);
}

Test(counters, without_turns_the_events_that_do_not_fit_are_missing)
{
    fake_capacity = 2;
    fake_multiplexing = false;
    dlb_counters *c = create("FAKE_A FAKE_B FAKE_C FAKE_D", 1);
    count(c, 0, 10);
    expect_value(c, 0, 22);
    expect_value(c, 1, 22);
    expect_missing(c, 2, "counts alone, but not with the events before it");
    expect_missing(c, 3, "counts alone, but not with the events before it");
    free_all(c);
}

Test(counters, a_thread_that_cannot_count_makes_the_sum_missing_and_not_too_small)
{
    dlb_counters *c = create("FAKE_A", 2);
    run_beside((job){c, 1, 30, true}, (job){c, 0, 5, false});
    expect_missing(c, 0, "FAKE_A: thread 1: no counter left");
    free_all(c);
}

/* Of counters whose first event is instructions, and the second, if there is one, cycles. */
static dlb_value ipc_of(const dlb_counters *c)
{
    long long totals[2];
    bool counted[2] = {false, false};
    for (size_t i = 0; i < dlb_counters_count(c); i++)
        counted[i] = dlb_counters_value(c, i, &totals[i]);
    return dlb_ipc(counted[0] ? &totals[0] : NULL, counted[1] ? &totals[1] : NULL);
}

Test(counters, instructions_a_cycle_need_both)
{
    dlb_counters *both = create("PAPI_TOT_INS PAPI_TOT_CYC", 1);
    count(both, 0, 49);
    dlb_value ipc = ipc_of(both);
    cr_assert(ipc.known);
    cr_expect_float_eq(ipc.number, 2.0, 1e-12);
    free_all(both);

    dlb_counters *one = create("PAPI_TOT_INS", 1);
    count(one, 0, 49);
    cr_expect_not(ipc_of(one).known);
    free_all(one);
}

Test(counters, cycles_never_started_give_no_rate)
{
    dlb_counters *c = create("PAPI_TOT_INS PAPI_TOT_CYC", 1);
    cr_expect_not(ipc_of(c).known);
    free_all(c);
}

static void expect_refused(const dlb_counter_api *api, const char *events, const char *reason)
{
    dlb_error err;
    dlb_counters *c = NULL;
    cr_expect_eq(dlb_counters_create_with(&c, api, events, 1, &err), DLB_BAD_INPUT);
    cr_expect_null(c);
    cr_expect_not_null(strstr(err.message, reason), "%s", err.message);
}

Test(counters, wrong_lists_are_the_users_error)
{
    expect_refused(&fake_counters, "FAKE_A FAKE_X", "FAKE_X");
    expect_refused(&fake_counters, "FAKE_A FAKE_B FAKE_A", "FAKE_A is named twice");
    cr_expect_eq(fake_open_sets, 0);
}

Test(papi, an_unknown_preset_is_refused_with_the_closest_one)
{
    expect_refused(&dlb_papi, "PAPI_TOT_INX", "did you mean PAPI_TOT_INS?");
    expect_refused(&dlb_papi, "nonsense", "nonsense");
}

Test(papi, the_library_tells_its_version)
{
    cr_expect_eq(strncmp(dlb_counters_library(), "PAPI ", 5), 0);
}

Test(counters, a_probe_says_the_same_as_counting)
{
    const char *const events[] = {"PAPI_TOT_INS", "PAPI_L2_DCM", "perf::TASK-CLOCK"};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        dlb_error err = {.message = ""};
        dlb_counters *c = NULL;
        long long total;
        const char *note;
        bool works = dlb_counters_probe(events[i], &note, &err) == 0;
        cr_expect(works || strstr(err.message, events[i]), "%s: %s", events[i], err.message);
        cr_assert_eq(dlb_counters_create(&c, events[i], 1, &err), 0, "%s", err.message);
        cr_expect_eq(dlb_counters_value(c, 0, &total), works, "%s: %s", events[i],
                     dlb_counters_why(c, 0));
        cr_expect_not_null(strstr(dlb_counters_why(c, 0), note), "%s", dlb_counters_why(c, 0));
        dlb_counters_free(c);
    }
}
