#include "base/mem.h"
#include "comm/radix_state.h"
#include "comm/runtime.h"

/* Members other than this one in all groups. */
static int count_peers(const dlb_stages *stages)
{
    int peers = 0;
    for (int s = 0; s < stages->count; s++)
        peers += stages->stage[s].size - 1;
    return peers;
}

/* Floats that a bucket receives on its way to the sum. */
static size_t count_received(const dlb_stages *stages, dlb_range whole)
{
    size_t floats = 0;
    for (int s = 0; s < stages->count; s++)
        floats += dlb_range_length(dlb_stages_held(stages, whole, s + 1)) *
                  (size_t)(stages->stage[s].size - 1);
    return floats;
}

/* Gives each hop its part and the places in memory of the contributions to it. */
static void lay_out(const dlb_radix *radix, int bucket)
{
    const dlb_stages *stages = &radix->stages;
    radix_flow *flow = &radix->flows[bucket];
    float *received = flow->received, **inputs = flow->inputs;
    for (int s = 0; s < stages->count; s++) {
        radix_hop *hop = &flow->hops[s];
        hop->part = dlb_stages_held(stages, radix->options.ranges[bucket], s + 1);
        hop->inputs = inputs;
        for (int place = 0; place < stages->stage[s].size; place++) {
            bool own = place == stages->stage[s].place;
            *inputs++ = own ? radix->options.gradients + hop->part.first : received;
            received += own ? 0 : dlb_range_length(hop->part);
        }
    }
}

/* A transfer of a hop between this member and that at `place`. */
typedef struct transfer {
    int bucket, stage, place;
    enum radix_way way;
    bool send;
} transfer;

/*
 * What is sent of gradients is the others' part, what is received is this member's; of parameters
 * it is the other way round.
 */
static dlb_range range_of(const dlb_radix *radix, const transfer *t)
{
    dlb_range held = dlb_stages_held(&radix->stages, radix->options.ranges[t->bucket], t->stage);
    bool theirs = t->send == (t->way == REDUCE);
    const dlb_stage *stage = &radix->stages.stage[t->stage];
    return dlb_range_part(held, stage->size, theirs ? t->place : stage->place);
}

static int make_request(const dlb_radix *radix, const transfer *t, dlb_range range,
                        MPI_Request *request)
{
    const dlb_radix_options *options = &radix->options;
    float *array = t->way == REDUCE ? options->gradients : options->parameters;
    int count = (int)dlb_range_length(range), tag = t->bucket * WAYS + (int)t->way;
    int peer = dlb_stages_member(&radix->stages, t->stage, t->place);
    if (t->send)
        return MPI_Send_init(array + range.first, count, MPI_FLOAT, peer, tag, options->members,
                             request);
    const radix_hop *hop = &radix->flows[t->bucket].hops[t->stage];
    float *into = t->way == REDUCE ? hop->inputs[t->place] : array + range.first;
    return MPI_Recv_init(into, count, MPI_FLOAT, peer, tag, options->members, request);
}

/* Adds the requests of a hop to those of its bucket; none where a part is empty. */
static bool add_batch(const dlb_radix *radix, transfer t, radix_batch *batch)
{
    radix_flow *flow = &radix->flows[t.bucket];
    const dlb_stage *stage = &radix->stages.stage[t.stage];
    batch->requests = flow->requests + flow->request_count;
    for (t.place = 0; t.place < stage->size; t.place++) {
        dlb_range range = range_of(radix, &t);
        if (t.place == stage->place || dlb_range_length(range) == 0)
            continue;
        int code = make_request(radix, &t, range, &batch->requests[batch->count]);
        if (!dlb_comm_mpi_ok(radix->options.comm, code))
            return false;
        batch->count++;
        batch->bytes += (int64_t)(dlb_range_length(range) * sizeof(float));
    }
    flow->request_count += batch->count;
    return true;
}

static bool add_batches(const dlb_radix *radix, int bucket, bool send)
{
    radix_flow *flow = &radix->flows[bucket];
    for (int way = 0; way < WAYS; way++)
        for (int s = 0; s < radix->stages.count; s++) {
            transfer t = {.bucket = bucket, .stage = s, .way = (enum radix_way)way, .send = send};
            radix_hop *hop = &flow->hops[s];
            if (!add_batch(radix, t, send ? &hop->sends[way] : &hop->receives[way]))
                return false;
        }
    return true;
}

static int make_requests(const dlb_radix *radix, int bucket, dlb_error *err)
{
    dlb_comm *comm = radix->options.comm;
    radix_flow *flow = &radix->flows[bucket];
    int status = dlb_comm_lock(comm, err);
    if (status < 0)
        return status;
    bool made = add_batches(radix, bucket, false);
    flow->receive_count = flow->request_count;
    made = made && add_batches(radix, bucket, true);
    dlb_comm_unlock(comm);
    return made ? 0 : dlb_comm_failure(comm, err);
}

static int make_flow(const dlb_radix *radix, int bucket, dlb_error *err)
{
    const dlb_stages *stages = &radix->stages;
    radix_flow *flow = &radix->flows[bucket];
    size_t floats = count_received(stages, radix->options.ranges[bucket]);
    size_t peers = (size_t)count_peers(stages), groups = (size_t)stages->count;
    flow->received = dlb_try_alloc(floats, sizeof *flow->received);
    if (!flow->received)
        return dlb_fail(err, DLB_FAIL, "no memory for %zu bytes of gradients of other ranks",
                        floats * sizeof *flow->received);
    flow->hops = dlb_alloc(groups, sizeof *flow->hops);
    flow->inputs = dlb_alloc(peers + groups, sizeof *flow->inputs);
    flow->requests = dlb_alloc(peers * WAYS * 2, sizeof(MPI_Request));
    lay_out(radix, bucket);
    return stages->count > 0 ? make_requests(radix, bucket, err) : 0;
}

/* Every bucket and way has a tag of its own. */
static int check_tags(const dlb_radix_options *options, dlb_error *err)
{
    const int *highest = NULL;
    int known = 0;
    MPI_Comm_get_attr(options->members, MPI_TAG_UB, &highest, &known);
    if (known && *highest / WAYS < options->bucket_count)
        return dlb_fail(err, DLB_FAIL, "MPI has too few tags for %d buckets: make them larger",
                        options->bucket_count);
    return 0;
}

static int fill(dlb_radix *radix, dlb_error *err)
{
    const dlb_radix_options *options = &radix->options;
    int members = 1, self = 0, status = 0;
    if (options->members != MPI_COMM_NULL) {
        MPI_Comm_size(options->members, &members);
        MPI_Comm_rank(options->members, &self);
        status = check_tags(options, err);
    }
    dlb_stages_init(&radix->stages, members, self, options->radix);
    for (int b = 0; b < options->bucket_count && status == 0; b++)
        status = make_flow(radix, b, err);
    return status;
}

int dlb_radix_create(dlb_radix **out, const dlb_radix_options *options, dlb_error *err)
{
    dlb_radix *radix = dlb_alloc(1, sizeof *radix);
    radix->options = *options;
    radix->flows = dlb_alloc((size_t)options->bucket_count, sizeof *radix->flows);
    int status = fill(radix, err);
    if (status < 0) {
        dlb_radix_free(radix);
        return status;
    }
    *out = radix;
    return 0;
}

static void free_flow(radix_flow *flow, bool quiet)
{
    for (int i = 0; i < flow->request_count && quiet; i++)
        MPI_Request_free(&flow->requests[i]);
    dlb_mpi_release(flow->received, quiet);
    free(flow->requests);
    free(flow->inputs);
    free(flow->hops);
}

bool dlb_radix_is_quiet(const dlb_radix *radix)
{
    bool quiet = !dlb_comm_is_broken(radix->options.comm);
    for (int b = 0; b < radix->options.bucket_count && quiet; b++)
        quiet = radix->flows[b].phase == IDLE;
    return quiet;
}

void dlb_radix_free(dlb_radix *radix)
{
    if (!radix)
        return;
    bool quiet = dlb_radix_is_quiet(radix);
    for (int b = 0; b < radix->options.bucket_count; b++)
        free_flow(&radix->flows[b], quiet);
    free(radix->flows);
    free(radix);
}
