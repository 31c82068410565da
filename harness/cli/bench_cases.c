#include "cli/bench_cases.h"

#include <math.h>

#include "base/mem.h"
#include "record/whole_step.h"

/* Of sgemm and of a call of the triad: as short as slices of kernels are. */
enum { GEMM_SIDE = 512, TRIAD_FLOATS = 1 << 18 };

const char *dlb_case_role_name(dlb_case_role role)
{
    static const char *const names[DLB_CASE_ROLES] = {
        [DLB_CASE_KERNEL] = "kernel",         [DLB_CASE_OTHER] = "other",
        [DLB_CASE_EVALUATION] = "evaluation", [DLB_CASE_STEP] = "step",
        [DLB_CASE_INPUT] = "input",           [DLB_CASE_REFERENCE] = "reference"};
    return names[role];
}

/* ---- The list ---- */

static dlb_bench_case *add(dlb_bench_cases *c, const char *name)
{
    c->list = dlb_grow(c->list, &c->capacity, c->count + 1, sizeof *c->list);
    dlb_bench_case *made = &c->list[c->count++];
    *made = (dlb_bench_case){.kernel = "", .images = 1};
    snprintf(made->name, sizeof made->name, "%s", name);
    return made;
}

static dlb_case_role role_of(const dlb_kernel_row *row)
{
    if (row->alternative)
        return DLB_CASE_OTHER;
    if (row->evaluation)
        return DLB_CASE_EVALUATION;
    return strcmp(row->name, DLB_WHOLE_STEP) == 0 ? DLB_CASE_STEP : DLB_CASE_KERNEL;
}

/* A kernel that the plan does not use computes what another one does: its name tells them apart. */
static void add_row(dlb_bench_cases *c, const dlb_kernel_row *row)
{
    dlb_bench_case *made = add(c, row->name);
    made->kernel = row->kernel;
    made->role = role_of(row);
    made->images = row->images;
    made->cost = row->cost;
    made->call = row->own;
    made->row = row;
    if (row->alternative)
        snprintf(made->name, sizeof made->name, "%s (%s)", row->name, row->kernel);
}

static void add_input(dlb_bench_cases *c)
{
    dlb_bench_case *batch = add(c, "input batch");
    batch->kernel = "loader";
    batch->role = DLB_CASE_INPUT;
    batch->images = (int)c->training.workload.batch;
    batch->cost = dlb_bench_input_batch_cost(c->input);
    batch->call = dlb_bench_input_batch(c->input);
    if (!dlb_bench_input_has_files(c->input))
        return;
    dlb_bench_case *load = add(c, "input files");
    load->kernel = "zlib";
    load->role = DLB_CASE_INPUT;
    load->images = dlb_bench_input_images(c->input);
    load->cost = dlb_bench_input_load_cost(c->input);
    load->call = dlb_bench_input_load(c->input);
}

static void add_references(dlb_bench_cases *c)
{
    for (int i = 0; i < DLB_REFERENCES; i++) {
        dlb_reference which = (dlb_reference)i;
        dlb_bench_case *made = add(c, dlb_reference_name(c->references, which));
        made->role = DLB_CASE_REFERENCE;
        made->cost = dlb_reference_cost(c->references, which);
        made->call = dlb_reference_call(c->references, which);
    }
}

static void make_list(dlb_bench_cases *c, bool others)
{
    const dlb_kernel_plan *p = &c->training.plan;
    for (size_t i = 0; i < p->row_count; i++)
        if (others || !p->rows[i].alternative)
            add_row(c, &p->rows[i]);
    add_input(c);
    add_references(c);
}

/* ---- Threads ---- */

typedef struct errand {
    dlb_bench_cases *cases;
    dlb_bench_lead_fn *fn;
    void *arg;
} errand;

static void lead(void *arg, int team_index, dlk_team *team)
{
    const errand *e = arg;
    (void)team_index;
    dlb_kernel_plan_use(&e->cases->training.plan, team);
    dlb_references_use(e->cases->references, team);
    e->fn(e->arg);
    dlb_kernel_plan_use(&e->cases->training.plan, NULL);
}

void dlb_bench_cases_lead(dlb_bench_cases *c, dlb_bench_lead_fn *fn, void *arg)
{
    errand e = {c, fn, arg};
    if (c->pool)
        dlb_pool_run(c->pool, lead, &e);
    else
        fn(arg);
}

/* Threads wait for the next operation as those of a training do, who have nothing else to do. */
static int make_pool(dlb_bench_cases *c, int threads, dlb_error *err)
{
    const dlb_graph *own = c->training.plan.own.graph, *blas = c->training.plan.blas.graph;
    size_t scratch = dlb_graph_scratch_floats(own), other = dlb_graph_scratch_floats(blas);
    size_t shared = dlb_graph_shared_floats(own), shared_other = dlb_graph_shared_floats(blas);
    dlb_pool_options options = {.threads = threads,
                                .teams = 1,
                                .scratch_floats = scratch > other ? scratch : other,
                                .shared_floats = shared > shared_other ? shared : shared_other,
                                .spin_ns = -1};
    return threads > 1 ? dlb_pool_create(&c->pool, &options, err) : 0;
}

/* ---- Life ---- */

void dlb_bench_cases_init(dlb_bench_cases *c)
{
    *c = (dlb_bench_cases){0};
    dlb_kernel_training_init(&c->training);
}

int dlb_bench_cases_start(dlb_bench_cases *c, const dlb_bench_cases_options *options,
                          dlb_error *err)
{
    dlb_bench_progress silent = {0};
    c->training.threads = options->threads;
    int status = dlb_kernel_training_start(&c->training, options->steps, NAN, &silent, err);
    if (status == 0)
        status = make_pool(c, options->threads, err);
    if (status == 0)
        status = dlb_bench_input_create(&c->input, &c->training, err);
    if (status < 0)
        return status;
    dlb_references_options sizes = {.isa = c->training.plan.blas_kernels.isa,
                                    .threads = options->threads,
                                    .side = GEMM_SIDE,
                                    .triad_floats = TRIAD_FLOATS};
    c->references = dlb_references_create(&sizes);
    make_list(c, options->others);
    return 0;
}

void dlb_bench_cases_release(dlb_bench_cases *c)
{
    free(c->list);
    dlb_references_free(c->references);
    dlb_bench_input_free(c->input);
    dlb_pool_free(c->pool);
    dlb_kernel_training_release(&c->training);
}
