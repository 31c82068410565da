#include "measure/round_trip.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "measure/cores.h"

enum { TRIES = 11, TRIPS = 1000, SPINS_BEFORE_YIELD = 100000 };

/* A ball that two players throw to each other: odd numbers to one, even ones back. */
typedef struct game {
    _Alignas(64) atomic_int ball;
    _Alignas(64) int cpu[2];
    bool bound[2];
    double least_ns;
} game;

static void await(game *g, int number)
{
    for (int spins = 0; atomic_load_explicit(&g->ball, memory_order_acquire) != number; spins++)
        if (spins >= SPINS_BEFORE_YIELD)
            sched_yield();
}

static void throw_ball(game *g, int number)
{
    atomic_store_explicit(&g->ball, number, memory_order_release);
}

static void *return_balls(void *arg)
{
    game *g = arg;
    g->bound[1] = dlb_cpu_bind(g->cpu[1]);
    for (int i = 0; i < TRIES * TRIPS; i++) {
        await(g, 2 * i + 1);
        throw_ball(g, 2 * i + 2);
    }
    return NULL;
}

static void *throw_balls(void *arg)
{
    game *g = arg;
    g->bound[0] = dlb_cpu_bind(g->cpu[0]);
    for (int try = 0, i = 0; try < TRIES; try++) {
        int64_t start = dlb_clock_ns();
        for (int end = i + TRIPS; i < end; i++) {
            throw_ball(g, 2 * i + 1);
            await(g, 2 * i + 2);
        }
        g->least_ns = fmin(g->least_ns, (double)(dlb_clock_ns() - start) / TRIPS);
    }
    return NULL;
}

/* The first CPU of another core than that of the first one; -1: there is none. */
static int second_core(const dlb_cpus *cpus)
{
    int first = dlb_cpus_next(cpus, -1), other = first;
    do
        other = dlb_cpus_next(cpus, other);
    while (other >= 0 && dlb_core_of(other) == dlb_core_of(first));
    return other;
}

static bool play(game *g)
{
    pthread_t players[2];
    if (pthread_create(&players[1], NULL, return_balls, g) != 0)
        return false;
    if (pthread_create(&players[0], NULL, throw_balls, g) != 0) {
        throw_balls(g); /* the other is waiting */
        pthread_join(players[1], NULL);
        return false;
    }
    pthread_join(players[0], NULL);
    pthread_join(players[1], NULL);
    return true;
}

dlb_value dlb_round_trip_ns(void)
{
    const dlb_cpus *cpus = &dlb_cores_of_process()->cpus;
    game g = {.cpu = {dlb_cpus_next(cpus, -1), second_core(cpus)}, .least_ns = INFINITY};
    if (g.cpu[1] < 0)
        return dlb_value_missing("this process has one core only");
    if (!play(&g))
        return dlb_value_missing("no thread could be started");
    if (!g.bound[0] || !g.bound[1])
        return dlb_value_missing("threads cannot be bound to CPUs %d and %d", g.cpu[0], g.cpu[1]);
    return dlb_value_of(g.least_ns);
}
