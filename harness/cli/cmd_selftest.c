#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/str.h"
#include "cli/bench.h"
#include "cli/bench_row.h"
#include "cli/bench_scene.h"
#include "cli/bench_table.h"
#include "cli/bench_training.h"
#include "cli/cmd.h"
#include "cli/gate.h"
#include "cli/relaunch.h"
#include "measure/cores.h"
#include "record/whole_step.h"
#include "stats/share.h"

static const char name[] = "dlbench selftest stats";

#define CHECKS "20"
#define MODEL  "horovod_cnn"
#define ONLY   "conv2d_2–relu_2 forward,dense_1 backward weights," DLB_WHOLE_STEP

#define SLOWDOWNS "0 2 5 10"

enum { SLOWDOWNS_MAX = 16 };

typedef struct options {
    const char *checks_text, *slowdowns_text, *noise_text, *model, *only, *csv;
    long long checks;
    int slowdown_count;
    double slowdowns[SLOWDOWNS_MAX]; /* put into the program after the change, in percent */
    double noise;                    /* of every slice at most, in percent */
    bool load;
} options;

/* What the checks of one slowdown came to. */
typedef struct tally {
    size_t checks, kernels;
    size_t kinds[DLB_JUDGEMENTS];
    size_t alarms; /* checks with a kernel that is said to have changed */
} tally;

/* ---- A competitor ---- */

/* Every other 20 ms somebody else computes on the core that is measured on. */
static _Noreturn void compete(pid_t parent)
{
    static const double spell_s = 0.02;
    const dlb_cores *cores = dlb_cores_of_process();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dlb_cpu_bind(dlb_cpus_at(&cores->cpus, cores->count - 1));
    while (getppid() == parent) {
        double start = dlb_clock_s();
        while (dlb_clock_s() - start < spell_s) {
        }
        usleep((useconds_t)(1e6 * spell_s));
    }
    _exit(0);
}

/* 0: there is none. */
static pid_t start_competitor(const options *o)
{
    pid_t parent = getpid(), child = o->load ? fork() : 0;
    if (o->load && child == 0)
        compete(parent);
    return child > 0 ? child : 0;
}

static void stop_competitor(pid_t competitor)
{
    if (competitor <= 0)
        return;
    kill(competitor, SIGKILL);
    waitpid(competitor, NULL, 0);
}

/* ---- The program after the change ---- */

static int write_program(const char *path, const dlb_str *bytes, dlb_error *err)
{
    int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    bool written = to >= 0 && dlb_file_write_all(to, bytes->text, bytes->length) == 0;
    int status = written ? 0 : dlb_fail(err, DLB_FAIL, "%s: %s", path, strerror(errno));
    if (to >= 0)
        close(to);
    return status;
}

/*
 * The same program as another file, at a path of another length in each check, as one that was
 * built of another commit is: what depends on that must not be taken for a change.
 */
static int copy_program(const char *program, const char *folder, size_t check, dlb_str *copy,
                        dlb_error *err)
{
    enum { BYTES_MAX = 1 << 28, LENGTHS = 64, STEP = 7 };
    dlb_str bytes = DLB_STR_INIT;
    dlb_str_clear(copy);
    dlb_str_addf(copy, "%s/%0*zu", folder, (int)(1 + STEP * check % LENGTHS), check);
    int status = dlb_file_read(program, BYTES_MAX, &bytes, err);
    if (status == 0)
        status = write_program(copy->text, &bytes, err);
    dlb_str_release(&bytes);
    return status;
}

/* ---- Checks ---- */

static const char header[] =
    "check,load,noise_pct,injected_pct,kernel,verdict,change_pct,low_pct,high_pct,"
    "resolution_pct,rounds,slices,disturbed";

static int save(const options *o, size_t check, double injected, const dlb_gate *g, dlb_error *err)
{
    int status = 0;
    for (size_t i = 0; i < g->count && o->csv && status == 0; i++) {
        const dlb_gate_case *c = &g->cases[i];
        dlb_bench_row row = {0};
        dlb_bench_row_number(&row, (double)check);
        dlb_bench_row_number(&row, o->load);
        dlb_bench_row_number(&row, o->noise);
        dlb_bench_row_number(&row, injected);
        dlb_bench_row_text(&row, c->name);
        dlb_bench_row_text(&row, dlb_judgement_name(c->verdict.kind));
        dlb_bench_row_number(&row, 100 * c->verdict.effect);
        dlb_bench_row_number(&row, 100 * c->verdict.low);
        dlb_bench_row_number(&row, 100 * c->verdict.high);
        dlb_bench_row_number(&row, 100 * c->verdict.resolution);
        dlb_bench_row_number(&row, (double)g->rounds);
        dlb_bench_row_number(&row, (double)c->slices);
        dlb_bench_row_number(&row, (double)c->disturbed);
        status = dlb_bench_row_append(&row, o->csv, header, err);
    }
    return status;
}

static void count(tally *t, const dlb_gate *g)
{
    t->checks++;
    t->kernels += g->count;
    for (int kind = 0; kind < DLB_JUDGEMENTS; kind++)
        t->kinds[kind] += dlb_gate_count(g, (dlb_judgement_kind)kind);
    t->alarms += dlb_gate_count(g, DLB_JUDGED_SLOWER) + dlb_gate_count(g, DLB_JUDGED_FASTER) > 0;
}

static int check_once(const options *o, const char *before, const char *after, size_t check,
                      double injected, tally *t, dlb_error *err)
{
    dlb_bench_progress silent = {0};
    const char *const models[] = {o->model, NULL};
    dlb_gate gate = {.options = {.before = before,
                                 .after = after,
                                 .models = models,
                                 .only = o->only,
                                 .slowdown = 0.01 * injected,
                                 .noise = 0.01 * o->noise,
                                 .rule = dlb_gate_usual_rule(),
                                 .progress = &silent}};
    int status = dlb_gate_survey(&gate, err);
    if (status == 0)
        status = dlb_gate_run(&gate, err);
    if (status == 0)
        status = save(o, check, injected, &gate, err);
    if (status == 0)
        count(t, &gate);
    dlb_gate_release(&gate);
    return status;
}

/* One check of each slowdown: so hours of a busy machine hit all of them. */
static int check_each(const options *o, const char *before, const char *after, size_t check,
                      dlb_bench_progress *progress, tally *tallies, dlb_error *err)
{
    size_t slowdowns = (size_t)o->slowdown_count, all = (size_t)o->checks * slowdowns;
    int status = 0;
    for (size_t k = 0; k < slowdowns && status == 0; k++) {
        dlb_bench_progress_count(progress, (check - 1) * slowdowns + k, all);
        dlb_bench_progress_show(progress, "check %zu of %lld with %g %% injected", check, o->checks,
                                o->slowdowns[k]);
        status = check_once(o, before, after, check, o->slowdowns[k], &tallies[k], err);
    }
    return status;
}

static int check_in(const options *o, const char *folder, tally *tallies, dlb_error *err)
{
    char before[PATH_MAX];
    dlb_str after = DLB_STR_INIT;
    dlb_bench_progress progress;
    dlb_bench_progress_init(&progress, stderr);
    int status = dlb_relaunch_path(before, err);
    for (size_t check = 1; check <= (size_t)o->checks && status == 0; check++) {
        status = copy_program(before, folder, check, &after, err);
        if (status == 0)
            status = check_each(o, before, after.text, check, &progress, tallies, err);
        unlink(after.text);
    }
    dlb_bench_progress_clear(&progress);
    dlb_str_release(&after);
    return status;
}

static int check_all(const options *o, tally *tallies, dlb_error *err)
{
    char folder[PATH_MAX];
    int status = dlb_bench_make_folder(folder, err);
    if (status < 0)
        return status;
    status = check_in(o, folder, tallies, err);
    dlb_file_remove_tree(folder);
    return status;
}

/* ---- What came of it ---- */

static void add_share(dlb_bench_table *table, size_t found, size_t trials)
{
    char text[64];
    dlb_interval share = dlb_share_of(found, trials);
    snprintf(text, sizeof text, "%.1f %% (%.1f…%.1f)", 100 * share.value, 100 * share.low,
             100 * share.high);
    dlb_bench_table_add(table, trials ? text : "–");
}

static void add_tally(dlb_bench_table *table, double injected, const tally *t)
{
    char text[32];
    snprintf(text, sizeof text, "%g %%", injected);
    dlb_bench_table_add(table, text);
    snprintf(text, sizeof text, "%zu", t->checks);
    dlb_bench_table_add(table, text);
    add_share(table, t->alarms, t->checks);
    add_share(table, t->kinds[DLB_JUDGED_SLOWER], t->kernels);
    add_share(table, t->kinds[DLB_JUDGED_FASTER], t->kernels);
    add_share(table, t->kinds[DLB_JUDGED_SAME], t->kernels);
    add_share(table, t->kinds[DLB_JUDGED_INCONCLUSIVE], t->kernels);
}

static void print(const options *o, const tally *tallies)
{
    static const char *const titles[] = {"injected", "checks", "with an alarm", "slower",
                                         "faster",   "same",   "inconclusive"};
    enum { COLUMNS = sizeof titles / sizeof *titles };
    dlb_bench_table table;
    dlb_bench_table_init(&table, COLUMNS, true);
    for (int i = 0; i < COLUMNS; i++)
        dlb_bench_table_add(&table, titles[i]);
    for (int k = 0; k < o->slowdown_count; k++)
        add_tally(&table, o->slowdowns[k], &tallies[k]);
    printf("What check sees of slowdowns that were put into kernels of %s%s", o->model,
           o->load ? ", while somebody else computes on the same core every other 20 ms" : "");
    if (o->noise > 0)
        printf(", each slice up to %g %% longer by chance", o->noise);
    printf("\n\n");
    dlb_bench_table_print(&table, stdout);
    dlb_bench_table_release(&table);
    printf("\n  with an alarm: of the checks, those in which a kernel is said to be slower or "
           "faster; the rest: of all kernels; 95 %% intervals\n\n");
}

static int run(const options *o)
{
    dlb_error err;
    tally tallies[SLOWDOWNS_MAX] = {{0}};
    dlb_bench_scene scene = dlb_bench_scene_now();
    pid_t competitor = start_competitor(o);
    dlb_gate_settle();
    int status = check_all(o, tallies, &err);
    stop_competitor(competitor);
    if (tallies[0].checks) {
        print(o, tallies);
        dlb_bench_scene_print(&scene, 1);
    }
    return status < 0 ? dlb_cli_fail(name, &err) : DLB_EXIT_OK;
}

/* ---- What is asked for ---- */

static int parse_slowdowns(options *o, dlb_error *err)
{
    const char *list = o->slowdowns_text;
    char number[DLB_BENCH_WORD];
    while (dlb_bench_next_word(&list, number)) {
        if (o->slowdown_count == SLOWDOWNS_MAX)
            return dlb_fail(err, DLB_BAD_INPUT, "--slowdowns: more than %d", SLOWDOWNS_MAX);
        if (dlb_bench_real("--slowdowns", number, 0, 1000, &o->slowdowns[o->slowdown_count++],
                           err) < 0)
            return DLB_BAD_INPUT;
    }
    return o->slowdown_count ? 0 : dlb_fail(err, DLB_BAD_INPUT, "--slowdowns: none are given");
}

static int parse(options *o, dlb_error *err)
{
    if (dlb_relaunch_is_done())
        return dlb_fail(err, DLB_BAD_INPUT, "it measures one core and needs no launcher");
    if (dlb_bench_number("--checks", o->checks_text, 1, 100000, &o->checks, err) < 0 ||
        dlb_bench_real("--noise", o->noise_text, 0, 1000, &o->noise, err) < 0 ||
        parse_slowdowns(o, err) < 0)
        return DLB_BAD_INPUT;
    return o->csv ? dlb_csv_check(o->csv, header, err) : 0;
}

static int run_stats(int argc, char **argv)
{
    options o = {.checks_text = CHECKS,
                 .slowdowns_text = SLOWDOWNS,
                 .noise_text = "0",
                 .model = MODEL,
                 .only = ONLY};
    const dlb_flag flags[] = {
        {"checks", "of each slowdown (default " CHECKS ")", "N", &o.checks_text, NULL},
        {"slowdowns", "percents that are put in (default \"" SLOWDOWNS "\")", "LIST",
         &o.slowdowns_text, NULL},
        {"noise", "make every slice longer by up to so many percent, by chance (default 0)",
         "PERCENT", &o.noise_text, NULL},
        {"model", "whose kernels (default " MODEL ")", "NAME|FILE", &o.model, NULL},
        {"only", "those with one of these in their names (default " ONLY ")", "WORDS", &o.only,
         NULL},
        {"load", "let somebody else compute on the same core", NULL, NULL, &o.load},
        {"csv", "append one row a verdict to this file", "FILE", &o.csv, NULL},
    };
    const dlb_command command = {
        .name = name,
        .about = "Put known slowdowns into real kernels and count what check says of them: its "
                 "rate of false alarms and its power. ~5 s a check, twice as much of one that "
                 "finds something.",
        .operands = "",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags};
    dlb_arguments arguments;
    dlb_error err;
    int status;
    if (!dlb_cli_begin(&command, argc, argv, &arguments, &status))
        return status;
    return parse(&o, &err) < 0 ? dlb_cli_fail(name, &err) : run(&o);
}

int cmd_selftest(int argc, char **argv)
{
    static const char usage[] = "usage: dlbench selftest stats [--flag value …]\n\n"
                                "Show what the gate of dlbench check can see.\n\n"
                                "dlbench selftest stats --help lists its flags.\n";
    bool help = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    if (argc > 1 && strcmp(argv[1], "stats") == 0)
        return run_stats(argc - 1, argv + 1);
    fputs(usage, help ? stdout : stderr);
    return help ? DLB_EXIT_OK : DLB_EXIT_USAGE;
}
