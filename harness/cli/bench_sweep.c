#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/bench.h"
#include "cli/bench_progress.h"
#include "cli/bench_scene.h"
#include "cli/bench_table.h"
#include "cli/bench_training.h"
#include "cli/cmd.h"
#include "cli/relaunch.h"
#include "cli/stop.h"
#include "record/row.h"

static const char name[] = "dlbench bench sweep";

#define POINTS "100"
#define ROUNDS "5"
#define ROWS   "1000000"

static const char no_op[] = "/bin/true";

typedef struct options {
    long long points, rounds, rows;
} options;

/* What is timed in each round. */
enum { LOOP, SWEEP, SWEEP_OF_ONE, TIMED };

typedef struct bench {
    const options *options;
    char program[PATH_MAX], folder[PATH_MAX];
    dlb_bench_progress progress;
    double *times[TIMED];   /* seconds, one a round */
    double expand_s;        /* a million points */
    double rows_s, rows_mb; /* reading and summarising the rows, and its memory */
} bench;

/* ---- Processes ---- */

/* Run a program without a word from it and wait; its exit status must be 0. */
static int run_program(char *const *argv, struct rusage *usage, dlb_error *err)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed)
        return dlb_fail(err, DLB_FAIL, "%s cannot be started: %s", argv[0], strerror(failed));
    while (wait4(pid, &status, 0, usage) < 0 && errno == EINTR)
        continue;
    if (dlb_stop_asked())
        return dlb_fail(err, DLB_STOPPED, "stopped before all was measured");
    if (status != 0)
        return dlb_fail(err, DLB_FAIL, "%s %s ended with status %d", argv[0],
                        argv[1] ? argv[1] : "", status);
    return 0;
}

static int run_loop(long long points, dlb_error *err)
{
    char *const argv[] = {(char *)no_op, NULL};
    int status = 0;
    for (long long i = 0; i < points && status == 0; i++)
        status = run_program(argv, &(struct rusage){0}, err);
    return status;
}

/* ---- Files ---- */

static void path_in(const bench *b, const char *file, dlb_str *path)
{
    dlb_str_clear(path);
    dlb_str_addf(path, "%s/%s", b->folder, file);
}

static int write_file(const bench *b, const char *file, const dlb_str *text, dlb_error *err)
{
    dlb_str path = DLB_STR_INIT;
    path_in(b, file, &path);
    int status = dlb_file_write_atomic(path.text, text->text, text->length, err);
    dlb_str_release(&path);
    return status;
}

static int write_study(const bench *b, const char *file, long long points, dlb_error *err)
{
    dlb_str text = DLB_STR_INIT;
    dlb_str_addf(&text, "[workload]\ncommand = %s {param.i}\n[grid]\nparam.i = 1..%lld\n", no_op,
                 points);
    int status = write_file(b, file, &text, err);
    dlb_str_release(&text);
    return status;
}

/* A million points with a derived key and a condition. */
static int write_large_study(const bench *b, dlb_error *err)
{
    dlb_str text = DLB_STR_INIT;
    dlb_str_addf(&text, "[workload]\ncommand = %s", no_op);
    for (char axis = 'a'; axis <= 'f'; axis++)
        dlb_str_addf(&text, " {param.%c}", axis);
    dlb_str_add(&text, " {param.sum}\n[grid]\n");
    for (char axis = 'a'; axis <= 'f'; axis++)
        dlb_str_addf(&text, "param.%c = 1..10\n", axis);
    dlb_str_add(&text, "param.sum = param.a + param.b\nwhere = param.sum > 1\n");
    int status = write_file(b, "large.ini", &text, err);
    dlb_str_release(&text);
    return status;
}

/* Ten repeats of each point, all columns of a training filled. */
static void fill_row(dlb_row *row, long long i)
{
    char text[32];
    long long point = i / 10;
    snprintf(text, sizeof text, "%016llx", (unsigned long long)point * 0x9e3779b97f4a7c15u);
    dlb_row_set_text(row, DLB_RUN_point, text);
    snprintf(text, sizeof text, "%012llx-%lld", point, i % 10 + 1);
    dlb_row_set_text(row, DLB_RUN_run, text);
    dlb_row_set_int(row, DLB_RUN_repeat, i % 10 + 1);
    dlb_row_set_int(row, DLB_RUN_workers, 1LL << point % 8);
    dlb_row_set_int(row, DLB_RUN_ranks, 1LL << point % 8);
    dlb_row_set_int(row, DLB_RUN_threads, 1 + point / 8 % 64);
    dlb_row_set_int(row, DLB_RUN_train_images, 1000 + point / 512);
    dlb_row_set_real(row, DLB_RUN_time_to_solution_s, 10 + (double)(i * 7919 % 1000) / 997);
    dlb_row_set_real(row, DLB_RUN_test_accuracy, 0.98 + (double)(i * 104729 % 1000) / 99991);
}

static void fill_constants(dlb_row *row)
{
    for (int column = 0; column < row->table->count; column++)
        switch (row->table->columns[column].type) {
        case DLB_COLUMN_INT:
            dlb_row_set_int(row, column, 64);
            break;
        case DLB_COLUMN_REAL:
            dlb_row_set_real(row, column, 0.125);
            break;
        case DLB_COLUMN_TEXT:
            dlb_row_set_text(row, column, "no");
            break;
        }
    dlb_row_set_text(row, DLB_RUN_status, "ok");
    dlb_row_set_text(row, DLB_RUN_reason, "");
    dlb_row_set_text(row, DLB_RUN_notes, "");
}

static int write_rows(bench *b, dlb_error *err)
{
    dlb_str path = DLB_STR_INIT, line = DLB_STR_INIT;
    path_in(b, "runs.csv", &path);
    FILE *file = fopen(path.text, "we");
    dlb_str_release(&path);
    if (!file)
        return dlb_fail(err, DLB_FAIL, "%s/runs.csv: %s", b->folder, strerror(errno));
    dlb_row row;
    dlb_row_init(&row, &dlb_table_runs);
    fill_constants(&row);
    dlb_row_header(&row, &line);
    for (long long i = 0; i < b->options->rows && !dlb_stop_asked(); i++) {
        dlb_str_add(&line, "\n");
        fwrite(line.text, 1, line.length, file);
        dlb_str_clear(&line);
        fill_row(&row, i);
        dlb_row_line(&row, &line);
        dlb_bench_progress_show(&b->progress, "writing %lld rows: %lld", b->options->rows, i);
    }
    dlb_str_add(&line, "\n");
    fwrite(line.text, 1, line.length, file);
    dlb_row_release(&row);
    dlb_str_release(&line);
    return fclose(file) == 0 ? 0 : dlb_fail(err, DLB_FAIL, "runs.csv: %s", strerror(errno));
}

/* ---- Measuring ---- */

/* This program, with a command, a file in the folder, and words after it, ended by NULL. */
static int run_self(const bench *b, const char *command, const char *file, const char *const *words,
                    struct rusage *usage, dlb_error *err)
{
    enum { MOST = 12 };
    char *argv[MOST] = {(char *)b->program, (char *)command};
    dlb_str path = DLB_STR_INIT;
    path_in(b, file, &path);
    argv[2] = path.text;
    for (int i = 0; words[i] && i + 4 < MOST; i++)
        argv[i + 3] = (char *)words[i];
    int status = run_program(argv, usage, err);
    dlb_str_release(&path);
    return status;
}

static int sweep(const bench *b, const char *file, int round, dlb_error *err)
{
    dlb_str out = DLB_STR_INIT;
    char folder[64];
    snprintf(folder, sizeof folder, "%s.%d", file, round);
    path_in(b, folder, &out);
    const char *const words[] = {"--no-plots", "--out", out.text, NULL};
    int status = run_self(b, "sweep", file, words, &(struct rusage){0}, err);
    dlb_str_release(&out);
    return status;
}

static int run_timed(const bench *b, int what, int round, dlb_error *err)
{
    if (what == LOOP)
        return run_loop(b->options->points, err);
    return sweep(b, what == SWEEP ? "study.ini" : "one.ini", round, err);
}

static int measure_round(bench *b, int round, dlb_error *err)
{
    int status = 0;
    dlb_bench_progress_show(&b->progress, "round %d of %lld", round + 1, b->options->rounds);
    for (int i = 0; i < TIMED && status == 0; i++) {
        int what = (i + round) % TIMED;
        double start = dlb_clock_s();
        status = run_timed(b, what, round, err);
        b->times[what][round] = dlb_clock_s() - start;
    }
    return status;
}

static int measure_expansion(bench *b, dlb_error *err)
{
    const char *const words[] = {"--dry-run", NULL};
    int status = write_large_study(b, err);
    double start = dlb_clock_s();
    dlb_bench_progress_show(&b->progress, "a million points");
    if (status == 0)
        status = run_self(b, "sweep", "large.ini", words, &(struct rusage){0}, err);
    b->expand_s = dlb_clock_s() - start;
    return status;
}

static int measure_rows(bench *b, dlb_error *err)
{
    const char *const words[] = {NULL};
    struct rusage usage = {0};
    int status = write_rows(b, err);
    double start = dlb_clock_s();
    if (status == 0)
        status = run_self(b, "report", "runs.csv", words, &usage, err);
    b->rows_s = dlb_clock_s() - start;
    b->rows_mb = (double)usage.ru_maxrss * 1024e-6;
    return status;
}

static int measure_all(bench *b, dlb_error *err)
{
    int status = write_study(b, "study.ini", b->options->points, err);
    if (status == 0)
        status = write_study(b, "one.ini", 1, err);
    for (int round = 0; round < b->options->rounds && status == 0; round++)
        status = measure_round(b, round, err);
    if (status == 0)
        status = measure_expansion(b, err);
    if (status == 0)
        status = measure_rows(b, err);
    dlb_bench_progress_clear(&b->progress);
    return status;
}

/* ---- Telling ---- */

/* What a point costs beyond its program, and what comes before the first and after the last. */
static void compute_costs(const bench *b, double *a_point, double *start)
{
    double points = (double)b->options->points;
    for (int round = 0; round < b->options->rounds; round++) {
        double bare = b->times[LOOP][round] / points;
        a_point[round] =
            (b->times[SWEEP][round] - b->times[SWEEP_OF_ONE][round]) / (points - 1) - bare;
        start[round] = b->times[SWEEP_OF_ONE][round] - bare;
    }
}

static void add_line(dlb_bench_table *table, const char *what, const double *times, size_t rounds)
{
    dlb_spread spread = dlb_spread_of(times, rounds);
    dlb_bench_table_add(table, what);
    dlb_bench_table_add_time(table, &spread);
}

static void print(const bench *b, const dlb_bench_scene *scene)
{
    size_t rounds = (size_t)b->options->rounds;
    double *a_point = dlb_alloc(rounds, sizeof *a_point), *start = dlb_alloc(rounds, sizeof *start);
    dlb_bench_table table;
    compute_costs(b, a_point, start);
    printf("A sweep of %lld points of %s against the bare loop of the same command\n\n",
           b->options->points, no_op);
    dlb_bench_table_init(&table, 3, true);
    dlb_bench_table_add(&table, "");
    dlb_bench_table_add(&table, "median");
    dlb_bench_table_add(&table, "quartiles");
    add_line(&table, "bare loop, all points", b->times[LOOP], rounds);
    add_line(&table, "sweep, all points", b->times[SWEEP], rounds);
    add_line(&table, "sweep beyond the loop, a point", a_point, rounds);
    add_line(&table, "start and end of a sweep", start, rounds);
    dlb_bench_table_print(&table, stdout);
    dlb_bench_table_release(&table);
    printf("\n  a million points expanded, with the start of the program: %.2f s\n", b->expand_s);
    printf("  %s rows of runs.csv read and summarised: %.2f s, %.0f MB\n\n",
           dlb_text_count((double)b->options->rows).text, b->rows_s, b->rows_mb);
    dlb_bench_scene_print(scene, 1);
    free(start);
    free(a_point);
}

/* ---- The whole ---- */

static int prepare(bench *b, dlb_error *err)
{
    if (dlb_relaunch_path(b->program, err) < 0 || dlb_bench_make_folder(b->folder, err) < 0)
        return DLB_FAIL;
    for (int what = 0; what < TIMED; what++)
        b->times[what] = dlb_alloc((size_t)b->options->rounds, sizeof *b->times[what]);
    dlb_bench_progress_init(&b->progress, stderr);
    return 0;
}

static void clean_up(bench *b)
{
    dlb_file_remove_tree(b->folder);
    for (int what = 0; what < TIMED; what++)
        free(b->times[what]);
}

static int run(const options *o)
{
    dlb_error err;
    bench b = {.options = o};
    dlb_bench_scene scene = dlb_bench_scene_now();
    if (prepare(&b, &err) < 0)
        return dlb_cli_fail(name, &err);
    dlb_stop_catch();
    int status = measure_all(&b, &err);
    if (status == 0)
        print(&b, &scene);
    clean_up(&b);
    return status < 0 ? dlb_cli_fail(name, &err) : DLB_EXIT_OK;
}

int dlb_bench_sweep(int argc, char **argv)
{
    options o = {0};
    const char *points = POINTS, *rounds = ROUNDS, *rows = ROWS;
    const dlb_flag flags[] = {
        {"points", "of the no-op program; " POINTS " unless given", "N", &points, NULL},
        {"rounds", "how often all is measured; " ROUNDS " unless given", "N", &rounds, NULL},
        {"rows", "of the runs.csv that is summarised; " ROWS " unless given", "N", &rows, NULL},
    };
    const dlb_command command = {
        .name = name,
        .about = "What the harness itself costs: a sweep of a program that does nothing against "
                 "the bare loop of the same commands, expanding a million points, and "
                 "summarising many rows.",
        .operands = "",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags};
    dlb_arguments arguments;
    dlb_error err;
    int status;
    if (!dlb_cli_begin(&command, argc, argv, &arguments, &status))
        return status;
    if (dlb_bench_number("--points", points, 2, 100000, &o.points, &err) < 0 ||
        dlb_bench_number("--rounds", rounds, 1, 1000, &o.rounds, &err) < 0 ||
        dlb_bench_number("--rows", rows, 10, 100000000, &o.rows, &err) < 0)
        return dlb_cli_fail(name, &err);
    return run(&o);
}
