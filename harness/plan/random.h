/*
 * Random numbers for the order of runs: splitmix64, the same on every machine and for ever, since a
 * sweep that goes on must find the order that it began with.
 */
#ifndef DLB_PLAN_RANDOM_H
#define DLB_PLAN_RANDOM_H

#include <stddef.h>
#include <stdint.h>

typedef struct dlb_random {
    uint64_t state;
} dlb_random;

/* Streams of one seed are independent of each other. */
dlb_random dlb_random_stream(uint64_t seed, uint64_t stream);

/* Fisher and Yates: every order is equally likely. `count` is below 2^32. */
void dlb_random_shuffle(dlb_random *random, uint32_t *items, size_t count);

#endif
