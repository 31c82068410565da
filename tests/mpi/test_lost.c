/*
 * A rank that does not come: the last one sleeps for longer than the others are patient, or has
 * died. All others must say so, wherever they wait for it. Were they too late, it would come.
 *
 *     mpi_lost collective|mpi|shm|nodes|death
 *
 * Nobody finalises MPI then.
 */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "check.h"
#include "comm/exchange.h"

/* Rank 1 begins to wait when others have given up already: it must not be taken for lost. */
enum { SLEEP_S = 5, HANG_S = 1, LATE_US = 2300 * 1000, COUNT = 10000 };

static const dlb_range bucket = {0, COUNT};

/* One step with one bucket; returns after a failure, too. */
static void exchange_once(dlb_exchange *exchange)
{
    int64_t since = dlb_clock_ns();
    dlb_exchange_start(exchange, 0);
    while (!dlb_exchange_arrived(exchange, 0))
        dlb_exchange_pause(exchange, since);
    dlb_exchange_sum(exchange, 0, dlb_exchange_slice(exchange, 0));
    dlb_exchange_share(exchange, 0);
    since = dlb_clock_ns();
    while (!dlb_exchange_shared(exchange, 0))
        dlb_exchange_pause(exchange, since);
}

static dlb_exchange *make_exchange(dlb_comm *comm, dlb_exchange_kind kind)
{
    dlb_exchange *exchange;
    dlb_error err;
    char note[256];
    dlb_exchange_options options = {
        .kind = kind, .count = COUNT, .bucket_count = 1, .buckets = &bucket, .radix = 4};
    CHECK(dlb_exchange_create(&exchange, comm, &options, note, &err) == 0, "%s", err.message);
    exchange_once(exchange);
    CHECK(dlb_exchange_check(exchange, &err) == 0, "%s", err.message);
    return exchange;
}

static void expect_message(dlb_comm *comm, const char *message, bool death)
{
    int lost = dlb_comm_size(comm) - 1;
    char want[256];
    snprintf(want, sizeof want, "rank %d on %s ", lost, dlb_comm_place_of(comm, lost)->host);
    CHECK(strncmp(message, want, strlen(want)) == 0, "%s", message);
    CHECK(strstr(message, death ? "has died" : "has made no step for 1 s"), "%s", message);
    CHECK(dlb_comm_is_broken(comm), "%s", message);
    CHECK(dlb_comm_speaks(comm) == (dlb_comm_rank(comm) == 0), "%s", message);
}

/* Every further call fails at once and in the same way. */
static void expect_broken(dlb_comm *comm, const char *message)
{
    dlb_error err;
    double values[1] = {0};
    CHECK(dlb_comm_sum(comm, values, 1, &err) < 0, "summed");
    CHECK(strcmp(err.message, message) == 0, "%s, then %s", message, err.message);
    CHECK(dlb_comm_agree(comm, 0, &err) < 0, "agreed");
    CHECK(strcmp(err.message, message) == 0, "%s, then %s", message, err.message);
}

static void wait_in_vain(dlb_comm *comm, dlb_exchange *exchange, bool death)
{
    dlb_error err;
    if (dlb_comm_rank(comm) == 1)
        usleep(LATE_US);
    if (exchange) {
        exchange_once(exchange);
        CHECK(!dlb_exchange_arrivals(exchange), "arrived");
        CHECK(dlb_exchange_check(exchange, &err) < 0, "no failure");
    } else {
        CHECK(dlb_comm_agree(comm, 0, &err) < 0, "agreed");
    }
    expect_message(comm, err.message, death);
    expect_broken(comm, err.message);
}

/* The others have given up: they will not answer, but an endless wait would be no better. */
static void come_too_late(dlb_comm *comm, dlb_exchange *exchange)
{
    dlb_error err;
    if (exchange)
        exchange_once(exchange);
    CHECK(dlb_comm_agree(comm, 0, &err) < 0, "agreed with ranks that are gone");
}

static dlb_exchange *prepare(dlb_comm *comm, const char *scene)
{
    if (strcmp(scene, "collective") == 0)
        return NULL;
    return make_exchange(comm, strcmp(scene, "mpi") == 0 ? DLB_EXCHANGE_MPI : DLB_EXCHANGE_SHM);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2, "which scene?");
    bool death = strcmp(argv[1], "death") == 0;
    dlb_comm *comm;
    dlb_error err;
    dlb_comm_options options = {.hang_s = death ? 60 : HANG_S,
                                .node_ranks = strcmp(argv[1], "nodes") == 0};
    CHECK(dlb_comm_create(&comm, &options, &err) == 0, "%s", err.message);
    dlb_exchange *exchange = prepare(comm, argv[1]);
    if (dlb_comm_rank(comm) < dlb_comm_size(comm) - 1) {
        wait_in_vain(comm, exchange, death);
    } else if (death) {
        _exit(0);
    } else {
        sleep(SLEEP_S);
        come_too_late(comm, exchange);
    }
    dlb_exchange_free(exchange);
    dlb_comm_free(comm);
    CHECK(dlb_comm_is_broken(NULL), "forgotten");
    return 0;
}
