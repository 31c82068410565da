#include "comm/radix_state.h"
#include "dlk/tree.h"

static void begin(const dlb_radix *radix, MPI_Request *requests, int count)
{
    if (count)
        dlb_comm_mpi_ok(radix->options.comm, MPI_Startall(count, requests));
}

static void send(const dlb_radix *radix, const radix_batch *batch)
{
    begin(radix, batch->requests, batch->count);
    radix->options.bytes->sent += batch->bytes;
}

static bool have_ended(const dlb_radix *radix, MPI_Request *requests, int count)
{
    int ended = 1;
    return count == 0 || (dlb_comm_mpi_ok(radix->options.comm, MPI_Testall(count, requests, &ended,
                                                                           MPI_STATUSES_IGNORE)) &&
                          ended);
}

static bool received(const dlb_radix *radix, const radix_batch *batch)
{
    bool all = have_ended(radix, batch->requests, batch->count);
    if (all)
        radix->options.bytes->received += batch->bytes;
    return all;
}

/* The sum over a group, of a range within the hop's part, in place. */
static void sum_hop(const dlb_radix *radix, int bucket, int stage, dlb_range range)
{
    const radix_hop *hop = &radix->flows[bucket].hops[stage];
    size_t base = hop->part.first;
    dlk_tree_sum_range(radix->stages.stage[stage].size, (const float *const *)hop->inputs,
                       range.first - base, range.end - base, radix->options.gradients + base);
}

/* One step on, if possible: then true if another may be. */
static bool advance(const dlb_radix *radix, int bucket)
{
    radix_flow *flow = &radix->flows[bucket];
    radix_hop *hop = &flow->hops[flow->hop];
    switch (flow->phase) {
    case REDUCING:
        if (!received(radix, &hop->receives[REDUCE]))
            return false;
        if (flow->hop == radix->stages.count - 1) {
            flow->phase = ARRIVED; /* the last sum is left to dlb_radix_sum */
            return false;
        }
        sum_hop(radix, bucket, flow->hop++, hop->part);
        send(radix, &flow->hops[flow->hop].sends[REDUCE]);
        return true;
    case GATHERING:
        if (!received(radix, &hop->receives[GATHER]))
            return false;
        if (flow->hop == 0)
            flow->phase = SENDING;
        else
            send(radix, &flow->hops[--flow->hop].sends[GATHER]);
        return true;
    case ARRIVED: /* what others wait for may still have to be moved along */
        have_ended(radix, flow->requests, flow->request_count);
        return false;
    case SENDING:
        if (have_ended(radix, flow->requests, flow->request_count))
            flow->phase = IDLE;
        return false;
    case IDLE:
        return false;
    }
    return false;
}

static void advance_all(const dlb_radix *radix)
{
    for (int b = 0; b < radix->options.bucket_count; b++)
        while (advance(radix, b))
            ;
}

void dlb_radix_progress(dlb_radix *radix)
{
    if (radix->stages.count == 0 || dlb_comm_lock(radix->options.comm, NULL) < 0)
        return;
    advance_all(radix);
    dlb_comm_unlock(radix->options.comm);
}

void dlb_radix_start(dlb_radix *radix, int bucket)
{
    radix_flow *flow = &radix->flows[bucket];
    if (radix->stages.count == 0) {
        flow->phase = ARRIVED;
        return;
    }
    if (dlb_comm_lock(radix->options.comm, NULL) < 0)
        return;
    flow->phase = REDUCING;
    flow->hop = 0;
    begin(radix, flow->requests, flow->receive_count);
    send(radix, &flow->hops[0].sends[REDUCE]);
    dlb_comm_unlock(radix->options.comm);
}

bool dlb_radix_arrived(const dlb_radix *radix, int bucket)
{
    return radix->flows[bucket].phase == ARRIVED;
}

void dlb_radix_sum(const dlb_radix *radix, int bucket, dlb_range part)
{
    if (radix->stages.count > 0)
        sum_hop(radix, bucket, radix->stages.count - 1, part);
}

void dlb_radix_share(dlb_radix *radix, int bucket)
{
    radix_flow *flow = &radix->flows[bucket];
    if (radix->stages.count == 0) {
        flow->phase = IDLE;
        return;
    }
    if (dlb_comm_lock(radix->options.comm, NULL) < 0)
        return;
    flow->phase = GATHERING;
    flow->hop = radix->stages.count - 1;
    send(radix, &flow->hops[flow->hop].sends[GATHER]);
    dlb_comm_unlock(radix->options.comm);
}

bool dlb_radix_shared(const dlb_radix *radix, int bucket)
{
    return radix->flows[bucket].phase == IDLE;
}

/* Asking for one bucket moves the messages of all. */
void dlb_radix_poll(dlb_radix *radix)
{
    for (int b = 0; b < radix->options.bucket_count; b++) {
        radix_flow *flow = &radix->flows[b];
        if (flow->phase != IDLE) {
            have_ended(radix, flow->requests, flow->request_count);
            return;
        }
    }
}
