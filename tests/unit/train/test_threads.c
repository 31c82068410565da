#include <criterion/criterion.h>
#include <sched.h>

#include "measure/cores.h"
#include "train/threads.h"

static int set_up(dlb_threads *threads, dlb_notes *notes, dlb_error *err, const char *affinity)
{
    dlb_workload workload;
    dlb_workload_init(&workload);
    if (affinity)
        dlb_workload_set(&workload, DLB_KEY_kmp_affinity, affinity, err);
    int status = dlb_threads_set_up(threads, &workload, notes, err);
    dlb_workload_release(&workload);
    return status;
}

Test(threads, the_environment_says_how_many)
{
    const struct {
        const char *value;
        int threads;
    } cases[] = {{"1", 1}, {"3", 3}, {"2,4", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dlb_threads threads;
        dlb_notes notes = {0};
        dlb_error err;
        setenv("OMP_NUM_THREADS", cases[i].value, 1);
        cr_assert_eq(set_up(&threads, &notes, &err, NULL), 0);
        cr_assert_eq(threads.threads, cases[i].threads);
        cr_assert_eq(threads.intra_op, cases[i].threads);
        dlb_notes_release(&notes);
    }
}

Test(threads, nonsense_in_the_environment_is_refused_by_name)
{
    const char *const wrong[] = {"-1", "0", " ", "2.5", "abc", "99999", "18446744073709551616"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        dlb_threads threads;
        dlb_notes notes = {0};
        dlb_error err = {0};
        setenv("OMP_NUM_THREADS", wrong[i], 1);
        cr_assert_eq(set_up(&threads, &notes, &err, NULL), DLB_BAD_INPUT, "accepted '%s'",
                     wrong[i]);
        cr_assert(strstr(err.message, "OMP_NUM_THREADS"));
        dlb_notes_release(&notes);
    }
}

/* A runtime that binds the main thread must not make the machine look smaller. */
Test(threads, affinity_does_not_shrink_the_cores_that_are_counted)
{
    dlb_threads threads;
    dlb_notes notes = {0};
    dlb_error err;
    cpu_set_t mask;
    cr_assert_eq(sched_getaffinity(0, sizeof mask, &mask), 0);
    int cores = CPU_COUNT(&mask);
    char count[16];
    snprintf(count, sizeof count, "%d", cores);
    setenv("OMP_NUM_THREADS", count, 1);
    cr_assert_eq(set_up(&threads, &notes, &err, "granularity=fine,compact"), 0);
    cr_assert_not(threads.oversubscribed);
    cr_assert_eq(threads.threads, cores);
    dlb_notes_release(&notes);
}

Test(threads, a_thread_steps_onto_a_cpu_of_its_own_and_stays_free)
{
    const dlb_cores *cores = dlb_cores_of_process();
    dlb_threads threads = {.threads = cores->count, .intra_op = cores->count};
    cpu_set_t before, after;
    cr_assert_eq(sched_getaffinity(0, sizeof before, &before), 0);
    for (int thread = 0; thread < cores->count; thread++) {
        bool arrived = false;
        for (int tries = 0; tries < 100 && !arrived; tries++) { /* the kernel may move it at once */
            dlb_threads_spread(&threads, thread);
            arrived = sched_getcpu() == dlb_cpus_at(&cores->cpus, thread);
        }
        cr_assert(arrived, "thread %d stays where it was", thread);
        cr_assert_eq(sched_getaffinity(0, sizeof after, &after), 0);
        cr_assert(CPU_EQUAL(&before, &after), "thread %d is bound", thread);
    }
}
