#include <criterion/criterion.h>
#include <pthread.h>

#include "dlk/team.h"
#include "kit.h"

enum { SIZE_MAX_TEAM = 5, TASKS_MAX = 20, SERVICES = 3, TIMEOUT_S = 60 };

/* A team, its servers, and what their tasks did; plain fields are ordered by the team alone. */
typedef struct crew {
    dlk_team team;
    dlk_share shares[SIZE_MAX_TEAM];
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
