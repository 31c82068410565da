#include "train/updates.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/mem.h"
#include "dlk/lines.h"
#include "dlk/tree.h"
#include "train/norms.h"

/* How often messages are moved along between tasks. */
enum { BETWEEN_NS = 20000 };

/* A bucket in a step. */
typedef enum stage {
    IDLE,
    STARTED,
    UPDATING, /* some thread is at it */
    SHARING,
    DONE,
} stage;

typedef struct bucket {
    stage stage;
    dlb_range slice;
    size_t state; /* where the slice's state begins */
} bucket;

typedef struct group {
    dlb_updates *updates;
    const dlb_group *plan;
    int operand; /* written by what starts the group, read by what ends it */
    int joined;  /* blocks whose gradients are final */
} group;

struct dlb_updates {
    dlb_updates_options options;
    bool alone;
    bucket *buckets;
    group *groups;
    dlb_norms *norms; /* NULL for optimizers without */
    int order;        /* an operand: groups are started, then ended, in order */

    dlb_own_step mine;
    double *losses;     /* a worker of this rank */
    atomic_int started; /* groups */
    int64_t first_start_ns;

    pthread_mutex_t lock; /* of the stages and the times */
    atomic_bool finishing;
    _Atomic int64_t next_between_ns;
    _Atomic int64_t update_ns; /* of all threads, not yet in `times` */
    dlb_updates_times times;
};

/* Groups are started as they become ready; a rank alone has nobody to start for. */
static bool joins(const dlb_updates *u)
{
    return !u->alone || u->norms;
}

static void add_time(dlb_updates *u, double *sum, double seconds)
{
    pthread_mutex_lock(&u->lock);
    *sum += seconds;
    pthread_mutex_unlock(&u->lock);
}

/* ---- Pieces of a slice: summed, then updated while in cache ---- */

typedef struct piece_job {
    dlb_updates *updates;
    int bucket;
    size_t piece; /* floats */
    bool sum, update;
} piece_job;

/* Whole cells, so that no cell is measured by two threads. */
static size_t whole_cells(size_t floats)
{
    return (floats + DLB_EXCHANGE_GRAIN - 1) / DLB_EXCHANGE_GRAIN * DLB_EXCHANGE_GRAIN;
}

/* As large as was asked for, but no larger than a thread's share. */
static piece_job make_job(dlb_updates *u, int index, int threads)
{
    const dlb_range *slice = &u->buckets[index].slice;
    size_t share = (slice->end - slice->first + (size_t)threads - 1) / (size_t)threads;
    size_t piece = share < u->options.piece ? share : u->options.piece;
    return (piece_job){.updates = u, .bucket = index, .piece = whole_cells(piece ? piece : 1)};
}

static int pieces_of(const piece_job *job)
{
    const dlb_range *slice = &job->updates->buckets[job->bucket].slice;
    return (int)((slice->end - slice->first + job->piece - 1) / job->piece);
}

static dlb_range piece_at(const piece_job *job, int index)
{
    const dlb_range *slice = &job->updates->buckets[job->bucket].slice;
    size_t first = slice->first + (size_t)index * job->piece, end = first + job->piece;
    return (dlb_range){first, end < slice->end ? end : slice->end};
}

static void sum_piece(dlb_updates *u, int index, dlb_range piece)
{
    dlb_exchange *x = u->options.exchange;
    dlb_exchange_sum(x, index, piece);
    if (u->norms)
        dlb_norms_measure(u->norms, piece, dlb_exchange_parameters(x), dlb_exchange_gradients(x));
}

static void update_range(dlb_updates *u, const bucket *b, dlb_range range, float ratio)
{
    dlb_exchange *x = u->options.exchange;
    size_t count = range.end - range.first;
    float *parameters = dlb_exchange_parameters(x) + range.first;
    dlk_own(parameters, count); /* every thread has read them */
    dlb_optimizer_update(u->options.optimizer, b->state + (range.first - b->slice.first), count,
                         ratio, dlb_exchange_gradients(x) + range.first, parameters);
}

static void update_piece(dlb_updates *u, int index, dlb_range piece)
{
    if (!u->norms) {
        update_range(u, &u->buckets[index], piece, 1);
        return;
    }
    while (piece.first < piece.end) {
        float ratio;
        dlb_range same = dlb_norms_same_ratio(u->norms, piece, &ratio);
        update_range(u, &u->buckets[index], same, ratio);
        piece.first = same.end;
    }
}

static void run_piece(void *arg, int task, int thread)
{
    (void)thread;
    const piece_job *job = arg;
    dlb_updates *u = job->updates;
    dlb_range piece = piece_at(job, task);
    if (job->sum)
        sum_piece(u, job->bucket, piece);
    if (!job->update)
        return;
    int64_t start = dlb_clock_ns();
    update_piece(u, job->bucket, piece);
    atomic_fetch_add_explicit(&u->update_ns, dlb_clock_ns() - start, memory_order_relaxed);
}

/* Sum a slice, update it, or both. One so small is not worth another core's help. */
static void run_slice(dlb_updates *u, int index, bool sum, bool update, dlk_team *team)
{
    enum { LEADERS_OWN = 8 * 1024 };
    const dlb_range *slice = &u->buckets[index].slice;
    piece_job job = make_job(u, index, team->size);
    job.sum = sum;
    job.update = update;
    if (slice->end - slice->first > LEADERS_OWN)
        dlk_parallel(team, pieces_of(&job), run_piece, &job);
    else
        dlk_alone(team, pieces_of(&job), run_piece, &job);
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

/* Whether the bucket is done with, or was until now. */
static bool test_done(dlb_updates *u, int index)
{
    bucket *b = &u->buckets[index];
    pthread_mutex_lock(&u->lock);
    if (b->stage == SHARING && dlb_exchange_shared(u->options.exchange, index))
        b->stage = DONE;
    bool done = b->stage == DONE;
    pthread_mutex_unlock(&u->lock);
    return done;
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
    if (atomic_fetch_add(&u->started, 1) == 0)
        u->first_start_ns = dlb_clock_ns();
    for (int i = plan->first_bucket; i < plan->end_bucket; i++) {
        dlb_exchange_start(u->options.exchange, i);
        u->buckets[i].stage = STARTED;
    }
    if (atomic_load(&u->started) == u->options.buckets->group_count)
        tell_arrival(u);
    pthread_mutex_unlock(&u->lock);
}

/* ---- Where the time goes ---- */

/* Thread-seconds as seconds of the pool, which begin anew. */
static double take(_Atomic int64_t *ns, const dlb_updates *u)
{
    return 1e-9 * (double)atomic_exchange(ns, 0) / u->options.threads;
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
    double update_s = take(&u->update_ns, u);
    if (u->alone)
        return;
    double exposed_s = seconds_of_pool(u, team, since_ns) - waited_s - update_s;
    add_time(u, &u->times.exposed_s, exposed_s);
    add_time(u, &u->times.within_s, exposed_s + waited_s);
}

/* ---- The end of a group ---- */

static bool try_update(dlb_updates *u, int index, dlk_team *team)
{
    if (!claim(u, index))
        return false;
    run_slice(u, index, true, true, team);
    share(u, index);
    return true;
}

static void finish_buckets(dlb_updates *u, const dlb_group *plan, dlk_team *team)
{
    int64_t since = dlb_clock_ns();
    for (int done = plan->first_bucket; done < plan->end_bucket;) {
        bool moved = false;
        for (int i = done; i < plan->end_bucket; i++)
            moved |= try_update(u, i, team);
        while (done < plan->end_bucket && test_done(u, done)) {
            done++;
            moved = true;
        }
        if (moved)
            since = dlb_clock_ns();
        else
            wait_a_little(u, team, since);
    }
}

/* All sums, then all norms, then all updates. */
static void finish_with_norms(dlb_updates *u, const dlb_group *plan, dlk_team *team)
{
    int64_t since = dlb_clock_ns();
    for (int i = plan->first_bucket; i < plan->end_bucket;) {
        if (!claim(u, i)) {
            wait_a_little(u, team, since);
            continue;
        }
        run_slice(u, i++, true, false, team);
        since = dlb_clock_ns();
    }
    dlb_norms_agree(u->norms, u->options.comm, u->options.optimizer);
    for (int i = plan->first_bucket; i < plan->end_bucket; i++) {
        run_slice(u, i, false, true, team);
        share(u, i);
    }
    finish_buckets(u, plan, team);
}

static void run_finish(void *self, void *context, dlk_team *team)
{
    (void)context;
    group *g = self;
    dlb_updates *u = g->updates;
    int64_t start = dlb_clock_ns();
    double waited_before = u->times.wait_s;
    if (!joins(u))
        start_group(u, g->plan);
    atomic_store(&u->finishing, true);
    if (u->norms)
        finish_with_norms(u, g->plan, team);
    else
        finish_buckets(u, g->plan, team);
    account(u, team, start, u->times.wait_s - waited_before);
    atomic_store(&u->finishing, false);
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
    piece_job job = make_job(u, index, 1);
    job.sum = job.update = true;
    for (int piece = 0; piece < pieces_of(&job); piece++)
        run_piece(&job, piece, 0);
    share(u, index);
}

static void advance_between(dlb_updates *u)
{
    int64_t start = dlb_clock_ns();
    dlb_exchange_poll(u->options.exchange);
    for (int i = 0; !u->norms && i < u->options.buckets->bucket_count; i++)
        if (claim(u, i))
            update_between(u, i);
    double update_s = take(&u->update_ns, u);
    double all_s = 1e-9 * (double)(dlb_clock_ns() - start) / u->options.threads;
    add_time(u, &u->times.between_update_s, update_s);
    add_time(u, &u->times.between_s, all_s);
    add_time(u, &u->times.exposed_s, all_s - update_s);
}

void dlb_updates_between(void *updates)
{
    dlb_updates *u = updates;
    if (atomic_load(&u->started) == 0 || atomic_load(&u->finishing))
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

static dlb_op make_op(const dlb_block *first, const dlb_block *last, const char *what,
                      dlb_op_fn *run, group *g)
{
    dlb_op op = {.phase = DLB_PHASE_UPDATE, .operation = DLK_OP_COUNT, .run = run, .self = g};
    dlb_op_name(&op, first->layer->name, last->layer->name, what);
    return op;
}

static group *group_of(const dlb_updates *u, const dlb_block *block)
{
    return &u->groups[dlb_buckets_group_of(u->options.buckets, block->index)];
}

static void add_join(dlb_updates *u, dlb_program *program, const dlb_block *block)
{
    group *g = group_of(u, block);
    dlb_op op = make_op(block, block, "ready", run_join, g);
    dlb_op_reads(&op, block->gradient_buffer);
    dlb_op_writes(&op, block->parameter_buffer);
    dlb_op_writes(&op, g->operand);
    dlb_op_writes(&op, u->order);
    dlb_program_add(program, &op);
}

_Static_assert(DLB_FUSED_SMALL + 1 <= DLB_OP_OPERANDS, "room for the operands of a group");

static void add_finish(dlb_updates *u, dlb_program *program, group *g)
{
    const dlb_group *plan = g->plan;
    const dlb_block *first = dlb_graph_block(u->options.graph, plan->first_block);
    const dlb_block *last = dlb_graph_block(u->options.graph, plan->end_block - 1);
    dlb_op op = make_op(first, last, "update", run_finish, g);
    dlb_op_writes(&op, g->operand);
    if (joins(u)) /* one after the other, when all are started */
        dlb_op_writes(&op, u->order);
    for (int i = plan->first_block; !joins(u) && i < plan->end_block; i++) {
        const dlb_block *block = dlb_graph_block(u->options.graph, i);
        dlb_op_reads(&op, block->gradient_buffer);
        dlb_op_writes(&op, block->parameter_buffer);
    }
    dlb_program_add(program, &op);
}

/* The last of its group's gradients to become final. */
static bool completes_group(const dlb_updates *u, const dlb_block *block)
{
    return block->index == group_of(u, block)->plan->first_block;
}

void dlb_updates_add(void *updates, dlb_program *program, const dlb_block *block, bool ends_step)
{
    dlb_updates *u = updates;
    if (block)
        dlb_accumulator_add_op(u->options.accumulator, program, block);
    if (!ends_step)
        return;
    if (block && joins(u))
        add_join(u, program, block);
    else if (block && completes_group(u, block))
        add_finish(u, program, group_of(u, block));
    for (int i = 0; !block && joins(u) && i < u->options.buckets->group_count; i++)
        add_finish(u, program, &u->groups[i]);
}

/* ---- Life ---- */

size_t dlb_updates_slices(dlb_exchange *exchange, const dlb_buckets *buckets)
{
    size_t floats = 0;
    for (int i = 0; i < buckets->bucket_count; i++) {
        dlb_range slice = dlb_exchange_slice(exchange, i);
        floats += slice.end - slice.first;
    }
    return floats;
}

static void lay_out_state(dlb_updates *u)
{
    size_t state = 0;
    for (int i = 0; i < u->options.buckets->bucket_count; i++) {
        dlb_range slice = dlb_exchange_slice(u->options.exchange, i);
        u->buckets[i] = (bucket){.slice = slice, .state = state};
        state += slice.end - slice.first;
    }
}

dlb_updates *dlb_updates_create(const dlb_updates_options *options)
{
    dlb_updates *u = dlb_alloc(1, sizeof *u);
    const dlb_buckets *plan = options->buckets;
    u->options = *options;
    u->alone = dlb_comm_size(options->comm) == 1;
    if (options->norms)
        u->norms = dlb_norms_create(options->graph);
    u->losses = dlb_alloc((size_t)options->workers, sizeof *u->losses);
    u->buckets = dlb_alloc((size_t)plan->bucket_count, sizeof *u->buckets);
    lay_out_state(u);
    u->groups = dlb_alloc((size_t)plan->group_count, sizeof *u->groups);
    for (int i = 0; i < plan->group_count; i++)
        u->groups[i] = (group){.updates = u,
                               .plan = &plan->groups[i],
                               .operand = dlb_graph_new_operand(options->graph)};
    u->order = dlb_graph_new_operand(options->graph);
    pthread_mutex_init(&u->lock, NULL);
    return u;
}

void dlb_updates_free(dlb_updates *u)
{
    if (!u)
        return;
    pthread_mutex_destroy(&u->lock);
    dlb_norms_free(u->norms);
    free(u->groups);
    free(u->buckets);
    free(u->losses);
    free(u);
}

/* ---- Steps ---- */

void dlb_updates_begin_step(dlb_updates *u, double lr, const dlb_own_step *mine)
{
    dlb_optimizer_begin_step(u->options.optimizer, lr);
    if (u->norms)
        dlb_norms_begin(u->norms);
    for (int i = 0; i < u->options.buckets->bucket_count; i++)
        u->buckets[i].stage = IDLE;
    for (int i = 0; i < u->options.buckets->group_count; i++)
        u->groups[i].joined = 0;
    u->mine = *mine;
    atomic_store(&u->started, 0);
    atomic_store(&u->next_between_ns, 0);
}

int dlb_updates_end_step(dlb_updates *u, const dlb_arrival **everyones, dlb_error *err)
{
    if (!u->alone)
        u->times.comm_s += 1e-9 * (double)(dlb_clock_ns() - u->first_start_ns);
    int64_t since = dlb_clock_ns();
    while (!(*everyones = dlb_exchange_arrivals(u->options.exchange)) &&
           dlb_exchange_check(u->options.exchange, err) == 0)
        dlb_exchange_pause(u->options.exchange, since);
    if (!u->alone)
        u->times.exposed_s += 1e-9 * (double)(dlb_clock_ns() - since);
    atomic_store(&u->started, 0);
    return dlb_exchange_check(u->options.exchange, err);
}

dlb_updates_times dlb_updates_take_times(dlb_updates *u)
{
    dlb_updates_times times = u->times;
    u->times = (dlb_updates_times){0};
    return times;
}

/* ---- The optimizer's state as a whole ---- */

int dlb_updates_collect_state(dlb_updates *u, int index, float *whole, dlb_error *err)
{
    const float *state = dlb_optimizer_state(u->options.optimizer, index);
    for (int i = 0; i < u->options.buckets->bucket_count; i++) {
        const bucket *b = &u->buckets[i];
        memcpy(whole + b->slice.first, state + b->state,
               (b->slice.end - b->slice.first) * sizeof *whole);
    }
    return dlb_exchange_collect(u->options.exchange, whole, err);
}

void dlb_updates_spread_state(dlb_updates *u, int index, const float *whole)
{
    float *state = dlb_optimizer_state(u->options.optimizer, index);
    for (int i = 0; i < u->options.buckets->bucket_count; i++) {
        const bucket *b = &u->buckets[i];
        memcpy(state + b->state, whole + b->slice.first,
               (b->slice.end - b->slice.first) * sizeof *whole);
    }
}
