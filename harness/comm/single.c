/* The exchange of a rank alone: its gradients are the sum, and its parameters everyone's. */
#include "base/mem.h"
#include "comm/exchange_state.h"

static int open_single(dlb_exchange *exchange, dlb_error *err)
{
    int ranks = exchange->comm->size;
    if (ranks > 1)
        return dlb_fail(err, DLB_BAD_INPUT, "comm = single is for one rank; there are %d", ranks);
    exchange->division = (dlb_division){.local = 1, .nodes = 1, .radix = exchange->radix};
    exchange->parameters = dlb_try_alloc(exchange->count, sizeof(float));
    exchange->gradients = dlb_try_alloc(exchange->count, sizeof(float));
    if (!exchange->parameters || !exchange->gradients)
        return dlb_fail(err, DLB_FAIL, "no memory for %zu parameters", exchange->count);
    return 0;
}

static bool close_single(dlb_exchange *exchange, bool whole)
{
    (void)whole;
    free(exchange->gradients);
    free(exchange->parameters);
    return true;
}

static void do_nothing(dlb_exchange *exchange, int bucket)
{
    (void)exchange;
    (void)bucket;
}

static bool at_once(dlb_exchange *exchange, int bucket)
{
    (void)exchange;
    (void)bucket;
    return true;
}

static void sum(dlb_exchange *exchange, int bucket, dlb_range part)
{
    (void)exchange;
    (void)bucket;
    (void)part;
}

static void arrive(dlb_exchange *exchange, const dlb_arrival *mine)
{
    exchange->arrivals[0] = *mine;
}

static bool all_arrived(dlb_exchange *exchange)
{
    (void)exchange;
    return true;
}

static bool needs_poll(const dlb_exchange *exchange)
{
    (void)exchange;
    return false;
}

static void progress(dlb_exchange *exchange)
{
    (void)exchange;
}

static int broadcast(dlb_exchange *exchange, dlb_error *err)
{
    (void)exchange;
    (void)err;
    return 0;
}

const dlb_exchange_funcs dlb_exchange_single = {
    .kind = DLB_EXCHANGE_SINGLE,
    .name = "single",
    .size = sizeof(dlb_exchange),
    .open = open_single,
    .close = close_single,
    .start = do_nothing,
    .arrived = at_once,
    .sum = sum,
    .share = do_nothing,
    .shared = at_once,
    .arrive = arrive,
    .all_arrived = all_arrived,
    .needs_poll = needs_poll,
    .poll = progress,
    .progress = progress,
    .broadcast = broadcast,
};
