#include "cli/bench_kernels.h"

#include <math.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/bench.h"
#include "cli/bench_kernels_training.h"
#include "cli/bench_roofline.h"
#include "cli/bench_scene.h"
#include "cli/cmd.h"
#include "cli/relaunch.h"
#include "cli/stop.h"

static const char name[] = "dlbench bench kernels";

#define MODEL  "keras_cnn"
#define DATA   "mnist"
#define ROUNDS "15"
#define STEPS  "200"

static const double measurement_s = 0.01; /* at least, of a way in a round */

typedef struct options {
    const char *csv, *roofline; /* files; NULL: none */
    long long rounds, steps;
    double alive; /* NaN: as training has it */
} options;

typedef struct bench {
    const options *options;
    dlb_kernel_training training;
    dlb_comm *comm;
    dlb_bench_progress progress;
    dlb_references *references;
    dlb_kernel_call reference_calls[DLB_REFERENCES];
    double *reference_s[DLB_REFERENCES]; /* of a call in each round */
    int way_count;
    dlb_bench_way *ways; /* of the references, then two a row */
} bench;

/* ---- Measuring ---- */

static void prepare_call(void *self)
{
    dlb_kernel_call_prepare(self);
}

static int run_call(void *self, dlb_error *err)
{
    const dlb_kernel_call *call = self;
    (void)err;
    for (int i = 0; i < call->repeats; i++)
        call->run(call->self);
    return 0;
}

/* Whether results are right is what tests are for. So many calls that one measurement is long. */
static int calibrate_call(void *self, dlb_error *err)
{
    dlb_kernel_call *call = self;
    (void)err;
    call->repeats = dlb_kernel_call_repeats(call, measurement_s);
    return 0;
}

static dlb_bench_way way_of(const char *what, dlb_kernel_call *call)
{
    return (dlb_bench_way){.name = what,
                           .self = call,
                           .prepare = prepare_call,
                           .run = call->run ? run_call : NULL,
                           .check = calibrate_call};
}

static void make_references(bench *b)
{
    dlb_references_options sizes = {.isa = b->training.plan.blas_kernels.isa,
                                    .threads = 1,
                                    .side = 1024,
                                    .triad_floats = 1 << 24};
    b->references = dlb_references_create(&sizes);
    for (int i = 0; i < DLB_REFERENCES; i++) {
        b->reference_calls[i] = dlb_reference_call(b->references, (dlb_reference)i);
        b->ways[i] =
            way_of(dlb_reference_name(b->references, (dlb_reference)i), &b->reference_calls[i]);
    }
}

static void make_ways(bench *b)
{
    dlb_kernel_plan *p = &b->training.plan;
    b->way_count = DLB_REFERENCES + 2 * (int)p->row_count;
    b->ways = dlb_alloc((size_t)b->way_count, sizeof *b->ways);
    make_references(b);
    dlb_bench_way *way = b->ways + DLB_REFERENCES;
    for (size_t i = 0; i < p->row_count; i++) {
        *way++ = way_of(p->rows[i].name, &p->rows[i].own);
        *way++ = way_of(p->rows[i].name, &p->rows[i].blas);
    }
}

/* Hand the times over to the rows, as those of one call. */
static double *take_times(dlb_bench_way *way, int repeats, long long rounds)
{
    double *times = way->times;
    way->times = NULL;
    for (long long i = 0; i < rounds; i++)
        times[i] /= repeats;
    return times;
}

static int measure(bench *b, dlb_error *err)
{
    long long count = b->options->rounds;
    make_ways(b);
    dlb_bench_rounds rounds = {.comm = b->comm,
                               .what = b->training.model.name,
                               .rounds = (int)count,
                               .calls = 1,
                               .progress = &b->progress};
    int status = dlb_bench_rounds_run(&rounds, b->ways, b->way_count, err);
    if (status < 0)
        return status;
    for (int i = 0; i < DLB_REFERENCES; i++)
        b->reference_s[i] = take_times(&b->ways[i], b->reference_calls[i].repeats, count);
    dlb_bench_way *way = b->ways + DLB_REFERENCES;
    for (size_t i = 0; i < b->training.plan.row_count; i++) {
        dlb_kernel_row *row = &b->training.plan.rows[i];
        row->own_s = take_times(way++, row->own.repeats, count);
        row->blas_s = take_times(way++, row->blas.repeats, count);
    }
    return 0;
}

/* ---- What came of it ---- */

static int tell(bench *b, const dlb_bench_scene *scene, dlb_error *err)
{
    const options *o = b->options;
    dlb_kernel_result result = {
        .plan = &b->training.plan, .rounds = (int)o->rounds, .references = b->references};
    for (int i = 0; i < DLB_REFERENCES; i++)
        result.reference_s[i] = b->reference_s[i];
    int status = o->csv ? dlb_kernel_csv_save(&result, o->csv, err) : 0;
    dlb_bench_progress_clear(&b->progress);
    dlb_kernel_print(&result);
    dlb_bench_scene_print(scene, 1);
    if (status == 0 && o->roofline)
        status = dlb_kernel_draw_roofline(&result, o->roofline, err);
    return status;
}

static void release(bench *b)
{
    dlb_bench_ways_release(b->ways, b->way_count);
    free(b->ways);
    for (int i = 0; i < DLB_REFERENCES; i++)
        free(b->reference_s[i]);
    dlb_references_free(b->references);
    dlb_comm_free(b->comm);
}

static int run(bench *b)
{
    dlb_error err;
    dlb_bench_scene scene = dlb_bench_scene_now();
    dlb_comm_options alone = {.ranks = 1};
    dlb_stop_catch();
    dlk_float_mode_flush();
    dlb_bench_progress_init(&b->progress, stderr);
    int status = dlb_comm_create(&b->comm, &alone, &err);
    if (status == 0)
        status = dlb_kernel_training_start(&b->training, b->options->steps, b->options->alive,
                                           &b->progress, &err);
    if (status == 0)
        status = measure(b, &err);
    if (status == 0)
        status = tell(b, &scene, &err);
    dlb_bench_progress_clear(&b->progress);
    release(b);
    return status < 0 ? dlb_cli_fail(name, &err) : DLB_EXIT_OK;
}

/* ---- What is asked for ---- */

/* What stands after the flags, as text; NULL: not given. */
typedef struct texts {
    dlb_kernel_request request;
    const char *rounds, *steps, *alive;
} texts;

static int parse_alive(const char *text, double *alive, dlb_error *err)
{
    *alive = NAN;
    return text ? dlb_bench_real("--alive", text, 0, 1, alive, err) : 0;
}

static int parse(const texts *t, options *o, bench *b, dlb_error *err)
{
    if (dlb_relaunch_is_done())
        return dlb_fail(err, DLB_BAD_INPUT, "it measures one core and needs no launcher");
    if (dlb_bench_number("--rounds", t->rounds, 1, 100000, &o->rounds, err) < 0 ||
        dlb_bench_number("--steps", t->steps, 0, 1000000, &o->steps, err) < 0 ||
        parse_alive(t->alive, &o->alive, err) < 0)
        return DLB_BAD_INPUT;
    if ((o->csv && dlb_kernel_csv_check(o->csv, err) < 0) ||
        (o->roofline && dlb_roofline_check(o->roofline, err) < 0))
        return DLB_BAD_INPUT;
    return dlb_kernel_training_ask(&b->training, &t->request, err);
}

static int run_parsed(const texts *t, options *o)
{
    dlb_error err;
    bench b = {.options = o};
    dlb_kernel_training_init(&b.training);
    int status = parse(t, o, &b, &err) < 0 ? dlb_cli_fail(name, &err) : run(&b);
    dlb_kernel_training_release(&b.training);
    return status;
}

int dlb_bench_kernels(int argc, char **argv)
{
    texts t = {.request = {.model = MODEL, .data = DATA}, .rounds = ROUNDS, .steps = STEPS};
    options o = {0};
    const dlb_flag flags[] = {
        {"model", "a built-in model or the path of a .model file (default " MODEL ")", "NAME|FILE",
         &t.request.model, NULL},
        {"kernels", "the family of kernels (default: the best)", "FAMILY", &t.request.kernels,
         NULL},
        {"isa", "their instruction set (default: the best)", "ISA", &t.request.isa, NULL},
        {"batch", "images in a step (default: the model's)", "N", &t.request.batch, NULL},
        {"rounds", "measurements of each (default " ROUNDS ")", "N", &t.rounds, NULL},
        {"data", "what is trained on, as for train (default " DATA ")", "NAME|DIR", &t.request.data,
         NULL},
        {"steps", "of training before, on which depends what is zero (default " STEPS ")", "N",
         &t.steps, NULL},
        {"alive",
         "share of a stage's outputs that pass a gradient on (default: what training has come to)",
         "SHARE", &t.alive, NULL},
        {"csv", "append one row a measurement to this file", "FILE", &o.csv, NULL},
        {"roofline", "draw all operations below the roofs of this machine: .svg, .png or .pdf",
         "FILE", &o.roofline, NULL},
    };
    const dlb_command command = {
        .name = name,
        .about = "Time each operation of a training step on one core, with the values of a real "
                 "training, beside OpenBLAS and the FMA peak. ~1 min.",
        .operands = "",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags};
    dlb_arguments arguments;
    int status;
    if (!dlb_cli_begin(&command, argc, argv, &arguments, &status))
        return status;
    return run_parsed(&t, &o);
}
