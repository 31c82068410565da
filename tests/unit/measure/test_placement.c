#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>

#include "measure/placement.h"

static void note(dlb_placement *p, int thread, int cpu, int node, int times)
{
    for (int i = 0; i < times; i++)
        dlb_placement_note(p, thread, cpu, node);
}

static void expect_text(const dlb_placement *p, int thread, const char *expected)
{
    dlb_str text = DLB_STR_INIT;
    dlb_placement_describe(p, thread, &text);
    cr_expect_str_eq(text.text, expected);
    dlb_str_release(&text);
}

Test(placement, says_where_each_thread_was_most_visited_first)
{
    dlb_placement *p = dlb_placement_create(3);
    note(p, 0, 1, 0, 4);
    note(p, 1, 6, 1, 1);
    note(p, 1, 5, 1, 3);
    expect_text(p, 0, "0: cpu 1 (node 0) 100 %");
    expect_text(p, 1, "1: cpu 5 (node 1) 75 %, cpu 6 (node 1) 25 %");
    expect_text(p, 2, "2: never sampled");
    dlb_placement_free(p);
}

Test(placement, lists_the_cpus_used)
{
    dlb_placement *p = dlb_placement_create(2);
    note(p, 0, 0, 0, 1);
    note(p, 0, 7, 0, 1);
    note(p, 1, 1, 0, 1);
    dlb_cpus used = dlb_placement_cpus(p);
    dlb_str list = DLB_STR_INIT;
    dlb_cpus_format(&used, &list);
    cr_expect_str_eq(list.text, "0-1,7");
    dlb_str_release(&list);
    dlb_placement_free(p);
}

Test(placement, two_threads_at_home_on_one_cpu_are_noticed)
{
    int first, second;
    dlb_placement *p = dlb_placement_create(3);
    note(p, 0, 0, 0, 3);
    note(p, 1, 2, 0, 3);
    note(p, 2, 2, 0, 8);
    note(p, 2, 1, 0, 1);
    cr_expect_not(dlb_placement_shared(p, &first, &second), "eight of nine samples are no home");
    note(p, 2, 2, 0, 1);
    cr_assert(dlb_placement_shared(p, &first, &second));
    cr_expect_eq(first, 1);
    cr_expect_eq(second, 2);
    dlb_placement_free(p);
}

Test(placement, a_wandering_thread_is_still_accounted_for)
{
    dlb_placement *p = dlb_placement_create(1);
    for (int cpu = 0; cpu < 100; cpu++)
        dlb_placement_note(p, 0, cpu, 0);
    dlb_cpus used = dlb_placement_cpus(p);
    cr_expect_eq(dlb_cpus_count(&used), 100);
    cr_expect_eq(dlb_placement_home(p, 0), -1);
    dlb_str text = DLB_STR_INIT;
    dlb_placement_describe(p, 0, &text);
    cr_expect_not_null(strstr(text.text, "others 84 %"), "%s", text.text);
    dlb_str_release(&text);
    dlb_placement_free(p);
}

typedef struct pinned {
    dlb_placement *placement;
    int thread, cpu;
} pinned;

static void *sample_pinned(void *arg)
{
    const pinned *p = arg;
    dlb_cpus one = {{0}};
    dlb_cpus_add(&one, p->cpu);
    sched_setaffinity(0, sizeof one.bits, (cpu_set_t *)one.bits);
    for (int i = 0; i < 1000; i++)
        dlb_placement_sample(p->placement, p->thread);
    return NULL;
}

/* Two threads at the same time, each bound to a CPU of its own where there are two. */
Test(placement, bound_threads_are_found_where_they_were_bound)
{
    dlb_cpus mask;
    cr_assert(dlb_cpus_of_process(&mask));
    int cpu0 = dlb_cpus_next(&mask, -1), cpu1 = dlb_cpus_next(&mask, cpu0);
    dlb_placement *p = dlb_placement_create(2);
    pinned a = {p, 0, cpu0}, b = {p, 1, cpu1 < 0 ? cpu0 : cpu1};
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, sample_pinned, &b), 0);
    sample_pinned(&a);
    pthread_join(thread, NULL);
    cr_expect_eq(dlb_placement_home(p, 0), a.cpu);
    cr_expect_eq(dlb_placement_home(p, 1), b.cpu);
    dlb_placement_free(p);
}
