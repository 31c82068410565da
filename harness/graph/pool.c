#include "graph/pool.h"

#include <omp.h>

#include "base/mem.h"
#include "dlk/dispatch.h"

struct dlb_pool {
    dlb_pool_options options;
    float *scratch, *shared;
    dlk_share *shares; /* of all teams */
    dlk_team *teams;
};

/* Team t has the threads [first(t), first(t + 1)). */
static int first_thread(const dlb_pool *pool, int team)
{
    return team * pool->options.threads / pool->options.teams;
}

static int team_of(const dlb_pool *pool, int thread)
{
    int team = 0;
    while (first_thread(pool, team + 1) <= thread)
        team++;
    return team;
}

/*
 * What is fetched ahead of one thread's scratch must not be another's. Who goes through its end in
 * strides, image by image, has the processor fetch as many strides behind it, across pages.
 */
static size_t with_room_behind(size_t floats)
{
    enum { FETCHED_AHEAD = 64 * 1024 };
    return dlb_whole_pages(floats * sizeof(float) + FETCHED_AHEAD) / sizeof(float);
}

static void make_team(const dlb_pool *pool, dlk_team *team, int index, int size)
{
    int first = first_thread(pool, index);
    const dlb_pool_options *o = &pool->options;
    dlk_team_init(team, size, pool->shares + DLK_TEAM_SHARES(first),
                  pool->scratch + (size_t)first * o->scratch_floats, o->scratch_floats, o->spin_ns);
    team->shared = pool->shared + (size_t)index * o->shared_floats;
    team->between = o->between;
    team->between_arg = o->between_arg;
}

static void count_thread(void *arg, int thread)
{
    (void)thread;
    atomic_fetch_add((_Atomic int *)arg, 1);
}

static int check_threads(dlb_pool *pool, dlb_error *err)
{
    _Atomic int running = 0;
    omp_set_dynamic(0);
    dlb_pool_each(pool, count_thread, &running);
    if (running == pool->options.threads)
        return 0;
    return dlb_fail(err, DLB_FAIL,
                    "the OpenMP runtime gives %d threads where %d are asked for; look at "
                    "OMP_THREAD_LIMIT and OMP_DYNAMIC, or set threads = %d",
                    running, pool->options.threads, running);
}

int dlb_pool_create(dlb_pool **created, const dlb_pool_options *options, dlb_error *err)
{
    dlb_pool *pool = dlb_alloc(1, sizeof *pool);
    pool->options = *options;
    pool->options.scratch_floats = with_room_behind(options->scratch_floats);
    size_t scratch = (size_t)options->threads * pool->options.scratch_floats;
    size_t shared = (size_t)options->teams * options->shared_floats;
    pool->scratch = dlb_try_alloc(scratch, sizeof(float));
    pool->shared = dlb_try_alloc(shared, sizeof(float));
    if (!pool->scratch || !pool->shared) {
        dlb_pool_free(pool);
        return dlb_fail(err, DLB_FAIL, "%d threads need %.1f GB of scratch memory; take fewer",
                        options->threads, 4e-9 * (double)(scratch + shared));
    }
    pool->shares = dlb_alloc(DLK_TEAM_SHARES((size_t)options->threads), sizeof *pool->shares);
    pool->teams = dlb_alloc((size_t)options->teams, sizeof *pool->teams);
    for (int t = 0; t < options->teams; t++) {
        make_team(pool, &pool->teams[t], t, first_thread(pool, t + 1) - first_thread(pool, t));
    }
    if (check_threads(pool, err) < 0) {
        dlb_pool_free(pool);
        return DLB_FAIL;
    }
    *created = pool;
    return 0;
}

void dlb_pool_free(dlb_pool *pool)
{
    if (!pool)
        return;
    free(pool->teams);
    free(pool->shares);
    free(pool->shared);
    free(pool->scratch);
    free(pool);
}

int dlb_pool_threads(const dlb_pool *pool)
{
    return pool->options.threads;
}

int dlb_pool_teams(const dlb_pool *pool)
{
    return pool->options.teams;
}

int64_t dlb_pool_spin_ns(const dlb_pool *pool)
{
    return pool->options.spin_ns;
}

/* Thread `thread` of the whole pool: leads its team or serves in it. */
static void take_place(dlb_pool *pool, int thread, dlb_leader_fn *fn, void *arg)
{
    int index = team_of(pool, thread);
    dlk_team *team = &pool->teams[index];
    int member = thread - first_thread(pool, index);
    if (member) {
        dlk_team_serve(team, member);
    } else {
        fn(arg, index, team);
        dlk_team_dismiss(team);
    }
}

/* One thread in place of the whole pool, which any leader's work allows for. */
static void work_alone(dlb_pool *pool, dlb_leader_fn *fn, void *arg)
{
    dlk_team alone;
    make_team(pool, &alone, 0, 1);
    fn(arg, 0, &alone);
}

static void enter_as(dlb_pool *pool, int thread, dlb_leader_fn *fn, void *arg)
{
    if (pool->options.on_enter)
        pool->options.on_enter(pool->options.on_enter_arg, thread);
    unsigned mode = dlk_float_mode_flush();
    if (omp_get_num_threads() == pool->options.threads)
        take_place(pool, thread, fn, arg);
    else if (thread == 0)
        work_alone(pool, fn, arg);
    dlk_float_mode_restore(mode);
}

void dlb_pool_run(dlb_pool *pool, dlb_leader_fn *fn, void *arg)
{
    omp_set_dynamic(0); /* a setting of the calling thread, which may be another each time */
#pragma omp parallel num_threads(pool->options.threads)
    enter_as(pool, omp_get_thread_num(), fn, arg);
}

void dlb_pool_each(dlb_pool *pool, dlb_thread_fn *fn, void *arg)
{
#pragma omp parallel num_threads(pool->options.threads)
    fn(arg, omp_get_thread_num());
}
