#include <criterion/criterion.h>

#include "base/mem.h"
#include "graph/pool.h"
#include "support/denormal.h"

static dlb_pool *make_pool(int threads, int teams)
{
    dlb_pool *pool;
    dlb_error err;
    dlb_pool_options options = {
        .threads = threads, .teams = teams, .scratch_floats = 4, .spin_ns = 1000000};
    int status = dlb_pool_create(&pool, &options, &err);
    cr_assert_eq(status, 0, "%s", err.message);
    return pool;
}

static void note_scratch(void *arg, int index, dlk_team *team)
{
    (void)index;
    for (int thread = 0; thread < team->size; thread++)
        ((uintptr_t *)arg)[thread] = (uintptr_t)dlk_scratch(team, thread);
}

Test(pool, what_is_fetched_ahead_of_a_threads_scratch_is_not_anothers)
{
    const uintptr_t fetched_ahead = 64 * 1024;
    uintptr_t at[3];
    dlb_pool *pool = make_pool(3, 1);
    dlb_pool_run(pool, note_scratch, at);
    dlb_pool_free(pool);
    for (int thread = 0; thread < 3; thread++)
        cr_assert_eq(at[thread] % DLB_PAGE, 0);
    for (int thread = 1; thread < 3; thread++)
        cr_assert_geq(at[thread], at[thread - 1] + 4 * sizeof(float) + fetched_ahead);
}

struct tally {
    _Atomic int tasks;
    int size[4]; /* of each team; 0: its leader was not called */
};

static void count_task(void *arg, int task, int thread)
{
    struct tally *tally = arg;
    (void)task;
    (void)thread;
    tally->tasks++;
}

static void lead(void *arg, int index, dlk_team *team)
{
    struct tally *tally = arg;
    tally->size[index] += team->size;
    for (int job = 0; job < 50; job++)
        dlk_parallel(team, 20, count_task, tally);
}

Test(pool, its_threads_are_divided_into_teams_and_every_task_runs_once)
{
    const struct {
        int threads, teams, size[4];
    } cases[] = {{1, 1, {1}},    {2, 1, {2}},       {2, 2, {1, 1}},
                 {3, 2, {1, 2}}, {5, 3, {1, 2, 2}}, {4, 4, {1, 1, 1, 1}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dlb_pool *pool = make_pool(cases[i].threads, cases[i].teams);
        struct tally tally = {0};
        for (int region = 0; region < 3; region++)
            dlb_pool_run(pool, lead, &tally);
        cr_assert_eq(tally.tasks, 3 * cases[i].teams * 50 * 20);
        for (int t = 0; t < 4; t++)
            cr_assert_eq(tally.size[t], 3 * cases[i].size[t], "case %zu, team %d", i, t);
        dlb_pool_free(pool);
    }
}

static void mark(void *arg, int thread)
{
    ((int *)arg)[thread]++;
}

Test(pool, each_visits_every_thread_once)
{
    dlb_pool *pool = make_pool(4, 2);
    int visits[4] = {0};
    dlb_pool_each(pool, mark, visits);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(visits[i], 1);
    dlb_pool_free(pool);
}

static void look_for_denormals(void *arg, int index, dlk_team *team)
{
    (void)index;
    (void)team;
    *(bool *)arg = denormals_are_flushed();
}

Test(pool, denormals_are_flushed_inside_and_the_caller_keeps_its_mode)
{
    dlb_pool *pool = make_pool(1, 1);
    bool inside = false;
    dlb_pool_run(pool, look_for_denormals, &inside);
    cr_assert(inside);
    cr_assert_not(denormals_are_flushed());
    dlb_pool_free(pool);
}
