/*
 * Real counting on real threads, through PAPI where it knows the processor and through the kernel
 * where it does not, and through the kernel in any case. The events are those of software, which
 * every machine has.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure/counter_api.h"
#include "measure/known_work.h"

enum { THREADS = 2, WINDOWS = 3, PAGES = 256 };

enum { LIBRARIES = 2 };

static const dlb_counter_api *const LIBRARY[LIBRARIES] = {&dlb_counter_library, &dlb_linux_perf};

typedef void work_fn(void);

typedef struct job {
    dlb_counters *counters;
    int thread;
    work_fn *work;
    double open_s; /* time that windows were open */
} job;

static double window_seconds; /* of all threads, at the last count_on_threads */

/* The work in windows, and the same again after each, not counted. */
static void *run_windows(void *arg)
{
    job *j = arg;
    for (int window = 0; window < WINDOWS; window++) {
        double begin = dlb_clock_s();
        dlb_counters_start(j->counters, j->thread);
        j->work();
        dlb_counters_stop(j->counters, j->thread);
        j->open_s += dlb_clock_s() - begin;
        j->work();
    }
    return NULL;
}

/* Count over `work` on all threads at once. */
static dlb_counters *count_on_threads(const dlb_counter_api *api, const char *events, work_fn *work)
{
    dlb_error err;
    dlb_counters *c = NULL;
    pthread_t thread[THREADS];
    job jobs[THREADS];
    cr_assert_eq(dlb_counters_create_with(&c, api, events, THREADS, &err), 0, "%s", err.message);
    for (int t = 0; t < THREADS; t++) {
        jobs[t] = (job){c, t, work, 0};
        cr_assert_eq(pthread_create(&thread[t], NULL, run_windows, &jobs[t]), 0);
    }
    window_seconds = 0;
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        window_seconds += jobs[t].open_s;
    }
    return c;
}

/* Whether the kernel counts for this user at all: a container may forbid it. */
static bool kernel_counts(void)
{
    dlb_error err;
    const char *note;
    return dlb_counters_probe_with(&dlb_linux_perf, "perf::TASK-CLOCK", &note, &err) == 0;
}

/* An event of software is counted wherever the kernel counts; else it is missing, with a reason. */
static bool counted(const dlb_counters *c, size_t event, long long *total)
{
    const char *name = dlb_counters_name(c, event), *why = dlb_counters_why(c, event);
    if (dlb_counters_value(c, event, total))
        return true;
    cr_assert_not(kernel_counts(), "%s", why);
    cr_expect_not_null(strstr(why, name), "%s: %s", name, why);
    return false;
}

/* Not instrumented: the memory that a sanitizer keeps for each page has pages of its own. */
__attribute__((no_sanitize("address", "thread"))) static void write_to_each(volatile char *pages,
                                                                            size_t page_size)
{
    for (size_t i = 0; i < PAGES; i++)
        pages[i * page_size] = 1;
}

static void touch_pages(void)
{
    size_t page_size = (size_t)sysconf(_SC_PAGESIZE), size = PAGES * page_size;
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(pages, MAP_FAILED);
    madvise(pages, size, MADV_NOHUGEPAGE);
    write_to_each(pages, page_size);
    munmap(pages, size);
}

/* As many pages are touched outside; the limit leaves room for what mmap does in a sanitizer. */
Test(counter_library, every_page_touched_in_a_window_is_a_fault_and_no_page_touched_outside)
{
    const long long touched = THREADS * WINDOWS * PAGES;
    for (int l = 0; l < LIBRARIES; l++) {
        dlb_counters *c =
            count_on_threads(LIBRARY[l], "perf::PAGE-FAULTS perf::MINOR-FAULTS", touch_pages);
        for (size_t event = 0; event < dlb_counters_count(c); event++) {
            long long faults;
            if (!counted(c, event, &faults))
                continue;
            cr_expect_geq(faults, touched, "%lld", faults);
            cr_expect_lt(faults, touched * 3 / 2, "%lld", faults);
        }
        dlb_counters_free(c);
    }
}

/* Of this thread. */
static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const double BUSY_S = 0.005;

static void compute(void)
{
    double end = cpu_seconds() + BUSY_S;
    while (cpu_seconds() < end)
        ;
}

Test(counter_library, the_task_clock_adds_up_all_windows_and_is_no_more_than_their_time)
{
    for (int l = 0; l < LIBRARIES; l++) {
        dlb_counters *c = count_on_threads(LIBRARY[l], "perf::TASK-CLOCK", compute);
        long long task_ns;
        if (counted(c, 0, &task_ns)) {
            double task_s = 1e-9 * (double)task_ns;
            cr_expect_geq(task_s, 0.9 * THREADS * WINDOWS * BUSY_S, "%g s", task_s);
            cr_expect_leq(task_s, window_seconds, "%g s in %g s", task_s, window_seconds);
        }
        dlb_counters_free(c);
    }
}

/* The kernel's part needs more rights than the rest, so they may be missing, with the reason. */
Test(counter_library, context_switches_are_counted_on_both_threads_or_forbidden)
{
    for (int l = 0; l < LIBRARIES; l++) {
        dlb_counters *c = count_on_threads(LIBRARY[l], "perf::CONTEXT-SWITCHES", dlb_known_work);
        const char *why = dlb_counters_why(c, 0);
        long long switches;
        if (dlb_counters_value(c, 0, &switches)) {
            cr_expect_geq(switches, THREADS * WINDOWS, "each sleeps once");
            cr_expect_not_null(strstr(why, "counted in kernel mode, too"), "%s", why);
        } else if (kernel_counts()) {
            cr_expect_not_null(strstr(why, "perf_event_paranoid"), "%s", why);
        }
        dlb_counters_free(c);
    }
}

Test(counter_library, the_kernel_takes_papis_place_only_while_its_component_is_off_and_says_so)
{
    dlb_counters *c = count_on_threads(&dlb_counter_library, "perf::TASK-CLOCK", compute);
    const char *why = dlb_counters_why(c, 0);
    long long task_ns;
    if (!counted(c, 0, &task_ns))
        cr_expect_neq(why[0], '\0');
    else if (dlb_counters_library_lacks()[0])
        cr_expect_str_eq(why, "perf::TASK-CLOCK: counted by the kernel, because PAPI's perf_event "
                              "component is off");
    else
        cr_expect_str_eq(why, "");
    dlb_counters_free(c);
}

/* PAPI_L2_DCM is nothing that the kernel has a name for. */
Test(counter_library, an_event_that_neither_counts_keeps_papis_reason)
{
    dlb_error err;
    const char *note;
    int status = dlb_counters_probe("PAPI_L2_DCM", &note, &err);
    const char *lack = dlb_counters_library_lacks();
    if (lack[0]) {
        cr_expect_eq(status, DLB_FAIL);
        cr_expect_not_null(strstr(err.message, lack), "%s", err.message);
    }
    cr_expect_eq(dlb_counters_probe("PAPI_L2_DCX", &note, &err), DLB_BAD_INPUT, "still unknown");
}

Test(counter_library, counters_that_run_at_the_same_time_do_not_disturb_each_other)
{
    dlb_error err;
    dlb_counters *mine = NULL, *other = NULL;
    cr_assert_eq(dlb_counters_create(&mine, "perf::PAGE-FAULTS", 1, &err), 0);
    cr_assert_eq(dlb_counters_create_with(&other, &dlb_linux_perf, "perf::PAGE-FAULTS", 1, &err),
                 0);
    dlb_counters_start(mine, 0);
    dlb_counters_start(other, 0);
    touch_pages();
    dlb_counters_stop(other, 0);
    touch_pages();
    dlb_counters_stop(mine, 0);
    long long longer, shorter;
    if (counted(mine, 0, &longer) && counted(other, 0, &shorter)) {
        cr_expect_geq(longer, 2 * PAGES);
        cr_expect_geq(shorter, PAGES);
        cr_expect_lt(shorter, 2 * PAGES);
    }
    dlb_counters_free(mine);
    dlb_counters_free(other);
}
