#include <math.h>

#include "base/clock.h"
#include "base/mem.h"
#include "graph/cost.h"
#include "measure/memory.h"
#include "train/defaults.h"
#include "train/init.h"
#include "train/session_state.h"

/* By name, so that a new choice in keys.def needs no word here. */
static dlk_family chosen_family(const dlb_workload *w)
{
    const char *name = dlb_key_info(DLB_KEY_kernels)->choices[w->kernels];
    dlk_family family = DLK_FAMILY_AUTO;
    while (strcmp(dlk_family_name(family), name) != 0)
        family++;
    return family;
}

static dlk_isa chosen_isa(const dlb_workload *w)
{
    const char *name = dlb_key_info(DLB_KEY_isa)->choices[w->isa];
    dlk_isa isa = DLK_ISA_AUTO;
    while (strcmp(dlk_isa_name(isa), name) != 0)
        isa++;
    return isa;
}

static int check_fit(const dlb_session *s, dlb_error *err)
{
    const dlb_dataset *d = &s->data.train;
    dlb_shape in = s->model.input;
    if (d->h != in.h || d->w != in.w || d->c != in.c)
        return dlb_fail(err, DLB_BAD_INPUT, "%s: images of %dx%dx%d, but %s takes %dx%dx%d",
                        s->data.source, d->h, d->w, d->c, s->model.name, in.h, in.w, in.c);
    if (d->classes > s->model.classes)
        return dlb_fail(err, DLB_BAD_INPUT, "%s: %d classes, but %s tells only %d apart",
                        s->data.source, d->classes, s->model.name, s->model.classes);
    if (s->workload.drop_last && s->workload.batch > d->count)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "drop_last with batch = %lld leaves nothing of %d training images; take a "
                        "smaller batch",
                        s->workload.batch, d->count);
    return 0;
}

/* The user's own choice of OpenBLAS kernels overrules `isa`, so it belongs beside the result. */
static int select_kernels(dlb_session *s, dlb_error *err)
{
    int status =
        dlk_kernels_select(&s->kernels, chosen_family(&s->workload), chosen_isa(&s->workload), err);
    const char *users_core = getenv("OPENBLAS_CORETYPE");
    if (status == 0 && users_core && *users_core)
        dlb_notes_add(&s->notes, "kernels: %s", s->kernels.detail);
    return status;
}

static int load_data(dlb_session *s, dlb_error *err)
{
    const dlb_workload *w = &s->workload;
    /* Synthetic data is the same for every seed: repeats of a run differ by nothing else. */
    dlb_data_source source = {.name = w->data,
                              .train_images = (int)w->train_images,
                              .test_images = (int)w->test_images,
                              .h = s->model.input.h,
                              .w = s->model.input.w,
                              .c = s->model.input.c,
                              .classes = s->model.classes};
    int status = dlb_data_load(&s->data, &source, err);
    return status < 0 ? status : check_fit(s, err);
}

static int create_loaders(dlb_session *s, dlb_error *err)
{
    const dlb_workload *w = &s->workload;
    dlb_loader_options options = {.set = &s->data.train,
                                  .batch = (int)w->batch,
                                  .drop_last = w->drop_last,
                                  .shuffle = w->shuffle == DLB_shuffle_global,
                                  .readers = (int)w->readers,
                                  .mean = (float)s->model.mean,
                                  .std = (float)s->model.std,
                                  .seed = (uint32_t)w->seed};
    int status = dlb_loader_create(&s->train_loader, &options, err);
    if (status < 0)
        return status;
    options.set = &s->data.test;
    options.drop_last = false;
    options.shuffle = false;
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
                                .spin_ns = s->threads.spin_ns,
                                .on_enter = sample_placement,
                                .on_enter_arg = s->placement};
    return dlb_pool_create(&s->pool, &options, err);
}

/* What the buffers of the graph may take: all that is free, less the optimizer's state. */
static size_t memory_for_graph(const dlb_session *s)
{
    size_t available = dlb_memory_free();
    size_t state = dlb_optimizer_bytes(&s->workload, (size_t)dlb_model_parameters(&s->model));
    if (available == 0)
        return 0;
    return available > state ? available - state : 1;
}

static int create_network(dlb_session *s, dlb_error *err)
{
    const dlb_workload *w = &s->workload;
    int largest =
        s->data.train.count > s->data.test.count ? s->data.train.count : s->data.test.count;
    int batch = w->batch < largest ? (int)w->batch : largest;
    int status =
        dlb_graph_create(&s->graph, &s->model, batch, &s->kernels, memory_for_graph(s), err);
    if (status < 0)
        return status;
    s->optimizer = dlb_optimizer_create(s->graph, &s->kernels, w);
    dlb_graph_seal(s->graph);
    dlb_init_parameters(s->graph, s->model.init, (uint32_t)w->seed);
    s->flops_per_image = dlb_model_train_cost(&s->model, 1).flops;
    s->flops_per_update = dlb_optimizer_flops(s->optimizer);
    return 0;
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

static int build(dlb_session *s, dlb_error *err)
{
    int status = dlb_model_load(&s->model, s->workload.model, err);
    if (status == 0)
        status = dlb_defaults_apply(&s->model, &s->workload, err);
    if (status == 0)
        status = select_kernels(s, err);
    if (status == 0)
        status = load_data(s, err);
    if (status == 0) /* before OpenMP starts: readers inherit the mask of this thread */
        status = create_loaders(s, err);
    if (status == 0)
        status = dlb_threads_set_up(&s->threads, &s->workload, &s->notes, err);
    if (status == 0)
        status = create_network(s, err);
    if (status == 0)
        status = create_pool(s, err);
    if (status == 0)
        status = create_measures(s, err);
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
    int status = build(s, err);
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
    dlb_trace_free(s->trace);
    dlb_energy_free(s->energy);
    dlb_counters_free(s->counters);
    dlb_optimizer_free(s->optimizer);
    dlb_pool_free(s->pool);
    dlb_placement_free(s->placement);
    dlb_graph_free(s->graph);
    dlb_loader_free(s->test_loader);
    dlb_loader_free(s->train_loader);
    dlb_data_release(&s->data);
    dlb_model_release(&s->model);
    dlb_workload_release(&s->workload);
    dlb_notes_release(&s->notes);
    free(s->epochs);
    free(s);
}
