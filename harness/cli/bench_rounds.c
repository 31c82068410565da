#include "cli/bench_rounds.h"

#include <math.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/stop.h"
#include "dlk/rng.h"

/* What a rank tells the others of a measurement. */
typedef struct tale {
    double seconds;
    int stop; /* it was asked to */
} tale;

/* All ranks at one point: those that slept in the first wait are awake in the second. */
static int meet(dlb_comm *comm, dlb_error *err)
{
    int status = dlb_comm_agree(comm, 0, err);
    return status < 0 ? status : dlb_comm_agree(comm, 0, err);
}

/* The slowest rank's time becomes everyone's. */
static int compare_tales(dlb_comm *comm, const tale *mine, double *seconds, dlb_error *err)
{
    int ranks = dlb_comm_size(comm), stop = 0;
    tale *all = dlb_alloc((size_t)ranks, sizeof *all);
    int status = dlb_comm_allgather(comm, mine, sizeof *mine, all, err);
    *seconds = 0;
    for (int r = 0; r < ranks && status == 0; r++) {
        *seconds = fmax(*seconds, all[r].seconds);
        stop |= all[r].stop;
    }
    free(all);
    if (stop)
        return dlb_fail(err, DLB_STOPPED, "stopped before all was measured");
    return status;
}

static int measure(const dlb_bench_rounds *rounds, const dlb_bench_way *way, int calls,
                   double *seconds, dlb_error *err)
{
    way->prepare(way->self);
    int status = meet(rounds->comm, err);
    if (status < 0)
        return status;
    int64_t start = dlb_clock_ns();
    for (int call = 0; call < calls && status == 0; call++)
        status = way->run(way->self, err);
    tale mine = {1e-9 * (double)(dlb_clock_ns() - start) / calls, dlb_stop_asked()};
    status = dlb_comm_agree(rounds->comm, status, err);
    return status < 0 ? status : compare_tales(rounds->comm, &mine, seconds, err);
}

/* Also fills caches and whatever is made at the first use. */
static int check_way(const dlb_bench_rounds *rounds, const dlb_bench_way *way, dlb_error *err)
{
    double ignored;
    int status = measure(rounds, way, 1, &ignored, err);
    if (status < 0)
        return status;
    status = dlb_comm_agree(rounds->comm, way->check(way->self, err), err);
    return status < 0 ? dlb_error_prefix(err, "%s, %s", rounds->what, way->name) : 0;
}

/* Another order in each round, the same on every rank. */
static void shuffle(int *order, int count, int round)
{
    dlk_rng_key key = {.purpose = DLK_RNG_SHUFFLE, .epoch = (uint32_t)round};
    for (int i = 0; i < count; i++) {
        int place = (int)dlk_rng_below(&key, (uint32_t)i, (uint32_t)i + 1);
        order[i] = order[place];
        order[place] = i;
    }
}

static int measure_round(const dlb_bench_rounds *rounds, int round, dlb_bench_way *ways,
                         const int *order, int count, dlb_error *err)
{
    for (int i = 0; i < count; i++) {
        dlb_bench_way *way = &ways[order[i]];
        if (!way->run)
            continue;
        dlb_bench_progress_show(rounds->progress, "%s: round %d of %d, %s", rounds->what, round + 1,
                                rounds->rounds, way->name);
        int status = measure(rounds, way, rounds->calls, &way->times[round], err);
        if (status < 0)
            return status;
    }
    return 0;
}

static double *missing_times(int rounds)
{
    double *times = dlb_alloc((size_t)rounds, sizeof *times);
    for (int round = 0; round < rounds; round++)
        times[round] = NAN;
    return times;
}

int dlb_bench_rounds_run(const dlb_bench_rounds *rounds, dlb_bench_way *ways, int count,
                         dlb_error *err)
{
    int status = 0, *order = dlb_alloc((size_t)count, sizeof *order);
    for (int i = 0; i < count; i++)
        ways[i].times = missing_times(rounds->rounds);
    for (int i = 0; i < count && status == 0; i++)
        if (ways[i].run)
            status = check_way(rounds, &ways[i], err);
    for (int round = 0; round < rounds->rounds && status == 0; round++) {
        shuffle(order, count, round);
        status = measure_round(rounds, round, ways, order, count, err);
    }
    free(order);
    return status;
}

void dlb_bench_ways_release(dlb_bench_way *ways, int count)
{
    for (int i = 0; i < count; i++)
        free(ways[i].times);
}

dlb_spread dlb_bench_times_as_long(const dlb_bench_way *way, const dlb_bench_way *other, int rounds)
{
    double *ratios = dlb_alloc((size_t)rounds, sizeof *ratios);
    for (int round = 0; round < rounds; round++)
        ratios[round] = way->times[round] / other->times[round];
    dlb_spread spread = dlb_spread_of(ratios, (size_t)rounds);
    free(ratios);
    return spread;
}
