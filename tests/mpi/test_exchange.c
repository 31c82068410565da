/*
 * Exchanges of every kind, for random sizes, buckets and radices, compared bit for bit with a
 * serial computation.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "check.h"
#include "comm/exchange.h"
#include "dlk/tree.h"

enum { GRAIN = DLB_EXCHANGE_GRAIN, STEPS = 3, MOST_BUCKETS = 6, TRIALS = 12 };
enum { FEW_PARAMETERS = 64 * 1024 }; /* so that each rank of a node has them */

static const uint32_t seed = 20240607;

/* A number below `limit` that depends on its name only, and so is the same on all ranks. */
static uint32_t draw(uint32_t limit, uint32_t a, uint32_t b)
{
    uint32_t x = seed ^ (a * 0x9e3779b9U) ^ (b * 0x85ebca6bU);
    for (int round = 0; round < 3; round++) {
        x ^= x >> 16;
        x *= 0x7feb352dU;
        x ^= x >> 15;
        x *= 0x846ca68bU;
    }
    return (x ^ x >> 16) % limit;
}

/* Of many sizes and both signs, so that every other order of summation rounds differently. */
static float gradient(int rank, int step, size_t i)
{
    uint32_t x = draw(1U << 24, (uint32_t)(rank * 64 + step), (uint32_t)i);
    return ldexpf((float)x - 8388608.0F, -(int)(x % 20));
}

/* What an exchange is made of. */
typedef struct trial {
    dlb_exchange_kind kind;
    int radix, bucket_count;
    size_t count;
    dlb_range buckets[MOST_BUCKETS];
} trial;

/* From less than a grain to many times the ranks, seldom a multiple of anything. */
static size_t draw_count(uint32_t number)
{
    static const uint32_t limits[] = {GRAIN, 6 * GRAIN, 40 * GRAIN, 200 * GRAIN};
    uint32_t count = draw(limits[number % 4], number, 1);
    return number % 5 == 0 ? count / GRAIN * GRAIN : count;
}

static trial draw_trial(dlb_exchange_kind kind, uint32_t number)
{
    static const int radices[] = {2, 3, 4, 8};
    trial t = {.kind = kind, .radix = radices[draw(4, number, 2)], .count = draw_count(number)};
    t.bucket_count = 1 + (int)draw(MOST_BUCKETS, number, 3);
    uint32_t grains = (uint32_t)(t.count / GRAIN) + 1;
    size_t first = 0;
    for (int b = 0; b < t.bucket_count; b++) {
        size_t end = first + draw(grains, number, 10 + (uint32_t)b) * 2 / (uint32_t)t.bucket_count *
                                 (size_t)GRAIN;
        t.buckets[b] = (dlb_range){first, end < t.count ? end : t.count};
        first = t.buckets[b].end;
    }
    t.buckets[t.bucket_count - 1].end = t.count;
    return t;
}

/* ---- The serial computation ---- */

/* Sums groups of `size` neighbours among n arrays, in place; returns how many sums there are. */
static int sum_groups(float **arrays, int n, int size, size_t count)
{
    for (int g = 0; g < n / size; g++)
        dlk_tree_sum(size, (const float *const *)arrays + (ptrdiff_t)g * size, count, arrays[g]);
    return n / size;
}

static int next_factor(int n, int radix)
{
    if (n % 2 == 0) {
        int factor = 2;
        while (factor * 2 <= radix && n % (factor * 2) == 0)
            factor *= 2;
        return factor;
    }
    int factor = 3;
    while (n % factor)
        factor += 2;
    return factor;
}

/* The sum over ranks, in arrays[0]. */
static void sum_ranks(const trial *t, float **arrays, int ranks, int local)
{
    if ((ranks & (ranks - 1)) == 0) {
        dlk_tree_sum(ranks, (const float *const *)arrays, t->count, arrays[0]);
        return;
    }
    int n = sum_groups(arrays, ranks, local, t->count);
    while (n > 1)
        n = sum_groups(arrays, n, next_factor(n, t->radix), t->count);
}

/* Parameters after a step. */
static void expect_step(const trial *t, int ranks, int local, int step, float *parameters)
{
    float **arrays = dlb_alloc((size_t)ranks, sizeof *arrays);
    for (int r = 0; r < ranks; r++) {
        arrays[r] = dlb_alloc(t->count, sizeof(float));
        for (size_t i = 0; i < t->count; i++)
            arrays[r][i] = gradient(r, step, i);
    }
    sum_ranks(t, arrays, ranks, local);
    for (size_t i = 0; i < t->count; i++)
        parameters[i] -= arrays[0][i];
    for (int r = 0; r < ranks; r++)
        free(arrays[r]);
    free(arrays);
}

/* ---- The exchange ---- */

typedef struct player {
    dlb_comm *comm;
    dlb_exchange *exchange;
    trial t;
    uint32_t number;
    int rank, ranks, local;
    atomic_bool stop; /* the thread that polls */
} player;

static void check_exchange(const player *p)
{
    dlb_error err;
    CHECK(dlb_exchange_check(p->exchange, &err) == 0, "%s", err.message);
}

/* Ranks do not go in step. */
static void dawdle(const player *p, uint32_t name)
{
    uint32_t us = draw(1000, name, (uint32_t)p->rank);
    if (us < 200)
        usleep(us);
}

static void fill_gradients(const player *p, int step)
{
    float *gradients = dlb_exchange_gradients(p->exchange);
    for (size_t i = 0; i < p->t.count; i++)
        gradients[i] = gradient(p->rank, step, i);
}

/* The slice in two parts, as two threads would. */
static void sum_and_update(const player *p, int bucket)
{
    dlb_range slice = dlb_exchange_slice(p->exchange, bucket);
    size_t middle = slice.first + (slice.end - slice.first) / 3;
    dlb_exchange_sum(p->exchange, bucket, (dlb_range){middle, slice.end});
    dlb_exchange_sum(p->exchange, bucket, (dlb_range){slice.first, middle});
    const float *sum = dlb_exchange_gradients(p->exchange);
    float *parameters = dlb_exchange_parameters(p->exchange);
    for (size_t i = slice.first; i < slice.end; i++)
        parameters[i] -= sum[i];
}

static void wait_arrived(const player *p, int bucket)
{
    for (int64_t since = dlb_clock_ns(); !dlb_exchange_arrived(p->exchange, bucket);)
        dlb_exchange_pause(p->exchange, since);
    check_exchange(p);
}

static void wait_shared(const player *p, int bucket)
{
    for (int64_t since = dlb_clock_ns(); !dlb_exchange_shared(p->exchange, bucket);)
        dlb_exchange_pause(p->exchange, since);
    check_exchange(p);
}

static dlb_arrival arrival_of(int rank, int step)
{
    return (dlb_arrival){rank + 0.5, rank * 1000 + step, step == 1 && rank == 0};
}

static void exchange_arrivals(const player *p, int step)
{
    dlb_arrival mine = arrival_of(p->rank, step);
    dlb_exchange_arrive(p->exchange, &mine);
    dawdle(p, (uint32_t)step);
    const dlb_arrival *all;
    for (int64_t since = dlb_clock_ns(); !(all = dlb_exchange_arrivals(p->exchange));) {
        dlb_exchange_pause(p->exchange, since);
        check_exchange(p);
    }
    for (int r = 0; r < p->ranks; r++) {
        dlb_arrival want = arrival_of(r, step);
        CHECK(memcmp(&all[r], &want, sizeof want) == 0, "rank %d in step %d", r, step);
    }
}

/* Buckets start from the last to the first; each rank ends its waits in an order of its own. */
static void make_step(const player *p, int step)
{
    int count = p->t.bucket_count, turn = (p->rank + step) % count;
    fill_gradients(p, step);
    for (int b = count - 1; b >= 0; b--) {
        dawdle(p, (uint32_t)(step * 100 + b));
        dlb_exchange_start(p->exchange, b);
        dlb_exchange_arrived(p->exchange, count - 1);
    }
    for (int i = 0; i < count; i++) {
        int b = (i + turn) % count;
        wait_arrived(p, b);
        sum_and_update(p, b);
        dlb_exchange_share(p->exchange, b);
    }
    exchange_arrivals(p, step);
    for (int i = count - 1; i >= 0; i--)
        wait_shared(p, (i + turn) % count);
}

static void expect_bits(const player *p, const float *got, const float *want, const char *what)
{
    for (size_t i = 0; i < p->t.count; i++)
        CHECK(memcmp(&got[i], &want[i], sizeof *got) == 0,
              "%s, %s, trial %u, radix %d: element %zu of %zu is %a, not %a", what,
              dlb_exchange_kind_name(p->t.kind), p->number, p->t.radix, i, p->t.count,
              (double)got[i], (double)want[i]);
}

/* Each float goes to the one rank that sums it from all others, and back to them; once, where many
 * are common to the ranks of a node. */
static void check_bytes(const player *p)
{
    dlb_exchange_bytes bytes = dlb_exchange_take_bytes(p->exchange);
    double sums[2] = {(double)bytes.sent, (double)bytes.received};
    double all = (double)p->t.count * sizeof(float) * STEPS, others = p->ranks - 1;
    double places = p->t.count <= FEW_PARAMETERS ? others : 1;
    dlb_error err;
    CHECK(dlb_comm_sum(p->comm, sums, 2, &err) == 0, "%s", err.message);
    if (p->ranks == 1)
        CHECK(sums[0] == 0 && sums[1] == 0, "%g and %g bytes", sums[0], sums[1]);
    else if (p->local == 1)
        CHECK(sums[0] == 2 * others * all && sums[1] == sums[0], "%g and %g bytes", sums[0],
              sums[1]);
    else if (p->local == p->ranks)
        CHECK(sums[0] == places * all && sums[1] == others * all, "%g and %g bytes", sums[0],
              sums[1]);
    bytes = dlb_exchange_take_bytes(p->exchange);
    CHECK(bytes.sent == 0 && bytes.received == 0, "taken twice");
}

/* ---- What must hold ---- */

static void steps_are_those_of_a_serial_computation(const player *p)
{
    float *want = dlb_alloc(p->t.count, sizeof *want);
    const float *parameters = dlb_exchange_parameters(p->exchange);
    expect_bits(p, parameters, want, "zeroed at first");
    expect_bits(p, dlb_exchange_gradients(p->exchange), want, "zeroed at first");
    dlb_error err;
    CHECK(dlb_comm_agree(p->comm, 0, &err) == 0, "%s", err.message);
    dlb_exchange_take_bytes(p->exchange);
    for (int step = 0; step < STEPS; step++) {
        make_step(p, step);
        expect_step(&p->t, p->ranks, p->local, step, want);
        expect_bits(p, parameters, want, "parameters");
        CHECK(dlb_comm_agree(p->comm, 0, &err) == 0, "%s", err.message);
    }
    check_bytes(p);
    free(want);
}

/* However far apart ranks are in reading them. */
static void arrivals_are_those_of_the_step(const player *p)
{
    for (int step = 0; step < 20; step++)
        exchange_arrivals(p, step);
}

static void slices_cover_each_bucket_once(const player *p)
{
    unsigned char *owners = dlb_alloc(p->t.count, 1);
    dlb_range *all = dlb_alloc((size_t)p->ranks, sizeof *all);
    for (int b = 0; b < p->t.bucket_count; b++) {
        dlb_range bucket = p->t.buckets[b], mine = dlb_exchange_slice(p->exchange, b);
        dlb_error err;
        CHECK(dlb_comm_allgather(p->comm, &mine, sizeof mine, all, &err) == 0, "%s", err.message);
        for (int r = 0; r < p->ranks; r++) {
            dlb_range s = all[r];
            CHECK(s.first >= bucket.first && s.first <= s.end && s.end <= bucket.end, "rank %d", r);
            CHECK(s.first == s.end || s.first % GRAIN == 0, "rank %d begins at %zu", r, s.first);
            for (size_t i = s.first; i < s.end; i++)
                owners[i]++;
        }
    }
    for (size_t i = 0; i < p->t.count; i++)
        CHECK(owners[i] == 1, "element %zu has %d owners", i, owners[i]);
    free(all);
    free(owners);
}

/* Numbers that no addition would leave as they are. */
static float odd_number(size_t i)
{
    static const uint32_t bits[] = {0x80000000U, 0x7fc12345U, 0xffc00001U, 0x00000001U};
    float number = (float)i;
    if (i % 3 == 0)
        memcpy(&number, &bits[i / 3 % 4], sizeof number);
    return number;
}

static void collected_arrays_are_whole(const player *p)
{
    float *values = dlb_alloc(p->t.count, sizeof *values);
    float *want = dlb_alloc(p->t.count, sizeof *want);
    for (size_t i = 0; i < p->t.count; i++) {
        values[i] = -1;
        want[i] = odd_number(i);
    }
    for (int b = 0; b < p->t.bucket_count; b++) {
        dlb_range mine = dlb_exchange_slice(p->exchange, b);
        for (size_t i = mine.first; i < mine.end; i++)
            values[i] = want[i];
    }
    dlb_error err;
    CHECK(dlb_exchange_collect(p->exchange, values, &err) == 0, "%s", err.message);
    expect_bits(p, values, want, "collected");
    free(want);
    free(values);
}

static void rank_0_gives_its_parameters_to_all(const player *p)
{
    float *parameters = dlb_exchange_parameters(p->exchange);
    float *want = dlb_alloc(p->t.count, sizeof *want);
    bool writes = dlb_comm_place_of(p->comm, p->rank)->local == 0 || p->local == 1;
    for (size_t i = 0; i < p->t.count; i++) {
        want[i] = odd_number(i);
        if (writes)
            parameters[i] = p->rank == 0 ? want[i] : -1;
    }
    dlb_error err;
    CHECK(dlb_exchange_broadcast(p->exchange, &err) == 0, "%s", err.message);
    expect_bits(p, parameters, want, "broadcast");
    CHECK(dlb_comm_agree(p->comm, 0, &err) == 0, "%s", err.message);
    memset(parameters, 0, writes ? p->t.count * sizeof *want : 0);
    free(want);
}

static void *poll_all_the_time(void *arg)
{
    player *p = arg;
    while (!atomic_load(&p->stop)) {
        dlb_exchange_poll(p->exchange);
        usleep(50);
    }
    return NULL;
}

static void play(dlb_comm *comm, dlb_exchange_kind kind, uint32_t number)
{
    player p = {.comm = comm, .t = draw_trial(kind, number), .number = number};
    p.rank = dlb_comm_rank(comm);
    p.ranks = dlb_comm_size(comm);
    p.local = kind == DLB_EXCHANGE_SHM ? dlb_comm_local_size(comm) : 1;
    char note[256];
    dlb_error err;
    dlb_exchange_options options = {kind, p.t.count, p.t.bucket_count, p.t.buckets, p.t.radix};
    CHECK(dlb_exchange_create(&p.exchange, comm, &options, note, &err) == 0, "%s", err.message);
    CHECK(dlb_exchange_kind_of(p.exchange) == kind && !note[0], "%s", note);
    CHECK(dlb_exchange_needs_poll(p.exchange) == (p.ranks > p.local), "kind %d", kind);
    pthread_t poller;
    pthread_create(&poller, NULL, poll_all_the_time, &p);
    slices_cover_each_bucket_once(&p);
    arrivals_are_those_of_the_step(&p);
    steps_are_those_of_a_serial_computation(&p);
    collected_arrays_are_whole(&p);
    rank_0_gives_its_parameters_to_all(&p);
    atomic_store(&p.stop, true);
    pthread_join(poller, NULL);
    dlb_exchange_free(p.exchange);
}

static void auto_is_the_best_that_can_be_had(dlb_comm *comm, bool even)
{
    static const dlb_range bucket = {0, 5000};
    dlb_exchange *exchange;
    dlb_error err;
    char note[256];
    dlb_exchange_options options = {DLB_EXCHANGE_AUTO, 5000, 1, &bucket, 4};
    CHECK(dlb_exchange_create(&exchange, comm, &options, note, &err) == 0, "%s", err.message);
    bool shares = even && dlb_comm_size(comm) > dlb_comm_nodes(comm);
    dlb_exchange_kind want = dlb_comm_size(comm) == 1 ? DLB_EXCHANGE_SINGLE
                             : shares                 ? DLB_EXCHANGE_SHM
                                                      : DLB_EXCHANGE_MPI;
    dlb_exchange_kind kind = dlb_exchange_kind_of(exchange);
    CHECK(kind == want, "%s: %s", dlb_exchange_kind_name(kind), note);
    CHECK((note[0] != '\0') == (kind == DLB_EXCHANGE_MPI), "%s", note);
    dlb_exchange_free(exchange);
}

static void what_cannot_be_had_is_refused(dlb_comm *comm, bool even)
{
    static const dlb_range bucket = {0, 5000}, gap = {0, 4096}, ragged = {0, 1000};
    dlb_exchange *exchange;
    dlb_error err;
    char note[256];
    dlb_exchange_options options = {DLB_EXCHANGE_SINGLE, 5000, 1, &bucket, 4};
    if (dlb_comm_size(comm) > 1)
        CHECK(dlb_exchange_create(&exchange, comm, &options, note, &err) == DLB_BAD_INPUT, "one");
    options.kind = DLB_EXCHANGE_SHM;
    if (!even)
        CHECK(dlb_exchange_create(&exchange, comm, &options, note, &err) == DLB_BAD_INPUT,
              "uneven");
    options.buckets = &gap;
    CHECK(dlb_exchange_create(&exchange, comm, &options, note, &err) == DLB_BAD_INPUT, "a gap");
    options.buckets = &ragged;
    CHECK(dlb_exchange_create(&exchange, comm, &options, note, &err) == DLB_BAD_INPUT, "ragged");
    options.buckets = &bucket;
    options.radix = 1;
    CHECK(dlb_exchange_create(&exchange, comm, &options, note, &err) == DLB_BAD_INPUT, "radix 1");
}

/* All kinds, with nodes of so many ranks; 0: with all on one node. */
static void play_all(int node_ranks)
{
    dlb_comm *comm;
    dlb_error err;
    dlb_comm_options options = {.hang_s = 100, .node_ranks = node_ranks, .many_threads = true};
    CHECK(dlb_comm_create(&comm, &options, &err) == 0, "%s", err.message);
    int size = dlb_comm_size(comm);
    bool even = node_ranks == 0 || node_ranks >= size || size % node_ranks == 0;
    auto_is_the_best_that_can_be_had(comm, even);
    what_cannot_be_had_is_refused(comm, even);
    for (uint32_t number = 0; number < TRIALS; number++) {
        if (size == 1)
            play(comm, DLB_EXCHANGE_SINGLE, number);
        if (node_ranks == 0)
            play(comm, DLB_EXCHANGE_MPI, number);
        if (even)
            play(comm, DLB_EXCHANGE_SHM, number);
    }
    dlb_comm_free(comm);
}

int main(void)
{
    for (int node_ranks = 0; node_ranks <= 4; node_ranks++)
        play_all(node_ranks);
    return 0;
}
