#include "train/updates.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/mem.h"
#include "dlk/tree.h"
#include "train/slice.h"

/* How often messages are moved along between tasks. */
enum { BETWEEN_NS = 20000 };

/* A bucket, from the gradients of a step to the parameters of the next. */
typedef enum stage {
    WHOLE, /* its parameters are those of all ranks */
    STARTED,
    UPDATING, /* some thread is at it */
    SHARING,
} stage;

typedef struct bucket {
    stage stage;
    dlb_slice slice;
} bucket;

typedef struct group {
    dlb_updates *updates;
    const dlb_group *plan;
    int joined; /* blocks whose gradients are final */
} group;

struct dlb_updates {
    dlb_updates_options options;
    bool alone;
    bucket *buckets;
    group *groups;
    dlb_slicer slicer;
    int order; /* an operand: groups are started in order, then all are updated */

    dlb_own_step mine;
    double *losses;       /* a worker of this rank */
    atomic_int started;   /* groups of the step */
    atomic_int under_way; /* buckets */
    int64_t first_start_ns;

    pthread_mutex_t lock; /* of the stages and the times */
    atomic_bool finishing;
    _Atomic int64_t next_between_ns;
    dlb_updates_times times;
};

/* Groups are started as they become ready; a rank alone has nobody to start for. */
static bool joins(const dlb_updates *u)
{
    return !u->alone || u->slicer.norms;
}

static void add_time(dlb_updates *u, double *sum, double seconds)
{
    pthread_mutex_lock(&u->lock);
    *sum += seconds;
    pthread_mutex_unlock(&u->lock);
}

/* ---- Buckets, stage by stage ---- */

/* Arrived, and nobody is at it yet: it is the caller's now. */
static bool claim(dlb_updates *u, int index)
{
    bucket *b = &u->buckets[index];
    pthread_mutex_lock(&u->lock);
    bool mine = b->stage == STARTED && dlb_exchange_arrived(u->options.exchange, index);
    if (mine)
        b->stage = UPDATING;
    pthread_mutex_unlock(&u->lock);
    return mine;
}

static void share(dlb_updates *u, int index)
{
    pthread_mutex_lock(&u->lock);
    dlb_exchange_share(u->options.exchange, index);
    u->buckets[index].stage = SHARING;
    pthread_mutex_unlock(&u->lock);
}

/* Whether everyone's part of the bucket is there. */
static bool is_whole(dlb_updates *u, int index)
{
    bucket *b = &u->buckets[index];
    pthread_mutex_lock(&u->lock);
    if (b->stage == SHARING && dlb_exchange_shared(u->options.exchange, index)) {
        b->stage = WHOLE;
        atomic_fetch_sub(&u->under_way, 1);
    }
    bool whole = b->stage == WHOLE;
    pthread_mutex_unlock(&u->lock);
    return whole;
}

/* Whether this rank has done its part. */
static bool is_updated(dlb_updates *u, int index)
{
    pthread_mutex_lock(&u->lock);
    stage now = u->buckets[index].stage;
    pthread_mutex_unlock(&u->lock);
    return now == SHARING || now == WHOLE;
}

static void tell_arrival(dlb_updates *u)
{
    dlb_arrival arrival = {.stop = u->mine.stop};
    for (int i = 0; i < u->options.workers; i++) {
        u->losses[i] = u->mine.results[i].loss_sum;
        arrival.correct += u->mine.results[i].correct;
    }
    arrival.loss_sum = dlk_tree_sum_of(u->options.workers, u->losses);
    dlb_exchange_arrive(u->options.exchange, &arrival);
}

static void start_group(dlb_updates *u, const dlb_group *plan)
{
    pthread_mutex_lock(&u->lock);
    if (u->started++ == 0)
        u->first_start_ns = dlb_clock_ns();
    for (int i = plan->first_bucket; i < plan->end_bucket; i++) {
        dlb_exchange_start(u->options.exchange, i);
        u->buckets[i].stage = STARTED;
    }
    atomic_fetch_add(&u->under_way, plan->end_bucket - plan->first_bucket);
    if (u->started == u->options.buckets->group_count)
        tell_arrival(u);
    pthread_mutex_unlock(&u->lock);
}

/* ---- Where the time goes ---- */

/* Of the pool, in updates of slices, since it was last asked for. */
static double take_update_s(dlb_updates *u)
{
    return 1e-9 * (double)atomic_exchange(&u->slicer.update_ns, 0) / u->options.threads;
}

static double seconds_of_pool(const dlb_updates *u, const dlk_team *team, int64_t since_ns)
{
    return 1e-9 * (double)(dlb_clock_ns() - since_ns) * team->size / u->options.threads;
}

/* Nothing can be done but wait: for ranks that have not come, or for messages. */
static void wait_a_little(dlb_updates *u, const dlk_team *team, int64_t since_ns)
{
    dlb_exchange *x = u->options.exchange;
    int64_t start = dlb_clock_ns();
    bool all_came = dlb_exchange_arrivals(x) != NULL;
    dlb_exchange_pause(x, since_ns);
    if (!all_came)
        add_time(u, &u->times.wait_s, seconds_of_pool(u, team, start));
}

/* An operation of ours has ended: what was neither updating nor waiting for ranks was exchange. */
static void account(dlb_updates *u, const dlk_team *team, int64_t since_ns, double waited_s)
{
    double update_s = take_update_s(u);
    if (u->alone)
        return;
    double exposed_s = seconds_of_pool(u, team, since_ns) - waited_s - update_s;
    add_time(u, &u->times.exposed_s, exposed_s);
    add_time(u, &u->times.within_s, exposed_s + waited_s);
}

/* ---- What is left at the end ---- */

/* Some buckets that follow each other. */
typedef struct bucket_range {
    int first, end;
} bucket_range;

static bucket_range buckets_of(const dlb_group *plan)
{
    return (bucket_range){plan->first_bucket, plan->end_bucket};
}

static bucket_range all_buckets(const dlb_updates *u)
{
    return (bucket_range){0, u->options.buckets->bucket_count};
}

static void run_slice(dlb_updates *u, int index, int work, dlk_team *team)
{
    dlb_slice_run(&u->slicer, &u->buckets[index].slice, work, team);
}

/* The one of them that can be updated and that the next step uses first; -1: none now. */
static int claim_any(dlb_updates *u, bucket_range some)
{
    for (int i = some.end - 1; i >= some.first; i--)
        if (claim(u, i))
            return i;
    return -1;
}

static bool all_updated(dlb_updates *u, bucket_range some)
{
    bool all = true;
    for (int i = some.first; all && i < some.end; i++)
        all = is_updated(u, i);
    return all;
}

static void update_buckets(dlb_updates *u, bucket_range some, dlk_team *team)
{
    int64_t since = dlb_clock_ns();
    while (!all_updated(u, some)) {
        int index = claim_any(u, some);
        if (index < 0) {
            wait_a_little(u, team, since);
            continue;
        }
        run_slice(u, index, DLB_SLICE_SUM | DLB_SLICE_UPDATE, team);
        share(u, index);
        since = dlb_clock_ns();
    }
}

/* All sums, then all norms, then all updates. */
static void update_with_norms(dlb_updates *u, bucket_range all, dlk_team *team)
{
    int64_t since = dlb_clock_ns();
    for (int i = all.first; i < all.end;) {
        if (!claim(u, i)) {
            wait_a_little(u, team, since);
            continue;
        }
        run_slice(u, i++, DLB_SLICE_SUM, team);
        since = dlb_clock_ns();
    }
    dlb_norms_agree(u->slicer.norms, u->options.comm, u->options.optimizer);
    for (int i = all.first; i < all.end; i++) {
        run_slice(u, i, DLB_SLICE_UPDATE, team);
        share(u, i);
    }
}

/* The parts of the other ranks. */
static void await(dlb_updates *u, bucket_range some, dlk_team *team)
{
    int64_t since = dlb_clock_ns();
    for (int i = some.first; i < some.end;) {
        if (!is_whole(u, i)) {
            wait_a_little(u, team, since);
            continue;
        }
        i++;
        since = dlb_clock_ns();
    }
}

typedef void updates_work_fn(dlb_updates *u, bucket_range some, dlk_team *team);

/* Work of an operation, whose time is told apart from that of exchange and waiting in it. */
static void run_accounted(dlb_updates *u, updates_work_fn *work, bucket_range some, dlk_team *team)
{
    int64_t start = dlb_clock_ns();
    double waited_before = u->times.wait_s;
    atomic_store(&u->finishing, true);
    work(u, some, team);
    account(u, team, start, u->times.wait_s - waited_before);
    atomic_store(&u->finishing, false);
}

/* An operation at the end of the step: all that has not been updated yet. */
static void run_updates(void *self, void *context, dlk_team *team)
{
    (void)context;
    dlb_updates *u = self;
    run_accounted(u, u->slicer.norms ? update_with_norms : update_buckets, all_buckets(u), team);
    if (u->alone) /* nothing is added that would await them */
        run_accounted(u, await, all_buckets(u), team);
}

/* An operation before the first use of a group's parameters. */
static void run_await(void *self, void *context, dlk_team *team)
{
    (void)context;
    group *g = self;
    dlb_updates *u = g->updates;
    int64_t start = dlb_clock_ns();
    run_accounted(u, await, buckets_of(g->plan), team);
    add_time(u, &u->times.comm_s, seconds_of_pool(u, team, start));
}

/* An operation of a rank alone, which has nobody to start for or to wait for. */
static void run_own(void *self, void *context, dlk_team *team)
{
    (void)context;
    group *g = self;
    dlb_updates *u = g->updates;
    start_group(u, g->plan);
    run_accounted(u, update_buckets, buckets_of(g->plan), team);
    run_accounted(u, await, buckets_of(g->plan), team);
}

static void run_join(void *self, void *context, dlk_team *team)
{
    (void)context;
    group *g = self;
    int64_t start = dlb_clock_ns();
    if (++g->joined < g->plan->end_block - g->plan->first_block)
        return;
    start_group(g->updates, g->plan);
    if (!g->updates->alone) {
        double seconds = seconds_of_pool(g->updates, team, start);
        add_time(g->updates, &g->updates->times.exposed_s, seconds);
        add_time(g->updates, &g->updates->times.within_s, seconds);
    }
}

/* ---- Between the tasks of other operations ---- */

static void update_between(dlb_updates *u, int index)
{
    dlb_slice_run_here(&u->slicer, &u->buckets[index].slice);
    share(u, index);
}

/* Buckets of this step's gradients, or of the last step's parameters. */
static void advance_between(dlb_updates *u)
{
    int64_t start = dlb_clock_ns();
    bool forward = u->started == 0;
    dlb_exchange_poll(u->options.exchange);
    for (int i = 0; i < u->options.buckets->bucket_count; i++)
        if (!is_whole(u, i) && !u->slicer.norms && claim(u, i))
            update_between(u, i);
    double update_s = take_update_s(u);
    double all_s = 1e-9 * (double)(dlb_clock_ns() - start) / u->options.threads;
    add_time(u, &u->times.between_update_s, update_s);
    add_time(u, forward ? &u->times.forward_between_s : &u->times.backward_between_s, all_s);
    add_time(u, &u->times.exposed_s, all_s - update_s);
}

void dlb_updates_between(void *updates)
{
    dlb_updates *u = updates;
    if (atomic_load(&u->under_way) == 0 || atomic_load(&u->finishing))
        return; /* most of the time, and without a look at the clock */
    int64_t next = atomic_load(&u->next_between_ns);
    if (dlb_clock_ns() < next)
        return;
    if (!atomic_compare_exchange_strong(&u->next_between_ns, &next, INT64_MAX))
        return; /* the leader of another team is at it */
    advance_between(u);
    atomic_store(&u->next_between_ns, dlb_clock_ns() + BETWEEN_NS);
}

/* ---- Operations ---- */

static dlb_op make_op(const dlb_updates *u, const dlb_group *blocks, const char *what,
                      dlb_op_fn *run, void *self)
{
    const dlb_block *first = dlb_graph_block(u->options.graph, blocks->first_block);
    const dlb_block *last = dlb_graph_block(u->options.graph, blocks->end_block - 1);
    dlb_op op = {.phase = DLB_PHASE_UPDATE, .operation = DLK_OP_COUNT, .run = run, .self = self};
    dlb_op_name(&op, first->layer->name, last->layer->name, what);
    return op;
}

static group *group_of(const dlb_updates *u, const dlb_block *block)
{
    return &u->groups[dlb_buckets_group_of(u->options.buckets, block->index)];
}

static void add_join(dlb_updates *u, dlb_program *program, const dlb_block *block)
{
    dlb_group only = {.first_block = block->index, .end_block = block->index + 1};
    dlb_op op = make_op(u, &only, "ready", run_join, group_of(u, block));
    dlb_op_reads(&op, block->gradient_buffer);
    dlb_op_writes(&op, block->parameter_buffer);
    dlb_op_writes(&op, u->order);
    dlb_program_add(program, &op);
}

static void add_updates(dlb_updates *u, dlb_program *program)
{
    dlb_group all = {.first_block = 0, .end_block = dlb_graph_block_count(u->options.graph)};
    dlb_op op = make_op(u, &all, "update", run_updates, u);
    dlb_op_writes(&op, u->order); /* when all are started */
    dlb_program_add(program, &op);
}

_Static_assert((int)DLB_FUSED_SMALL <= (int)DLB_OP_OPERANDS, "room for the operands of a group");

static void add_own(dlb_updates *u, dlb_program *program, group *g)
{
    dlb_op op = make_op(u, g->plan, "update", run_own, g);
    for (int i = g->plan->first_block; i < g->plan->end_block; i++) {
        const dlb_block *block = dlb_graph_block(u->options.graph, i);
        dlb_op_reads(&op, block->gradient_buffer);
        dlb_op_writes(&op, block->parameter_buffer);
    }
    dlb_program_add(program, &op);
}

/* The one whose gradients are the last to become final, and whose parameters are used first. */
static bool is_lowest_of_group(const dlb_updates *u, const dlb_block *block)
{
    return block->index == group_of(u, block)->plan->first_block;
}

/* Those above in the group use what it computes. */
static void add_await(dlb_updates *u, dlb_program *program, const dlb_block *block)
{
    group *g = group_of(u, block);
    dlb_op op = make_op(u, g->plan, "await", run_await, g);
    dlb_op_writes(&op, block->parameter_buffer);
    dlb_op_writes(&op, u->order);
    dlb_program_add(program, &op);
}

static void add_after_gradients(dlb_updates *u, dlb_program *program, const dlb_block *block,
                                bool ends_step)
{
    dlb_accumulator_add_op(u->options.accumulator, program, block);
    if (ends_step && joins(u))
        add_join(u, program, block);
    else if (ends_step && is_lowest_of_group(u, block))
        add_own(u, program, group_of(u, block));
}

void dlb_updates_add(void *updates, dlb_program *program, dlb_graph_place place,
                     const dlb_block *block, bool ends_step)
{
    dlb_updates *u = updates;
    if (place == DLB_BEFORE_USE && !u->alone && is_lowest_of_group(u, block))
        add_await(u, program, block);
    if (place == DLB_AFTER_GRADIENTS)
        add_after_gradients(u, program, block, ends_step);
    if (place == DLB_AT_END && ends_step && joins(u))
        add_updates(u, program);
}

/* ---- Life ---- */

size_t dlb_updates_slices(dlb_exchange *exchange, const dlb_buckets *buckets)
{
    size_t floats = 0;
    for (int i = 0; i < buckets->bucket_count; i++) {
        dlb_range slice = dlb_exchange_slice(exchange, i);
        floats += dlb_range_length(slice);
    }
    return floats;
}

static void lay_out_slices(dlb_updates *u)
{
    size_t state = 0;
    for (int i = 0; i < u->options.buckets->bucket_count; i++) {
        dlb_range range = dlb_exchange_slice(u->options.exchange, i);
        u->buckets[i].slice = (dlb_slice){i, range, state};
        state += dlb_range_length(range);
    }
}

/* By itself, as gradients come from the graph, block by block. */
static bool updates_all(const dlb_updates *u)
{
    bool single = dlb_exchange_kind_of(u->options.exchange) == DLB_EXCHANGE_SINGLE;
    return single && u->options.workers == 1 && !joins(u);
}

static void init_slicer(dlb_updates *u)
{
    const dlb_updates_options *o = &u->options;
    u->slicer.exchange = o->exchange;
    u->slicer.optimizer = o->optimizer;
    u->slicer.norms = o->norms ? dlb_norms_create(o->graph) : NULL;
    u->slicer.piece = o->piece;
    if (updates_all(u)) {
        assert(o->buckets->bucket_count == o->buckets->group_count); /* no block is cut */
        dlb_graph_expect_updates(o->graph);
        u->slicer.graph = o->graph;
    }
}

dlb_updates *dlb_updates_create(const dlb_updates_options *options)
{
    dlb_updates *u = dlb_alloc(1, sizeof *u);
    const dlb_buckets *plan = options->buckets;
    u->options = *options;
    u->alone = dlb_comm_size(options->comm) == 1;
    init_slicer(u);
    u->losses = dlb_alloc((size_t)options->workers, sizeof *u->losses);
    u->buckets = dlb_alloc((size_t)plan->bucket_count, sizeof *u->buckets);
    lay_out_slices(u);
    u->groups = dlb_alloc((size_t)plan->group_count, sizeof *u->groups);
    for (int i = 0; i < plan->group_count; i++)
        u->groups[i] = (group){.updates = u, .plan = &plan->groups[i]};
    u->order = dlb_graph_new_operand(options->graph);
    pthread_mutex_init(&u->lock, NULL);
    return u;
}

void dlb_updates_free(dlb_updates *u)
{
    if (!u)
        return;
    pthread_mutex_destroy(&u->lock);
    dlb_norms_free(u->slicer.norms);
    free(u->groups);
    free(u->buckets);
    free(u->losses);
    free(u);
}

/* ---- Steps ---- */

void dlb_updates_begin_step(dlb_updates *u, double lr, const dlb_own_step *mine)
{
    u->times = (dlb_updates_times){0}; /* what was between two steps is in none */
    dlb_optimizer_begin_step(u->options.optimizer, lr);
    if (u->slicer.norms)
        dlb_norms_begin(u->slicer.norms);
    for (int i = 0; i < u->options.buckets->group_count; i++)
        u->groups[i].joined = 0;
    u->mine = *mine;
    u->started = 0;
    atomic_store(&u->next_between_ns, 0);
}

int dlb_updates_end_step(dlb_updates *u, const dlb_arrival **everyones, dlb_error *err)
{
    int64_t since = dlb_clock_ns();
    while (!(*everyones = dlb_exchange_arrivals(u->options.exchange)) &&
           dlb_exchange_check(u->options.exchange, err) == 0)
        dlb_exchange_pause(u->options.exchange, since);
    if (!u->alone) {
        u->times.wait_s += 1e-9 * (double)(dlb_clock_ns() - since);
        u->times.comm_s += 1e-9 * (double)(dlb_clock_ns() - u->first_start_ns);
    }
    return dlb_exchange_check(u->options.exchange, err);
}

int dlb_updates_settle(dlb_updates *u, dlb_error *err)
{
    int64_t start = dlb_clock_ns();
    for (int i = 0; i < u->options.buckets->bucket_count; i++)
        for (int64_t since = dlb_clock_ns(); !is_whole(u, i);)
            dlb_exchange_pause(u->options.exchange, since);
    double seconds = u->alone ? 0 : 1e-9 * (double)(dlb_clock_ns() - start);
    u->times.exposed_s += seconds;
    u->times.comm_s += seconds;
    return dlb_exchange_check(u->options.exchange, err);
}

dlb_updates_times dlb_updates_take_times(dlb_updates *u)
{
    dlb_updates_times times = u->times;
    u->times = (dlb_updates_times){0};
    return times;
}

/* ---- The optimizer's state as a whole ---- */

static size_t slice_bytes(const dlb_slice *slice)
{
    return dlb_range_length(slice->range) * sizeof(float);
}

int dlb_updates_collect_state(dlb_updates *u, int index, float *whole, dlb_error *err)
{
    const float *state = dlb_optimizer_state(u->options.optimizer, index);
    for (int i = 0; i < u->options.buckets->bucket_count; i++) {
        const dlb_slice *slice = &u->buckets[i].slice;
        memcpy(whole + slice->range.first, state + slice->state, slice_bytes(slice));
    }
    return dlb_exchange_collect(u->options.exchange, whole, err);
}

void dlb_updates_spread_state(dlb_updates *u, int index, const float *whole)
{
    float *state = dlb_optimizer_state(u->options.optimizer, index);
    for (int i = 0; i < u->options.buckets->bucket_count; i++) {
        const dlb_slice *slice = &u->buckets[i].slice;
        memcpy(state + slice->state, whole + slice->range.first, slice_bytes(slice));
    }
}
