#include <limits.h>
#include <math.h>

#include "base/clock.h"
#include "base/mem.h"
#include "dlk/gemm.h"
#include "graph/cost.h"
#include "measure/memory.h"
#include "train/choice.h"
#include "train/defaults.h"
#include "train/fit.h"
#include "train/identity.h"
#include "train/init.h"
#include "train/ranks.h"
#include "train/session_state.h"

/* ---- Workers ---- */

/* DLBENCH_NODE_RANKS divides a host into nodes of that many ranks, to try out several nodes. */
static int pretended_node_ranks(int *node_ranks, dlb_error *err)
{
    const char *text = getenv("DLBENCH_NODE_RANKS");
    long long ranks = 0;
    if (text && *text && (!dlb_parse_int(text, &ranks) || ranks < 1 || ranks > INT_MAX))
        return dlb_fail(err, DLB_BAD_INPUT,
                        "DLBENCH_NODE_RANKS = '%.80s' in the environment is not a number of ranks",
                        text);
    *node_ranks = (int)ranks;
    return 0;
}

static int connect_ranks(dlb_session *s, dlb_error *err)
{
    dlb_comm_options options = {.ranks = (int)s->workload.ranks,
                                .hang_s = (double)s->workload.hang_timeout,
                                .many_threads = true};
    if (pretended_node_ranks(&options.node_ranks, err) < 0)
        return DLB_BAD_INPUT;
    return dlb_comm_create(&s->comm, &options, err);
}

/* Keys that leave their value to the number of ranks get it; contradictions show only then. */
static int resolve_workers(dlb_session *s, dlb_error *err)
{
    dlb_workload *w = &s->workload;
    w->ranks = dlb_comm_size(s->comm);
    if (w->workers == 0)
        w->workers = w->ranks;
    s->workers = (int)w->workers;
    s->own_workers = s->workers / (int)w->ranks;
    return dlb_workload_check(w, err);
}

/* The user's own choice of OpenBLAS kernels overrules `isa`, so it belongs beside the result. */
static int select_kernels(dlb_session *s, dlb_error *err)
{
    int status = dlb_choose_kernels(&s->kernels, &s->workload, err);
    const char *users_core = getenv("OPENBLAS_CORETYPE");
    dlk_gemm_info info;
    if (status == 0 && s->kernels.family == DLK_FAMILY_SIMD &&
        s->kernels.origin[DLK_OP_conv2d_forward] == DLK_FAMILY_REF)
        dlb_notes_add(&s->notes, "without OpenBLAS, layers that are not fused are slow");
    if (status == 0 && users_core && *users_core && dlk_gemm_describe(&info))
        dlb_notes_add(&s->notes, "OpenBLAS computes as %s, by OPENBLAS_CORETYPE", info.core);
    return status;
}

static int load_data(dlb_session *s, dlb_error *err)
{
    const dlb_workload *w = &s->workload;
    int status =
        dlb_fit_load(&s->data, &s->model, w->data, (int)w->train_images, (int)w->test_images, err);
    if (status == 0)
        status = dlb_workload_check_images(&s->workload, s->data.train.count, err);
    return status;
}

static dlb_shuffle chosen_shuffle(const dlb_workload *w)
{
    static const dlb_shuffle shuffles[] = {[DLB_shuffle_global] = DLB_SHUFFLE_GLOBAL,
                                           [DLB_shuffle_shard] = DLB_SHUFFLE_SHARD,
                                           [DLB_shuffle_none] = DLB_SHUFFLE_NONE};
    return shuffles[w->shuffle];
}

/* Where the share of a rank, of `count` things, begins. */
static int share_of(int count, int rank, int ranks)
{
    return (int)((long long)count * rank / ranks);
}

/* In evaluation each batch is a worker with one step, so that any rank can take any of them. */
static void share_tests(dlb_session *s, dlb_loader_options *options)
{
    int rank = dlb_comm_rank(s->comm), ranks = dlb_comm_size(s->comm);
    int batch = (int)s->workload.batch, images = s->data.test.count;
    s->test_batches = (images + batch - 1) / batch;
    options->set = &s->data.test;
    options->drop_last = false;
    options->shuffle = DLB_SHUFFLE_NONE;
    options->workers = s->test_batches;
    options->first_worker = share_of(s->test_batches, rank, ranks);
    options->worker_count = share_of(s->test_batches, rank + 1, ranks) - options->first_worker;
    s->own_test_batches = options->worker_count;
}

static int create_loaders(dlb_session *s, dlb_error *err)
{
    const dlb_workload *w = &s->workload;
    dlb_loader_options options = {.set = &s->data.train,
                                  .batch = (int)w->batch,
                                  .drop_last = w->drop_last,
                                  .shuffle = chosen_shuffle(w),
                                  .workers = s->workers,
                                  .first_worker = dlb_comm_rank(s->comm) * s->own_workers,
                                  .worker_count = s->own_workers,
                                  .readers = (int)w->readers,
                                  .pixels = dlb_graph_takes_pixels(&s->model, &s->kernels),
                                  .mean = s->model.mean,
                                  .std = s->model.std,
                                  .seed = (uint32_t)w->seed};
    if (options.pixels && w->readers > 1)
        dlb_notes_add(&s->notes, "readers are not used: the first layers read images as bytes");
    int status = dlb_loader_create(&s->train_loader, &options, err);
    if (status < 0)
        return status;
    share_tests(s, &options);
    return dlb_loader_create(&s->test_loader, &options, err);
}

static void sample_placement(void *placement, int thread)
{
    dlb_placement_sample(placement, thread);
}

static int create_pool(dlb_session *s, dlb_error *err)
{
    s->placement = dlb_placement_create(s->threads.intra_op);
    dlb_pool_options options = {.threads = s->threads.intra_op,
                                .teams = s->threads.inter_op,
                                .scratch_floats = dlb_graph_scratch_floats(s->graph),
                                .shared_floats = dlb_graph_shared_floats(s->graph),
                                .spin_ns = s->threads.spin_ns,
                                .on_enter = sample_placement,
                                .on_enter_arg = s->placement};
    if (dlb_exchange_needs_poll(s->exchange)) {
        options.between = dlb_updates_between;
        options.between_arg = s->updates;
    }
    int status = dlb_graph_make_room(s->graph, s->threads.intra_op, s->threads.inter_op, err);
    if (status == 0)
        status = dlb_pool_create(&s->pool, &options, err);
    if (status == 0)
        dlb_pool_each(s->pool, dlb_threads_spread, &s->threads);
    return status;
}

/*
 * What the buffers of the graph may take: this rank's share of all that is free, less what else a
 * parameter needs: itself, gradients, what messages are received into, the optimizer's state.
 */
static size_t memory_for_graph(const dlb_session *s)
{
    size_t available = dlb_memory_free() / (size_t)dlb_comm_local_size(s->comm);
    size_t parameters = (size_t)dlb_model_parameters(&s->model);
    size_t arrays = 2 + (size_t)dlb_accumulator_slots(s->own_workers);
    size_t others =
        dlb_optimizer_bytes(&s->workload, parameters) + arrays * parameters * sizeof(float);
    if (available == 0)
        return 0;
    return available > others ? available - others : 1;
}

static int create_graph(dlb_session *s, dlb_error *err)
{
    int most = s->data.train.count > s->data.test.count ? s->data.train.count : s->data.test.count;
    int batch = s->workload.batch < most ? (int)s->workload.batch : most;
    s->flops_per_image = dlb_model_train_cost(&s->model, 1).flops;
    return dlb_graph_create(&s->graph, &s->model, batch, &s->kernels, memory_for_graph(s), err);
}

/* ---- From gradients to updates ---- */

static dlb_fusion chosen_fusion(const dlb_session *s)
{
    if (dlb_optimizer_needs_norms(&s->workload))
        return DLB_FUSE_ALL; /* all norms come before any update */
    return dlb_comm_size(s->comm) == 1 ? DLB_FUSE_SMALL : DLB_FUSE_TO_LIMIT;
}

static size_t floats_of_kb(long long kb)
{
    return (size_t)kb * 1024 / sizeof(float);
}

static int create_exchange(dlb_session *s, dlb_error *err)
{
    static const dlb_exchange_kind kinds[] = {[DLB_comm_auto] = DLB_EXCHANGE_AUTO,
                                              [DLB_comm_single] = DLB_EXCHANGE_SINGLE,
                                              [DLB_comm_mpi] = DLB_EXCHANGE_MPI,
                                              [DLB_comm_shm] = DLB_EXCHANGE_SHM};
    const dlb_workload *w = &s->workload;
    char note[256] = "";
    dlb_buckets_init(&s->buckets, s->graph, floats_of_kb(w->comm_bucket_kb), chosen_fusion(s));
    dlb_exchange_options options = {.kind = kinds[w->comm],
                                    .count = dlb_graph_size(s->graph),
                                    .bucket_count = s->buckets.bucket_count,
                                    .buckets = s->buckets.buckets,
                                    .radix = (int)w->comm_radix};
    int status = dlb_exchange_create(&s->exchange, s->comm, &options, note, err);
    if (status == 0 && *note)
        dlb_notes_add(&s->notes, "comm: %s", note);
    return status;
}

static int create_updates(dlb_session *s, dlb_error *err)
{
    size_t slices = dlb_updates_slices(s->exchange, &s->buckets);
    int status = dlb_optimizer_create(&s->optimizer, &s->kernels, &s->workload, slices, err);
    if (status == 0)
        status = dlb_accumulator_create(&s->accumulator, s->graph, s->own_workers,
                                        dlb_exchange_gradients(s->exchange), err);
    if (status < 0)
        return status;
    dlb_updates_options options = {.graph = s->graph,
                                   .comm = s->comm,
                                   .exchange = s->exchange,
                                   .buckets = &s->buckets,
                                   .accumulator = s->accumulator,
                                   .workers = s->own_workers,
                                   .optimizer = s->optimizer,
                                   .norms = dlb_optimizer_needs_norms(&s->workload),
                                   .piece = floats_of_kb(s->workload.comm_piece_kb),
                                   .threads = s->threads.intra_op};
    s->updates = dlb_updates_create(&options);
    dlb_graph_seal(s->graph, dlb_exchange_parameters(s->exchange), dlb_updates_add, s->updates);
    s->flops_per_update =
        dlb_optimizer_flops(s->optimizer, (size_t)dlb_model_parameters(&s->model));
    return 0;
}

/* All ranks could make the same weights; that they have the same is certain only so. */
static int set_initial_weights(dlb_session *s, dlb_error *err)
{
    if (dlb_comm_rank(s->comm) == 0)
        dlb_init_parameters(s->graph, s->model.init, (uint32_t)s->workload.seed);
    return dlb_exchange_broadcast(s->exchange, err);
}

static void prepare_steps(dlb_session *s)
{
    s->results = dlb_alloc((size_t)s->own_workers, sizeof *s->results);
    s->losses = dlb_alloc((size_t)dlb_comm_size(s->comm), sizeof *s->losses);
    s->test_sums = dlb_alloc(2 * (size_t)s->test_batches + 1, sizeof *s->test_sums);
    dlb_schedule_init(&s->schedule, &s->workload, s->workers, dlb_loader_steps(s->train_loader));
}

static int create_measures(dlb_session *s, dlb_error *err)
{
    s->energy = dlb_energy_create("");
    s->joules = dlb_value_missing("nothing trained yet");
    if (s->hooks.trace)
        s->trace = dlb_trace_create(s->threads.inter_op);
    if (!s->workload.counters[0])
        return 0;
    int status = dlb_counters_create(&s->counters, s->workload.counters, s->threads.intra_op, err);
    for (size_t i = 0; status == 0 && i < dlb_counters_count(s->counters); i++) {
        const char *why = dlb_counters_why(s->counters, i);
        if (why && *why)
            dlb_notes_add(&s->notes, "%s", why);
    }
    return status;
}

/* ---- Together ---- */

/*
 * Threads that are left to us: a rank alone takes all that it may use (train/threads.h), several
 * ranks of a node divide what they may use together.
 */
static int divide_cores(dlb_session *s, dlb_error *err)
{
    dlb_node_cores own, crowded;
    int given, status = dlb_ranks_cores(s->comm, 0, &own, &crowded, err);
    if (status == 0)
        status = dlb_comm_agree(s->comm, dlb_threads_given(&s->workload, &given, err), err);
    if (status == 0 && own.ranks > 1 && given == 0)
        s->workload.threads = own.cpus > own.ranks ? own.cpus / own.ranks : 1;
    return status;
}

/* Ranks of a node count their threads together. */
static int check_cores(dlb_session *s, dlb_error *err)
{
    dlb_node_cores own, crowded;
    int status = dlb_ranks_cores(s->comm, s->threads.intra_op, &own, &crowded, err);
    if (status < 0 || dlb_comm_size(s->comm) == 1)
        return status;
    s->threads.oversubscribed = crowded.threads > crowded.cpus;
    if (s->threads.oversubscribed)
        dlb_notes_add(&s->notes, "%d ranks with %d threads share %d CPU%s of %s", crowded.ranks,
                      crowded.threads, crowded.cpus, crowded.cpus == 1 ? "" : "s", crowded.host);
    return 0;
}

/* What each rank does on its own: no rank waits for another here. */
static int build_own(dlb_session *s, dlb_error *err)
{
    int status = dlb_model_load(&s->model, s->workload.model, err);
    if (status == 0)
        status = dlb_defaults_apply(&s->model, &s->workload, err);
    if (status == 0)
        status = resolve_workers(s, err);
    if (status == 0)
        status = select_kernels(s, err);
    if (status == 0)
        status = load_data(s, err);
    if (status == 0) /* before OpenMP starts: readers inherit the mask of this thread */
        status = create_loaders(s, err);
    if (status == 0)
        status = dlb_threads_set_up(&s->threads, &s->workload, &s->notes, err);
    if (status == 0)
        status = create_graph(s, err);
    return status;
}

static int build_rest(dlb_session *s, dlb_error *err)
{
    int status = create_updates(s, err);
    if (status == 0)
        status = create_pool(s, err);
    if (status == 0)
        status = create_measures(s, err);
    if (status == 0)
        prepare_steps(s);
    return status;
}

static int build(dlb_session *s, const dlb_workload *given, dlb_error *err)
{
    int status = connect_ranks(s, err);
    if (status == 0)
        status = divide_cores(s, err);
    if (status == 0)
        status = dlb_comm_agree(s->comm, build_own(s, err), err);
    if (status == 0)
        status = dlb_identity_check(s->comm, given, s->data.checksum, err);
    if (status == 0)
        status = check_cores(s, err);
    if (status == 0)
        status = create_exchange(s, err);
    if (status == 0)
        status = dlb_comm_agree(s->comm, build_rest(s, err), err);
    if (status == 0)
        status = set_initial_weights(s, err);
    return status;
}

int dlb_session_create(dlb_session **created, const dlb_workload *workload,
                       const dlb_session_hooks *hooks, dlb_error *err)
{
    double start = dlb_clock_s();
    dlb_session *s = dlb_alloc(1, sizeof *s);
    dlb_workload_copy(&s->workload, workload);
    if (hooks)
        s->hooks = *hooks;
    s->time_to_target_s = NAN;
    s->noise_start = dlb_noise_now();
    int status = build(s, workload, err);
    if (status < 0) {
        dlb_session_free(s);
        return status;
    }
    s->setup_s = dlb_clock_s() - start;
    *created = s;
    return 0;
}

void dlb_session_free(dlb_session *s)
{
    if (!s)
        return;
    if (s->updates)
        dlb_updates_settle(s->updates, NULL); /* nothing may be under way when memory goes */
    dlb_trace_free(s->trace);
    dlb_energy_free(s->energy);
    dlb_counters_free(s->counters);
    dlb_pool_free(s->pool);
    dlb_updates_free(s->updates);
    dlb_accumulator_free(s->accumulator);
    dlb_optimizer_free(s->optimizer);
    dlb_exchange_free(s->exchange);
    dlb_buckets_release(&s->buckets);
    dlb_placement_free(s->placement);
    dlb_graph_free(s->graph);
    dlb_loader_free(s->test_loader);
    dlb_loader_free(s->train_loader);
    dlb_data_release(&s->data);
    dlb_model_release(&s->model);
    dlb_comm_free(s->comm);
    dlb_workload_release(&s->workload);
    dlb_notes_release(&s->notes);
    free(s->test_sums);
    free(s->losses);
    free(s->results);
    free(s->records);
    free(s->epochs);
    free(s);
}
