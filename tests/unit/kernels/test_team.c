#include <criterion/criterion.h>
#include <pthread.h>
#include <unistd.h>

#include "dlk/team.h"
#include "kit.h"

enum { SIZE_MAX_TEAM = 5, TASKS_MAX = 20, SERVICES = 3, TIMEOUT_S = 60 };

/* A team, its servers, and what their tasks did; plain fields are ordered by the team alone. */
typedef struct crew {
    dlk_team team;
    dlk_share shares[DLK_TEAM_SHARES(SIZE_MAX_TEAM)];
    pthread_t ids[SIZE_MAX_TEAM];
    pthread_barrier_t between_services;
    uint32_t round;
    uint32_t done_in[TASKS_MAX];         /* the round in which each task ran last */
    long done_by[SIZE_MAX_TEAM];         /* tasks of each thread */
    _Atomic bool at_work[SIZE_MAX_TEAM]; /* no thread's number is used twice at a time */
    _Atomic int faults;
} crew;

typedef struct server {
    crew *crew;
    int thread;
} server;

static void *serve(void *arg)
{
    const server *s = arg;
    for (int service = 0; service < SERVICES; service++) {
        dlk_team_serve(&s->crew->team, s->thread);
        pthread_barrier_wait(&s->crew->between_services);
    }
    return NULL;
}

static void work(void *arg, int task, int thread)
{
    crew *c = arg;
    bool bad = thread < 0 || thread >= c->team.size || c->done_in[task] == c->round;
    if (bad || atomic_exchange(&c->at_work[thread], true)) {
        c->faults++;
        return;
    }
    kit_dawdle(c->round, (uint32_t)task);
    c->done_in[task] = c->round;
    c->done_by[thread]++;
    c->at_work[thread] = false;
}

/* Rounds of 0 … TASKS_MAX tasks; returns how many tasks there were. */
static long lead(crew *c, int rounds)
{
    long total = 0;
    for (int i = 0; i < rounds; i++) {
        uint32_t round = ++c->round;
        int tasks = kit_pick(round, 0, 0, TASKS_MAX);
        kit_dawdle(99, round);
        dlk_parallel(&c->team, tasks, work, c);
        for (int task = 0; task < TASKS_MAX; task++)
            c->faults += (c->done_in[task] == round) != (task < tasks);
        total += tasks;
    }
    return total;
}

static void expect_all_tasks_once(int size, int64_t spin_ns, int rounds)
{
    static crew c;
    c = (crew){0};
    server servers[SIZE_MAX_TEAM];
    dlk_team_init(&c.team, size, c.shares, NULL, 0, spin_ns);
    pthread_barrier_init(&c.between_services, NULL, (unsigned)size);
    for (int i = 1; i < size; i++) {
        servers[i] = (server){&c, i};
        cr_assert_eq(pthread_create(&c.ids[i], NULL, serve, &servers[i]), 0);
    }
    long total = 0, done = 0;
    for (int service = 0; service < SERVICES; service++) {
        total += lead(&c, rounds);
        dlk_team_dismiss(&c.team);
        pthread_barrier_wait(&c.between_services);
    }
    for (int i = 1; i < size; i++)
        pthread_join(c.ids[i], NULL);
    pthread_barrier_destroy(&c.between_services);
    for (int i = 0; i < size; i++)
        done += c.done_by[i];
    cr_assert_eq(c.faults, 0, "size %d, spin %lld ns", size, (long long)spin_ns);
    cr_assert_eq(done, total, "size %d, spin %lld ns", size, (long long)spin_ns);
}

Test(team, every_task_runs_once_when_servers_sleep_at_once, .timeout = TIMEOUT_S)
{
    for (int size = 1; size <= SIZE_MAX_TEAM; size++)
        expect_all_tasks_once(size, 0, 1000);
}

Test(team, every_task_runs_once_when_servers_are_about_to_sleep, .timeout = TIMEOUT_S)
{
    for (int size = 1; size <= SIZE_MAX_TEAM; size++)
        expect_all_tasks_once(size, 1000, 1000);
}

Test(team, every_task_runs_once_when_servers_spin_for_ever, .timeout = TIMEOUT_S)
{
    for (int size = 1; size <= SIZE_MAX_TEAM; size++)
        expect_all_tasks_once(size, -1, 1000);
}

Test(team, a_service_without_work_ends, .timeout = TIMEOUT_S)
{
    for (int size = 1; size <= SIZE_MAX_TEAM; size++)
        expect_all_tasks_once(size, 0, 0);
}

static void note_thread(void *arg, int task, int thread)
{
    ((int *)arg)[task] = thread;
}

Test(team, the_leader_alone_does_a_single_task)
{
    int by[2] = {-1, -1};
    dlk_team team;
    dlk_team_init(&team, 3, NULL, NULL, 0, -1); /* nobody serves: waiting for them would not end */
    dlk_parallel(&team, 1, note_thread, by);
    dlk_parallel(&team, 0, note_thread, by);
    cr_assert_eq(by[0], 0);
    cr_assert_eq(by[1], -1);
}

/* ---- What is done meanwhile ---- */

enum { LONG_TASKS = 6, SHORT_TASKS = 9 };

typedef struct two_jobs {
    dlk_team *team;
    int short_tasks; /* of the job that comes meanwhile */
    _Atomic int long_done[LONG_TASKS], begun, short_done[SHORT_TASKS];
    bool others_had_begun; /* with the long tasks, when the leader was at something else */
} two_jobs;

static void long_task(void *arg, int task, int thread)
{
    (void)thread;
    two_jobs *jobs = arg;
    jobs->begun++;
    kit_dawdle(7, (uint32_t)task);
    jobs->long_done[task]++;
}

static void short_task(void *arg, int task, int thread)
{
    (void)thread;
    two_jobs *jobs = arg;
    jobs->short_done[task]++;
}

static bool all_done(const _Atomic int *count, int tasks)
{
    for (int i = 0; i < tasks; i++)
        if (count[i] != 1)
            return false;
    return true;
}

static void run_short(void *arg)
{
    two_jobs *jobs = arg;
    for (int look = 0; look < 10000 && jobs->team->size > 1 && !jobs->begun; look++)
        usleep(1000);
    jobs->others_had_begun = jobs->begun > 0;
    dlk_parallel(jobs->team, jobs->short_tasks, short_task, jobs);
    cr_assert(all_done(jobs->short_done, jobs->short_tasks));
}

/* Returns whether the short job was done within the long one. */
static bool run_both(int size, int long_tasks, int short_tasks)
{
    kit_team *team = kit_team_start(size, 0, 0);
    two_jobs jobs = {.team = kit_team_of(team), .short_tasks = short_tasks};
    dlk_meanwhile(jobs.team, run_short, NULL, &jobs);
    dlk_parallel(jobs.team, long_tasks, long_task, &jobs);
    cr_assert(all_done(jobs.long_done, long_tasks));
    bool within = !dlk_meanwhile_is_due(jobs.team);
    cr_assert_not(dlk_meanwhile_is_due(jobs.team), "it is forgotten");
    cr_assert_eq(all_done(jobs.short_done, short_tasks), within);
    cr_assert_eq(jobs.others_had_begun, within);
    dlk_parallel(jobs.team, LONG_TASKS - long_tasks, long_task, &jobs);
    kit_team_stop(team);
    return within;
}

Test(team, a_leader_is_at_something_else_while_the_others_begin, .timeout = TIMEOUT_S)
{
    for (int size = 2; size <= SIZE_MAX_TEAM; size++)
        for (int short_tasks = 0; short_tasks <= SHORT_TASKS; short_tasks++)
            cr_assert(run_both(size, LONG_TASKS, short_tasks));
}

Test(team, without_others_or_tasks_for_them_nothing_is_done_meanwhile, .timeout = TIMEOUT_S)
{
    cr_assert_not(run_both(1, LONG_TASKS, SHORT_TASKS));
    cr_assert_not(run_both(3, 1, SHORT_TASKS));
}

/* ---- A job that the next one begins before the end of ---- */

enum { JOBS = 5 };

typedef struct jobs_ahead {
    _Atomic int first_done[JOBS][TASKS_MAX], last_done[TASKS_MAX], begun;
} jobs_ahead;

typedef struct job_ahead {
    jobs_ahead *all;
    int number;
} job_ahead;

static void task_ahead(void *arg, int task, int thread)
{
    (void)thread;
    const job_ahead *job = arg;
    kit_dawdle((uint32_t)job->number, (uint32_t)task);
    job->all->first_done[job->number][task]++;
}

static void last_task(void *arg, int task, int thread)
{
    (void)thread;
    ((jobs_ahead *)arg)->last_done[task]++;
}

Test(team, every_task_of_jobs_begun_ahead_runs_once, .timeout = TIMEOUT_S)
{
    for (int size = 1; size <= SIZE_MAX_TEAM; size++) {
        kit_team *kit = kit_team_start(size, 0, 0);
        dlk_team *team = kit_team_of(kit);
        for (int tasks = 0; tasks <= TASKS_MAX; tasks++) {
            jobs_ahead all = {0};
            job_ahead jobs[JOBS];
            for (int i = 0; i < JOBS; i++) {
                jobs[i] = (job_ahead){&all, i};
                dlk_parallel_ahead(team, tasks, task_ahead, &jobs[i]);
            }
            dlk_parallel(team, TASKS_MAX - tasks, last_task, &all);
            dlk_join(team);
            for (int i = 0; i < JOBS; i++)
                cr_assert(all_done(all.first_done[i], tasks), "size %d, %d tasks", size, tasks);
            cr_assert(all_done(all.last_done, TASKS_MAX - tasks));
        }
        kit_team_stop(kit);
    }
}

/* Two threads have to be at it. */
static void meet_leader(void *arg, int task, int thread)
{
    (void)task, (void)thread;
    jobs_ahead *all = arg;
    all->begun++;
    for (int look = 0; look < 10000 && all->begun < 2; look++)
        usleep(1000);
}

Test(team, a_leader_comes_back_to_its_share_of_a_job_ahead_with_the_next, .timeout = TIMEOUT_S)
{
    kit_team *kit = kit_team_start(2, 0, 0);
    dlk_team *team = kit_team_of(kit);
    jobs_ahead all = {0};
    job_ahead second = {&all, 0};
    dlk_parallel_ahead(team, 2, meet_leader, &all);
    dlk_parallel(team, 2, task_ahead, &second);
    cr_assert_eq(all.begun, 2);
    cr_assert(all_done(all.first_done[0], 2));
    kit_team_stop(kit);
}
