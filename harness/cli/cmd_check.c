#include "base/file.h"
#include "cli/bench.h"
#include "cli/bench_kernels_training.h"
#include "cli/bench_scene.h"
#include "cli/check_baseline.h"
#include "cli/cmd.h"
#include "cli/gate_history.h"
#include "cli/gate_instructions.h"
#include "cli/gate_past.h"
#include "cli/gate_report.h"
#include "cli/gate_revision.h"
#include "cli/outputs.h"
#include "cli/relaunch.h"

static const char name[] = "dlbench check";

#define THRESHOLD "2"

typedef struct options {
    const char *against, *model, *threshold, *rounds, *allow;
    const char *csv, *markdown, *junit, *history; /* files; NULL: none */
    dlb_str base;                                 /* what `against` is where it was not named */
    bool strict, instructions, saves;
    dlb_check_baseline baseline; /* without a path: none */
    dlk_kernels kernels;         /* that are asked for */
    dlb_gate_counter counter;    /* of instructions */
    size_t allowed;              /* kernels that may be slower */
    dlb_gate_options gate;
} options;

/* ---- Checking ---- */

/* Without gnuplot there is no figure, but a verdict nevertheless. */
static int keep_history(const char *path, const dlb_gate *g, const char *origin, dlb_error *err)
{
    int status = dlb_gate_history_save(g, origin, path, err);
    if (status == 0 && dlb_gate_history_draw(path, err) < 0)
        fprintf(stderr, "%s: no figure of %s: %s\n", name, path, err->message);
    return status;
}

/* `origin`: the commit, or the program, that was compared with. */
static int tell(const options *o, const dlb_gate *g, const char *origin, dlb_error *err)
{
    dlb_gate_report report = {g, o->against ? o->against : o->baseline.path, "this program",
                              o->allowed};
    int status = 0;
    dlb_gate_print(&report);
    if (o->csv)
        status = dlb_gate_csv_save(g, o->csv, err);
    if (status == 0 && o->markdown)
        status = dlb_gate_save_markdown(&report, o->markdown, err);
    if (status == 0 && o->junit)
        status = dlb_gate_save_junit(&report, o->junit, err);
    if (status == 0 && o->history)
        status = keep_history(o->history, g, origin, err);
    return status;
}

static int exit_status(const options *o, const dlb_gate *g)
{
    if (dlb_gate_alarms(g, o->allowed))
        return DLB_EXIT_SHORT;
    if (o->strict && dlb_gate_count(g, DLB_JUDGED_INCONCLUSIVE))
        return DLB_EXIT_INCONCLUSIVE;
    return DLB_EXIT_OK;
}

static void tell_saved(const options *o, const dlb_gate *g, size_t kept)
{
    printf("%s has %zu kernels of %s, %s, %s, in %zu rounds.\n", o->baseline.path, kept,
           o->baseline.cpu.text, o->baseline.kernels, o->baseline.isa, g->rounds);
    if (kept < g->count)
        printf("%zu more are not in it, as others have disturbed them in too many rounds.\n",
               g->count - kept);
}

static int save_baseline(options *o, dlb_gate *g, dlb_error *err)
{
    size_t kept;
    int status = dlb_gate_measure(g, err);
    dlb_bench_progress_clear(g->options.progress);
    if (status == 0 && o->csv)
        status = dlb_gate_csv_save(g, o->csv, err);
    if (status == 0)
        status = dlb_check_baseline_save(&o->baseline, g, &kept, err);
    if (status == 0)
        tell_saved(o, g, kept);
    return status;
}

static int judge(options *o, dlb_gate *g, const char *origin, dlb_error *err)
{
    int status = dlb_gate_run(g, err);
    dlb_bench_progress_clear(g->options.progress);
    return status < 0 ? status : tell(o, g, origin, err);
}

/* A machine without a baseline does not pass. `what`: of it. */
static int fail_without(const dlb_check_baseline *b, const char *what)
{
    fprintf(
        stderr,
        "%s: %s has no %s of this machine (%s, %s, %s), so nothing can be said; make a baseline "
        "with --save-baseline at a commit that is known to be good\n",
        name, b->path, what, b->cpu.text, b->kernels, b->isa);
    return DLB_EXIT_INCONCLUSIVE;
}

/* Whether the baseline is no help for what is to be judged; that is said then. */
static bool lacks(const options *o, const dlb_gate *g)
{
    dlb_str what = DLB_STR_INIT;
    bool lacking = g->options.baseline && dlb_gate_past_lacks(g, &what);
    dlb_bench_progress_clear(g->options.progress);
    if (lacking)
        fail_without(&o->baseline, what.text);
    dlb_str_release(&what);
    return lacking;
}

/* `origin`: see tell. */
static int run_gate(options *o, dlb_gate *g, const char *origin)
{
    dlb_error err;
    dlb_bench_progress progress;
    dlb_bench_scene scene = dlb_bench_scene_now();
    g->options.progress = &progress;
    dlb_bench_progress_init(&progress, stderr);
    dlb_gate_settle();
    int status = dlb_gate_survey(g, &err);
    if (status == 0 && lacks(o, g))
        return DLB_EXIT_INCONCLUSIVE;
    if (status == 0 && o->instructions)
        status = dlb_gate_count_instructions(g, &o->counter, &err);
    if (status == 0)
        status = o->saves ? save_baseline(o, g, &err) : judge(o, g, origin, &err);
    dlb_bench_progress_clear(&progress);
    if (status == 0)
        dlb_bench_scene_print(&scene, 1);
    return status < 0 ? dlb_cli_fail(name, &err) : exit_status(o, g);
}

static int run(options *o)
{
    char before[PATH_MAX] = "", origin[PATH_MAX] = "", after[PATH_MAX];
    dlb_error err;
    dlb_gate gate = {.options = o->gate};
    gate.options.before = before;
    gate.options.after = after;
    gate.options.by_reference = o->baseline.path != NULL;
    gate.options.baseline = o->saves ? NULL : o->baseline.found;
    if (o->baseline.path && !o->saves && !o->baseline.found)
        return fail_without(&o->baseline, "baseline");
    int status = dlb_relaunch_path(after, &err);
    if (o->baseline.path)
        snprintf(origin, sizeof origin, "%s", o->saves ? "" : o->baseline.found->commit);
    else if (status == 0)
        status = dlb_gate_program_of(o->against, before, origin, &err);
    status = status < 0 ? dlb_cli_fail(name, &err) : run_gate(o, &gate, origin);
    dlb_gate_release(&gate);
    return status;
}

/* ---- What is asked for ---- */

static int check_files(const options *o, dlb_error *err)
{
    const dlb_output outputs[] = {{"--csv", o->csv},
                                  {"--markdown", o->markdown},
                                  {"--junit", o->junit},
                                  {"--history", o->history},
                                  {"--baseline", o->baseline.path}};
    if (dlb_outputs_check(outputs, sizeof outputs / sizeof *outputs, err) < 0)
        return DLB_BAD_INPUT;
    if ((o->csv && dlb_gate_csv_check(o->csv, err) < 0) ||
        (o->markdown && dlb_file_writable(o->markdown, err) < 0) ||
        (o->junit && dlb_file_writable(o->junit, err) < 0) ||
        (o->history && dlb_gate_history_check(o->history, err) < 0))
        return DLB_BAD_INPUT;
    return 0;
}

static int check_requests(options *o, dlb_error *err)
{
    int status = 0;
    for (const char *const *model = o->gate.models; *model && status == 0; model++) {
        const dlb_kernel_request request = {
            .model = *model, .data = o->gate.data, .kernels = o->gate.kernels, .isa = o->gate.isa};
        status = dlb_kernel_request_check(&request, &o->kernels, err);
    }
    return status;
}

static int choose_base(options *o, dlb_error *err)
{
    dlb_str why = DLB_STR_INIT;
    int status = dlb_gate_base(&o->base, &why, err);
    o->against = o->base.text;
    if (status == 0)
        fprintf(stderr, "%s: comparing with %s, %s\n", name, o->against, why.text);
    dlb_str_release(&why);
    return status;
}

/* What is compared with: a baseline, or another program. */
static int choose_other(options *o, dlb_error *err)
{
    if (o->saves && !o->baseline.path)
        o->baseline.path = DLB_BASELINE_FILE;
    if (!o->baseline.path)
        return o->against ? 0 : choose_base(o, err);
    if (o->against)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "--against names a program and --baseline a file: give one of them");
    if (o->instructions)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "--instructions compares two programs: give --against, no baseline");
    if (o->saves && (o->markdown || o->junit || o->history))
        return dlb_fail(err, DLB_BAD_INPUT,
                        "--save-baseline judges nothing: there is no --markdown, --junit or "
                        "--history of it");
    return 0;
}

/* A part of a baseline is not put in place of a whole one. */
static int open_baseline(options *o, dlb_error *err)
{
    int status = dlb_check_baseline_open(&o->baseline, &o->kernels, o->saves, err);
    if (status == 0 && o->saves && o->baseline.found && (o->model || o->gate.only))
        return dlb_fail(err, DLB_BAD_INPUT,
                        "%s has a baseline of this machine, of which --model and --only would keep "
                        "a part only: save all, or name another file",
                        o->baseline.path);
    return status;
}

static int parse(options *o, dlb_error *err)
{
    long long rounds = 0, allowed = 0;
    double percent;
    if (dlb_relaunch_is_done())
        return dlb_fail(err, DLB_BAD_INPUT, "it measures one core and needs no launcher");
    if (choose_other(o, err) < 0)
        return DLB_BAD_INPUT;
    if (!dlb_parse_real(o->threshold, &percent) || !(percent >= 0.1 && percent <= 100))
        return dlb_fail(err, DLB_BAD_INPUT,
                        "--threshold %s: must be a number of percent, 0.1 to 100", o->threshold);
    if (o->rounds && dlb_bench_number("--rounds", o->rounds, 1, 10000, &rounds, err) < 0)
        return DLB_BAD_INPUT;
    if (o->allow && dlb_bench_number("--allow", o->allow, 0, 10000, &allowed, err) < 0)
        return DLB_BAD_INPUT;
    o->gate.rounds = (size_t)rounds;
    o->allowed = (size_t)allowed;
    o->gate.rule = dlb_gate_usual_rule();
    o->gate.rule.threshold = 0.01 * percent;
    if (o->instructions && dlb_gate_counter_find(&o->counter, err) < 0)
        return DLB_BAD_INPUT;
    if (check_files(o, err) < 0 || check_requests(o, err) < 0)
        return DLB_BAD_INPUT;
    return o->baseline.path ? open_baseline(o, err) : 0;
}

int cmd_check(int argc, char **argv)
{
    options o = {.threshold = THRESHOLD};
    const dlb_flag flags[] = {
        {"against",
         "a commit, which is built, or the path of a built program (default: where HEAD left the "
         "main line)",
         "REV|FILE", &o.against, NULL},
        {"baseline", "a file of baselines, to compare with what kernels took beside references",
         "FILE", &o.baseline.path, NULL},
        {"save-baseline",
         "measure, and put it into that file (default " DLB_BASELINE_FILE ") for this CPU", NULL,
         NULL, &o.saves},
        {"model", "only kernels of this model (default: horovod_cnn and keras_cnn)", "NAME|FILE",
         &o.model, NULL},
        {"only", "only kernels with one of these in their names, separated by commas", "WORDS",
         &o.gate.only, NULL},
        {"kernels", "the family of kernels (default: the best)", "FAMILY", &o.gate.kernels, NULL},
        {"isa", "their instruction set (default: the best)", "ISA", &o.gate.isa, NULL},
        {"data", "what is trained on, as for train (default mnist)", "NAME|DIR", &o.gate.data,
         NULL},
        {"threshold", "percent of change that count (default " THRESHOLD ")", "PERCENT",
         &o.threshold, NULL},
        {"rounds", "at least so many (default: as many as the intervals need)", "N", &o.rounds,
         NULL},
        {"instructions", "count them, too: exact on a noisy machine, but changes no verdict", NULL,
         NULL, &o.instructions},
        {"strict", "exit with 3 if any verdict is inconclusive", NULL, NULL, &o.strict},
        {"allow",
         "exit with 0 if so many kernels are slower, but no whole training step (default 0)", "N",
         &o.allow, NULL},
        {"markdown", "write the table to this file, for a pull request", "FILE", &o.markdown, NULL},
        {"junit", "write the verdicts to this file, for a CI system", "FILE", &o.junit, NULL},
        {"history", "append one row a kernel to this file, and draw it beside it", "FILE.csv",
         &o.history, NULL},
        {"csv", "append one row a measured slice to this file", "FILE", &o.csv, NULL},
    };
    const dlb_command command = {
        .name = name,
        .about = "Judge whether kernels of this program are slower than those of another commit, "
                 "both measured side by side, or than a baseline says. Exit 1: some are.",
        .operands = "",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags};
    dlb_arguments arguments;
    dlb_error err;
    int status;
    if (!dlb_cli_begin(&command, argc, argv, &arguments, &status))
        return status;
    const char *const usual[] = {"horovod_cnn", "keras_cnn", NULL};
    const char *const one[] = {o.model, NULL};
    o.gate.models = o.model ? one : usual;
    status = parse(&o, &err) < 0 ? dlb_cli_fail(name, &err) : run(&o);
    dlb_check_baseline_release(&o.baseline);
    dlb_str_release(&o.base);
    return status;
}
