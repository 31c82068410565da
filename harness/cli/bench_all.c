#include "cli/bench_all.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/bench.h"
#include "cli/bench_kernels_training.h"
#include "cli/bench_roofline.h"
#include "cli/bench_scene.h"
#include "cli/bench_suite_report.h"
#include "cli/cmd.h"
#include "cli/gate.h"
#include "cli/outputs.h"
#include "cli/relaunch.h"
#include "measure/cores.h"

static const char name[] = "dlbench bench";

#define ROUNDS "6"
#define BUDGET "120"

typedef struct options {
    const char *model, *threads, *rounds, *budget;
    const char *csv, *json, *roofline; /* files; NULL: none */
    bool list;
    dlb_suite_options suite;
} options;

/* ---- Measuring ---- */

static int save(const options *o, const dlb_suite *s, dlb_error *err)
{
    int status = o->csv ? dlb_suite_csv_save(s, o->csv, err) : 0;
    if (status == 0 && o->json)
        status = dlb_suite_save_json(s, o->json, err);
    if (status == 0 && o->roofline)
        status = dlb_suite_draw_roofline(s, o->roofline, err);
    return status;
}

static int measure(const options *o, dlb_suite *s, dlb_error *err)
{
    dlb_bench_scene scene = dlb_bench_scene_now();
    int status = dlb_suite_run(s, err);
    dlb_bench_progress_clear(s->options.progress);
    if (status < 0) {
        dlb_error
            ignored; /* the slices that there are may still serve; why there are no more counts */
        if (o->csv)
            dlb_suite_csv_save(s, o->csv, &ignored);
        return status;
    }
    dlb_suite_print(s);
    dlb_bench_scene_print(&scene, 1);
    return save(o, s, err);
}

static int find_program(const options *o, char program[PATH_MAX], dlb_error *err)
{
    if (!o->suite.named_program)
        return dlb_relaunch_path(program, err);
    if (!realpath(o->suite.named_program, program) || access(program, X_OK) < 0)
        return dlb_fail(err, DLB_BAD_INPUT, "--program %s: cannot be executed",
                        o->suite.named_program);
    return 0;
}

static int run(const options *o)
{
    char program[PATH_MAX];
    dlb_error err;
    dlb_bench_progress progress;
    dlb_suite suite = {.options = o->suite};
    suite.options.program = program;
    suite.options.progress = &progress;
    dlb_bench_progress_init(&progress, stderr);
    dlb_gate_settle();
    int status = find_program(o, program, &err);
    if (status == 0)
        status = dlb_suite_survey(&suite, &err);
    dlb_bench_progress_clear(&progress);
    size_t wrong = status == 0 ? dlb_suite_print_wrong(&suite) : 0;
    if (status == 0 && o->list)
        dlb_suite_list(&suite);
    else if (status == 0 && wrong == 0)
        status = measure(o, &suite, &err);
    dlb_suite_release(&suite);
    if (status < 0)
        return dlb_cli_fail(name, &err);
    return wrong ? DLB_EXIT_SHORT : DLB_EXIT_OK;
}

/* ---- What is asked for ---- */

static int check_files(const options *o, dlb_error *err)
{
    const dlb_output outputs[] = {
        {"--csv", o->csv}, {"--json", o->json}, {"--roofline", o->roofline}};
    if (dlb_outputs_check(outputs, sizeof outputs / sizeof *outputs, err) < 0)
        return DLB_BAD_INPUT;
    if ((o->csv && dlb_suite_csv_check(o->csv, err) < 0) ||
        (o->json && dlb_file_writable(o->json, err) < 0) ||
        (o->roofline && dlb_roofline_check(o->roofline, err) < 0))
        return DLB_BAD_INPUT;
    return 0;
}

static int check_models(const options *o, dlb_error *err)
{
    const dlb_suite_options *s = &o->suite;
    dlk_kernels kernels;
    int status = 0;
    for (const char *const *model = s->models; *model && status == 0; model++) {
        const dlb_kernel_request request = {.model = s->layers ? NULL : *model,
                                            .data = s->data,
                                            .kernels = s->kernels,
                                            .isa = s->isa,
                                            .batch = s->batch,
                                            .layers = s->layers};
        status = dlb_kernel_request_check(&request, &kernels, err);
    }
    return status;
}

/* The exchange belongs to no model or kernels. */
static bool wants_comm(const options *o)
{
    if (dlb_cores_allowed() < 2 || o->list)
        return false;
    if (o->suite.only)
        return dlb_bench_is_wanted(o->suite.only, "comm", "exchange of gradients");
    return !o->suite.named_program && !o->model && !o->suite.layers && !o->suite.kernels &&
           !o->suite.isa;
}

static int parse(options *o, dlb_error *err)
{
    long long threads = 1, rounds = 0;
    if (dlb_relaunch_is_done())
        return dlb_fail(err, DLB_BAD_INPUT, "it starts its processes itself and needs no launcher");
    if (o->model && o->suite.layers)
        return dlb_fail(err, DLB_BAD_INPUT, "--model and --layers: give one of them");
    if (dlb_bench_number("--threads", o->threads, 1, dlb_cores_allowed(), &threads, err) < 0 ||
        dlb_bench_number("--rounds", o->rounds, 1, 10000, &rounds, err) < 0 ||
        dlb_bench_real("--budget", o->budget, 0, 1e6, &o->suite.budget_s, err) < 0 ||
        check_files(o, err) < 0)
        return DLB_BAD_INPUT;
    o->suite.threads = (int)threads;
    o->suite.rounds = (int)rounds;
    o->suite.comm = wants_comm(o);
    return check_models(o, err);
}

int dlb_bench_all(int argc, char **argv, void (*more_help)(FILE *out))
{
    options o = {.threads = "1", .rounds = ROUNDS, .budget = BUDGET};
    const dlb_flag flags[] = {
        {"model",
         "only this model, or the path of a .model file with layers of any shape (default: "
         "horovod_cnn and keras_cnn)",
         "NAME|FILE", &o.model, NULL},
        {"layers",
         "layers of any shape instead of a model's: \"26x26x32; conv2d filters=64 kernel=3; relu\"",
         "TEXT", &o.suite.layers, NULL},
        {"kernels", "only this family of kernels (default: simd, blas and ref)", "FAMILY",
         &o.suite.kernels, NULL},
        {"isa", "only this instruction set (default: all that this CPU has)", "ISA", &o.suite.isa,
         NULL},
        {"only", "only what has one of these in its name, separated by commas", "WORDS",
         &o.suite.only, NULL},
        {"program",
         "of which everything is measured, as built from another commit (default: this "
         "one)",
         "FILE", &o.suite.named_program, NULL},
        {"list", "show what there is, and measure nothing", NULL, NULL, &o.list},
        {"verify", "compare results with those of ref first; exit 1 if any is wrong", NULL, NULL,
         &o.suite.verify},
        {"threads", "of the team that computes (default 1)", "N", &o.threads, NULL},
        {"batch", "images in a step (default: the model's)", "N", &o.suite.batch, NULL},
        {"data", "what is trained on, as for train (default mnist)", "NAME|DIR", &o.suite.data,
         NULL},
        {"steps", "of training before, on which depends what is zero", "N", &o.suite.steps, NULL},
        {"rounds", "of new processes (default " ROUNDS ")", "N", &o.rounds, NULL},
        {"budget",
         "seconds of measuring in all, but for what is slower than its share (default " BUDGET ")",
         "S", &o.budget, NULL},
        {"csv", "append one row a measured slice to this file", "FILE", &o.csv, NULL},
        {"json", "write the results to this file", "FILE", &o.json, NULL},
        {"roofline", "draw everything below the roofs of this machine: .svg, .png or .pdf", "FILE",
         &o.roofline, NULL},
    };
    const dlb_command command = {
        .name = name,
        .about = "Time every kernel of every family and instruction set, whole training steps, the "
                 "input pipeline and the exchange of gradients, each beside OpenBLAS's sgemm, a "
                 "triad or a copy. ~5 min. Subjects of their own are listed below.",
        .operands = "",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags};
    dlb_arguments arguments;
    dlb_error err;
    int status;
    if (!dlb_cli_begin(&command, argc, argv, &arguments, &status)) {
        if (status == DLB_EXIT_OK)
            more_help(stdout);
        return status;
    }
    const char *const usual[] = {"horovod_cnn", "keras_cnn", NULL};
    const char *const one[] = {o.suite.layers ? o.suite.layers : o.model, NULL};
    o.suite.models = one[0] ? one : usual;
    return parse(&o, &err) < 0 ? dlb_cli_fail(name, &err) : run(&o);
}
