#include <criterion/criterion.h>
#include <pthread.h>
#include <unistd.h>

#include "dlk/gate.h"
#include "kit.h"

/* A lost wake-up shows as a wait without end. */
enum { TIMEOUT_S = 60 };

/* Sleep at once, sleep after a moment, never sleep. */
static const int64_t spins[] = {0, 1000, -1};
enum { SPINS = sizeof spins / sizeof *spins };

static void change(dlk_gate *gate)
{
    atomic_fetch_add(&gate->value, 1);
    dlk_gate_wake(gate);
}

typedef struct players {
    dlk_gate ball[2]; /* counts the strokes of each */
    int64_t spin_ns;
    int rounds;
    uint32_t rallies; /* written by both in turn: the gates alone keep them apart */
} players;

typedef struct player {
    players *game;
    int number;
} player;

/* Wait for the other's stroke, then make one, each time a little earlier or later. */
static void *play(void *arg)
{
    const player *p = arg;
    players *game = p->game;
    for (int round = 0; round < game->rounds; round++) {
        uint32_t seen = (uint32_t)(p->number ? round : round - 1);
        if (p->number || round)
            dlk_gate_wait(&game->ball[!p->number], seen, game->spin_ns);
        kit_dawdle((uint32_t)p->number, (uint32_t)round);
        game->rallies++;
        change(&game->ball[p->number]);
    }
    return NULL;
}

Test(gate, no_change_is_missed_however_long_a_waiter_spins, .timeout = TIMEOUT_S)
{
    for (int i = 0; i < SPINS; i++) {
        players game = {.spin_ns = spins[i], .rounds = 5000};
        player first = {&game, 0}, second = {&game, 1};
        pthread_t other;
        cr_assert_eq(pthread_create(&other, NULL, play, &second), 0);
        play(&first);
        pthread_join(other, NULL);
        cr_assert_eq(game.rallies, 10000);
    }
}

enum { WAITERS = 4 };

typedef struct crowd {
    dlk_gate gate;
    int64_t spin_ns;
    uint32_t turns;
    _Atomic uint32_t through;
} crowd;

static void *follow(void *arg)
{
    crowd *c = arg;
    for (uint32_t turn = 0; turn < c->turns; turn++) {
        dlk_gate_wait(&c->gate, turn, c->spin_ns);
        c->through++;
    }
    return NULL;
}

static void start(crowd *c, pthread_t ids[WAITERS])
{
    for (int i = 0; i < WAITERS; i++)
        cr_assert_eq(pthread_create(&ids[i], NULL, follow, c), 0);
}

static void join(pthread_t ids[WAITERS])
{
    for (int i = 0; i < WAITERS; i++)
        pthread_join(ids[i], NULL);
}

Test(gate, every_waiter_passes_every_turn, .timeout = TIMEOUT_S)
{
    for (int i = 0; i < SPINS; i++) {
        crowd c = {.spin_ns = spins[i], .turns = 1000};
        pthread_t ids[WAITERS];
        start(&c, ids);
        for (uint32_t turn = 0; turn < c.turns; turn++) {
            kit_dawdle(7, turn);
            change(&c.gate);
            while (c.through < WAITERS * (turn + 1))
                sched_yield();
        }
        join(ids);
        cr_assert_eq(c.gate.sleepers, 0);
    }
}

Test(gate, all_waiters_fall_asleep_when_their_time_is_over_and_one_call_wakes_them,
     .timeout = TIMEOUT_S)
{
    for (int i = 0; i < SPINS; i++) {
        if (spins[i] < 0)
            continue;
        crowd c = {.spin_ns = spins[i], .turns = 1};
        pthread_t ids[WAITERS];
        start(&c, ids);
        while (c.gate.sleepers < WAITERS)
            usleep(100);
        cr_assert_eq(c.through, 0);
        change(&c.gate);
        join(ids);
        cr_assert_eq(c.through, WAITERS);
    }
}

Test(gate, who_is_to_spin_for_ever_never_sleeps, .timeout = TIMEOUT_S)
{
    crowd c = {.spin_ns = -1, .turns = 1};
    pthread_t ids[WAITERS];
    start(&c, ids);
    for (int look = 0; look < 20; look++) {
        usleep(1000);
        cr_assert_eq(c.gate.sleepers, 0);
    }
    change(&c.gate);
    join(ids);
}

Test(gate, a_value_that_has_changed_already_is_not_waited_for, .timeout = TIMEOUT_S)
{
    dlk_gate gate = {.value = 3};
    for (int i = 0; i < SPINS; i++)
        dlk_gate_wait(&gate, 2, spins[i]);
    cr_assert_eq(dlk_gate_value(&gate), 3);
}
