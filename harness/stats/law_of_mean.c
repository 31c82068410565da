#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "stats/law.h"

enum { ENUMERATED = 7, RESAMPLES = 2000 };

/* The next way to pick `count` of as many values, in no order: places that do not descend. */
static bool next_picks(size_t *picks, size_t count)
{
    size_t last = count;
    while (last > 0 && picks[last - 1] == count - 1)
        last--;
    if (last == 0)
        return false;
    size_t place = picks[last - 1] + 1;
    for (size_t i = last - 1; i < count; i++)
        picks[i] = place;
    return true;
}

/* Picks of which r are equal come about in r! times fewer orders than if all were different. */
static void add_picks(dlb_law *law, const double *values, const size_t *picks, size_t count)
{
    double n = (double)count, sum = 0, chance = tgamma(n + 1) / pow(n, n);
    size_t equal = 0;
    for (size_t i = 0; i < count; i++) {
        equal = i > 0 && picks[i] == picks[i - 1] ? equal + 1 : 1;
        chance /= (double)equal;
        sum += values[picks[i]];
    }
    dlb_law_add(law, sum / n, chance);
}

static void enumerate(dlb_law *law, const double *values, size_t count)
{
    size_t picks[ENUMERATED] = {0};
    do
        add_picks(law, values, picks, count);
    while (next_picks(picks, count));
}

/* Sebastiano Vigna's splitmix64. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void resample(dlb_law *law, const double *values, size_t count)
{
    uint64_t state = 1;
    for (int i = 0; i < RESAMPLES; i++) {
        double sum = 0;
        for (size_t drawn = 0; drawn < count; drawn++)
            sum += values[(next_random(&state) >> 32) * count >> 32];
        dlb_law_add(law, sum / (double)count, 1.0 / RESAMPLES);
    }
}

void dlb_law_of_mean(dlb_law *law, const double *values, size_t count)
{
    if (count <= ENUMERATED)
        enumerate(law, values, count);
    else
        resample(law, values, count);
}
