#include "cli/bench_ways.h"

#include <math.h>

#include "base/clock.h"
#include "base/mem.h"

/* ---- What all have in common ---- */

static void fill(const dlb_comm *comm, float *values, size_t count)
{
    float own = (float)dlb_comm_rank(comm) + 1;
    for (size_t i = 0; i < count; i++)
        values[i] = own;
}

static double sum_of_all(const dlb_comm *comm)
{
    double ranks = dlb_comm_size(comm);
    return ranks * (ranks + 1) / 2;
}

static int check(const float *values, size_t count, double expected, dlb_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs(values[i] - expected) <= 1e-3 * fabs(expected)))
            return dlb_fail(err, DLB_FAIL, "number %zu of %zu is %g instead of %g", i, count,
                            values[i], expected);
    return 0;
}

/* The same gradient in every step moves every parameter by the learning rate, with adam. */
static double updated(const dlb_optimizer *optimizer, const dlb_workload *workload)
{
    return -workload->lr * (double)dlb_optimizer_steps(optimizer);
}

static int make_optimizer(dlb_optimizer **optimizer, const dlb_bench_task *task, size_t count,
                          dlb_error *err)
{
    *optimizer = NULL;
    if (!task->kernels)
        return 0;
    return dlb_optimizer_create(optimizer, task->kernels, task->workload, count, err);
}

static int make_array(float **array, size_t count, dlb_error *err)
{
    *array = dlb_try_alloc(count, sizeof **array);
    return *array ? 0 : dlb_fail(err, DLB_FAIL, "no memory for %zu bytes", count * sizeof **array);
}

/* ---- Exchange ---- */

struct dlb_bench_exchange {
    dlb_bench_task task;
    dlb_exchange *exchange;
    int bucket_count;
    dlb_range *buckets;
    size_t *states; /* where the optimizer's state of each bucket's slice begins */
    bool *sharing;  /* each bucket: summed and shared in this run */
    dlb_optimizer *optimizer;
};

static void cut_buckets(dlb_bench_exchange *x, size_t bucket)
{
    size_t count = x->task.count;
    x->bucket_count = (int)((count + bucket - 1) / bucket);
    x->buckets = dlb_alloc((size_t)x->bucket_count, sizeof *x->buckets);
    x->states = dlb_alloc((size_t)x->bucket_count, sizeof *x->states);
    x->sharing = dlb_alloc((size_t)x->bucket_count, sizeof *x->sharing);
    for (int b = 0; b < x->bucket_count; b++) {
        size_t first = (size_t)b * bucket;
        x->buckets[b] = (dlb_range){first, count - first < bucket ? count : first + bucket};
    }
}

/* Returns the floats of all slices. */
static size_t lay_out_state(dlb_bench_exchange *x)
{
    size_t state = 0;
    for (int b = 0; b < x->bucket_count; b++) {
        dlb_range slice = dlb_exchange_slice(x->exchange, b);
        x->states[b] = state;
        state += slice.end - slice.first;
    }
    return state;
}

int dlb_bench_exchange_create(dlb_bench_exchange **exchange, const dlb_bench_task *task,
                              dlb_exchange_kind kind, size_t bucket, dlb_error *err)
{
    char note[256];
    dlb_bench_exchange *x = dlb_alloc(1, sizeof *x);
    x->task = *task;
    cut_buckets(x, bucket);
    dlb_exchange_options options = {.kind = kind,
                                    .count = task->count,
                                    .bucket_count = x->bucket_count,
                                    .buckets = x->buckets,
                                    .radix = (int)task->workload->comm_radix};
    int status = dlb_exchange_create(&x->exchange, task->comm, &options, note, err);
    if (status == 0)
        status = dlb_comm_agree(task->comm,
                                make_optimizer(&x->optimizer, task, lay_out_state(x), err), err);
    if (status < 0) {
        dlb_bench_exchange_free(x);
        return status;
    }
    *exchange = x;
    return 0;
}

void dlb_bench_exchange_free(dlb_bench_exchange *x)
{
    if (!x)
        return;
    dlb_optimizer_free(x->optimizer);
    dlb_exchange_free(x->exchange);
    free(x->sharing);
    free(x->states);
    free(x->buckets);
    free(x);
}

static void finish_piece(dlb_bench_exchange *x, int bucket, dlb_range piece)
{
    float *gradients = dlb_exchange_gradients(x->exchange) + piece.first;
    float *parameters = dlb_exchange_parameters(x->exchange) + piece.first;
    size_t count = piece.end - piece.first;
    dlb_exchange_sum(x->exchange, bucket, piece);
    if (!x->optimizer) {
        memcpy(parameters, gradients, count * sizeof *parameters);
        return;
    }
    size_t within = piece.first - dlb_exchange_slice(x->exchange, bucket).first;
    dlb_optimizer_update(x->optimizer, x->states[bucket] + within, count, 1, gradients, parameters);
}

/* Piece by piece, so that a piece is still in cache after it was summed. */
static void finish_bucket(dlb_bench_exchange *x, int bucket, size_t piece)
{
    dlb_range slice = dlb_exchange_slice(x->exchange, bucket);
    for (size_t first = slice.first; first < slice.end; first += piece) {
        size_t end = slice.end - first < piece ? slice.end : first + piece;
        finish_piece(x, bucket, (dlb_range){first, end});
    }
    dlb_exchange_share(x->exchange, bucket);
    x->sharing[bucket] = true;
}

static void start_all(dlb_bench_exchange *x)
{
    for (int b = 0; b < x->bucket_count; b++) {
        dlb_exchange_start(x->exchange, b);
        x->sharing[b] = false;
    }
}

/* Whatever bucket has arrived, of those from the first that is not done with. */
static void finish_all(dlb_bench_exchange *x, size_t piece)
{
    int64_t since = dlb_clock_ns();
    for (int done = 0; done < x->bucket_count;) {
        bool moved = false;
        for (int b = done; b < x->bucket_count; b++)
            if (!x->sharing[b] && dlb_exchange_arrived(x->exchange, b)) {
                finish_bucket(x, b, piece);
                moved = true;
            }
        for (; done < x->bucket_count && x->sharing[done]; done++, moved = true)
            if (!dlb_exchange_shared(x->exchange, done))
                break;
        if (moved)
            since = dlb_clock_ns();
        else
            dlb_exchange_pause(x->exchange, since);
    }
}

static void prepare_exchange(void *self)
{
    const dlb_bench_exchange *x = ((dlb_bench_pieces *)self)->exchange;
    fill(x->task.comm, dlb_exchange_gradients(x->exchange), x->task.count);
}

static int run_exchange(void *self, dlb_error *err)
{
    const dlb_bench_pieces *pieces = self;
    dlb_bench_exchange *x = pieces->exchange;
    if (x->optimizer)
        dlb_optimizer_begin_step(x->optimizer, x->task.workload->lr);
    start_all(x);
    finish_all(x, pieces->piece);
    return dlb_exchange_check(x->exchange, err);
}

static int check_exchange(void *self, dlb_error *err)
{
    const dlb_bench_exchange *x = ((dlb_bench_pieces *)self)->exchange;
    double expected =
        x->optimizer ? updated(x->optimizer, x->task.workload) : sum_of_all(x->task.comm);
    return check(dlb_exchange_parameters(x->exchange), x->task.count, expected, err);
}

dlb_bench_way dlb_bench_exchange_way(const char *name, dlb_bench_pieces *pieces)
{
    return (dlb_bench_way){.name = name,
                           .self = pieces,
                           .prepare = prepare_exchange,
                           .run = pieces->exchange ? run_exchange : NULL,
                           .check = check_exchange};
}

/* ---- MPI_Allreduce ---- */

struct dlb_bench_allreduce {
    dlb_bench_task task;
    float *gradients, *parameters; /* parameters: with an optimizer only */
    dlb_optimizer *optimizer;
};

int dlb_bench_allreduce_create(dlb_bench_allreduce **allreduce, const dlb_bench_task *task,
                               dlb_error *err)
{
    dlb_bench_allreduce *a = dlb_alloc(1, sizeof *a);
    a->task = *task;
    int status = make_array(&a->gradients, task->count, err);
    if (status == 0)
        status = make_optimizer(&a->optimizer, task, task->count, err);
    if (status == 0 && a->optimizer)
        status = make_array(&a->parameters, task->count, err);
    status = dlb_comm_agree(task->comm, status, err);
    if (status < 0) {
        dlb_bench_allreduce_free(a);
        return status;
    }
    *allreduce = a;
    return 0;
}

void dlb_bench_allreduce_free(dlb_bench_allreduce *a)
{
    if (!a)
        return;
    free(a->parameters);
    dlb_optimizer_free(a->optimizer);
    free(a->gradients);
    free(a);
}

static void prepare_allreduce(void *self)
{
    const dlb_bench_allreduce *a = self;
    fill(a->task.comm, a->gradients, a->task.count);
}

static int run_allreduce(void *self, dlb_error *err)
{
    const dlb_bench_allreduce *a = self;
    int status = dlb_comm_mpi_allreduce(a->task.comm, a->gradients, a->task.count, err);
    if (status < 0 || !a->optimizer)
        return status;
    dlb_optimizer_begin_step(a->optimizer, a->task.workload->lr);
    dlb_optimizer_update(a->optimizer, 0, a->task.count, 1, a->gradients, a->parameters);
    return 0;
}

static int check_allreduce(void *self, dlb_error *err)
{
    const dlb_bench_allreduce *a = self;
    if (a->optimizer)
        return check(a->parameters, a->task.count, updated(a->optimizer, a->task.workload), err);
    return check(a->gradients, a->task.count, sum_of_all(a->task.comm), err);
}

dlb_bench_way dlb_bench_allreduce_way(const char *name, dlb_bench_allreduce *allreduce)
{
    return (dlb_bench_way){.name = name,
                           .self = allreduce,
                           .prepare = prepare_allreduce,
                           .run = run_allreduce,
                           .check = check_allreduce};
}

/* ---- Copy ---- */

struct dlb_bench_copy {
    dlb_bench_task task;
    float *from, *to;
};

int dlb_bench_copy_create(dlb_bench_copy **copy, const dlb_bench_task *task, dlb_error *err)
{
    dlb_bench_copy *c = dlb_alloc(1, sizeof *c);
    c->task = *task;
    int status = make_array(&c->from, task->count, err);
    if (status == 0)
        status = make_array(&c->to, task->count, err);
    status = dlb_comm_agree(task->comm, status, err);
    if (status < 0) {
        dlb_bench_copy_free(c);
        return status;
    }
    *copy = c;
    return 0;
}

void dlb_bench_copy_free(dlb_bench_copy *c)
{
    if (!c)
        return;
    free(c->to);
    free(c->from);
    free(c);
}

static void prepare_copy(void *self)
{
    const dlb_bench_copy *c = self;
    fill(c->task.comm, c->from, c->task.count);
}

/* A compiler may not leave out a copy that nobody has read yet. */
static int run_copy(void *self, dlb_error *err)
{
    (void)err;
    const dlb_bench_copy *c = self;
    memcpy(c->to, c->from, c->task.count * sizeof *c->to);
    __asm__ volatile("" ::: "memory");
    return 0;
}

static int check_copy(void *self, dlb_error *err)
{
    const dlb_bench_copy *c = self;
    return check(c->to, c->task.count, dlb_comm_rank(c->task.comm) + 1, err);
}

dlb_bench_way dlb_bench_copy_way(const char *name, dlb_bench_copy *copy)
{
    return (dlb_bench_way){
        .name = name, .self = copy, .prepare = prepare_copy, .run = run_copy, .check = check_copy};
}
