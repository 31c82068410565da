#include <math.h>

#include "base/mem.h"
#include "cli/bench.h"
#include "cli/bench_row.h"
#include "cli/bench_table.h"
#include "cli/bench_training.h"
#include "cli/cmd.h"
#include "cli/relaunch.h"
#include "graph/model.h"

static const char name[] = "dlbench bench scaling";

#define RANKS   "2"
#define ROUNDS  "5"
#define MODEL   "keras_cnn"
#define BATCHES "8 16 32 64 128"

enum { BATCHES_MAX = 64, PROBE_IMAGES = 512, STEPS_MIN = 8 };

static const double run_s = 2.5; /* of a training, where its length is left to us */

typedef struct options {
    long long ranks, rounds;
    long long images; /* of a rank in a run; 0: left to us */
    const char *model, *csv;
    int batch_count;
    long long batches[BATCHES_MAX];
} options;

/* What is compared: one rank, and all. */
enum { ONE, ALL, SIDES };

/* A batch; every array has a value a round, NaN until it is measured. */
typedef struct point {
    long long batch, images; /* of a rank */
    double *rate[SIDES];     /* images/s */
    double *exposed, *wait;  /* % of the step, on all ranks */
} point;

typedef struct bench {
    const options *options;
    dlb_bench_trainings trainings;
    point *points;
} bench;

static int ranks_of(const bench *b, int side)
{
    return side == ONE ? 1 : (int)b->options->ranks;
}

/* ---- Raw measurements ---- */

static const char header[] =
    "model,batch,ranks,round,images,train_s,images_per_s,comm_exposed_pct,wait_pct,host";

static int save(const bench *b, const dlb_bench_training *t, int round,
                const dlb_bench_speed *speed, dlb_error *err)
{
    if (!b->options->csv)
        return 0;
    dlb_bench_row row = {0};
    dlb_bench_row_text(&row, t->model);
    dlb_bench_row_number(&row, (double)t->batch);
    dlb_bench_row_number(&row, t->ranks);
    dlb_bench_row_number(&row, round + 1);
    dlb_bench_row_number(&row, (double)(t->images * t->ranks));
    dlb_bench_row_number(&row, speed->train_s);
    dlb_bench_row_number(&row, speed->images_per_s);
    dlb_bench_row_number(&row, speed->exposed_pct);
    dlb_bench_row_number(&row, speed->wait_pct);
    dlb_bench_row_text(&row, speed->host);
    return dlb_bench_row_append(&row, b->options->csv, header, err);
}

/* ---- Measuring ---- */

/* So many images that a rank alone is busy for about run_s. */
static int size_runs(bench *b, point *p, dlb_error *err)
{
    p->images = b->options->images;
    if (p->images)
        return 0;
    dlb_bench_progress_show(&b->trainings.progress, "batch %lld: how long a run is to be",
                            p->batch);
    long long least = STEPS_MIN * p->batch;
    dlb_bench_training probe = {.model = b->options->model,
                                .ranks = 1,
                                .batch = p->batch,
                                .images = least > PROBE_IMAGES ? least : PROBE_IMAGES};
    dlb_bench_speed speed;
    int status = dlb_bench_train(&b->trainings, &probe, &speed, err);
    if (status < 0)
        return status;
    long long steps = llround(ceil(run_s * speed.images_per_s / (double)p->batch));
    p->images = (steps > STEPS_MIN ? steps : STEPS_MIN) * p->batch;
    return 0;
}

static int measure(bench *b, point *p, int round, int side, dlb_error *err)
{
    const options *o = b->options;
    dlb_bench_training training = {
        .model = o->model, .ranks = ranks_of(b, side), .batch = p->batch, .images = p->images};
    dlb_bench_progress_show(&b->trainings.progress, "round %d of %lld: batch %lld, %d rank%s",
                            round + 1, o->rounds, p->batch, training.ranks, side == ONE ? "" : "s");
    dlb_bench_speed speed;
    int status = dlb_bench_train(&b->trainings, &training, &speed, err);
    if (status < 0)
        return status;
    p->rate[side][round] = speed.images_per_s;
    if (side == ALL) {
        p->exposed[round] = speed.exposed_pct;
        p->wait[round] = speed.wait_pct;
    }
    return save(b, &training, round, &speed, err);
}

/* Batches and sides begin at another one in each round. */
static int measure_all(bench *b, dlb_error *err)
{
    int status = 0, batches = b->options->batch_count;
    for (int i = 0; i < batches && status == 0; i++)
        status = size_runs(b, &b->points[i], err);
    for (int round = 0; round < b->options->rounds && status == 0; round++)
        for (int i = 0; i < batches * SIDES && status == 0; i++)
            status = measure(b, &b->points[(round + i / SIDES) % batches], round,
                             (round + i) % SIDES, err);
    return status;
}

/* ---- The table ---- */

static dlb_spread spread_of(const bench *b, const double *values)
{
    return dlb_spread_of(values, (size_t)b->options->rounds);
}

static dlb_spread speedup_of(const bench *b, const point *p)
{
    size_t rounds = (size_t)b->options->rounds;
    double *ratios = dlb_alloc(rounds, sizeof *ratios);
    for (size_t i = 0; i < rounds; i++)
        ratios[i] = p->rate[ALL][i] / p->rate[ONE][i];
    dlb_spread spread = dlb_spread_of(ratios, rounds);
    free(ratios);
    return spread;
}

static void add_pct(dlb_bench_table *table, double pct)
{
    char text[32];
    snprintf(text, sizeof text, "%.1f %%", pct);
    dlb_bench_table_add(table, isnan(pct) ? "–" : text);
}

static void add_row(const bench *b, const point *p, dlb_bench_table *table)
{
    dlb_spread speedup = speedup_of(b, p);
    char range[64];
    snprintf(range, sizeof range, "%.2f…%.2f", speedup.min, speedup.max);
    dlb_bench_table_add(table, dlb_text_count((double)p->batch).text);
    for (int side = 0; side < SIDES; side++)
        dlb_bench_table_add(table, dlb_text_count(spread_of(b, p->rate[side]).median).text);
    dlb_bench_table_add(table, dlb_bench_ratio(speedup.median).text);
    dlb_bench_table_add(table, range);
    add_pct(table, spread_of(b, p->exposed).median);
    add_pct(table, spread_of(b, p->wait).median);
    dlb_bench_table_add(table, dlb_text_count((double)p->images).text);
}

static void add_titles(const bench *b, dlb_bench_table *table)
{
    char all[32];
    snprintf(all, sizeof all, "%lld ranks", b->options->ranks);
    const char *const titles[] = {"batch",   "1 rank",       all,       "speed-up",
                                  "min…max", "exposed comm", "waiting", "images a rank"};
    enum { COLUMNS = sizeof titles / sizeof *titles };
    dlb_bench_table_init(table, COLUMNS, false);
    for (int i = 0; i < COLUMNS; i++)
        dlb_bench_table_add(table, titles[i]);
}

static void print(const bench *b)
{
    const options *o = b->options;
    dlb_bench_table table;
    add_titles(b, &table);
    for (int i = 0; i < o->batch_count; i++)
        add_row(b, &b->points[i], &table);
    printf("Scaling of %s: images/s by the batch of a rank, 1 thread a rank\n"
           "median of %lld round%s; speed-up within a round\n\n",
           o->model, o->rounds, o->rounds == 1 ? "" : "s");
    dlb_bench_table_print(&table, stdout);
    dlb_bench_table_release(&table);
    printf("\n  exposed comm: communication that no computation hid; waiting: for other ranks;\n"
           "  both of the step's time on %lld ranks, mean of the ranks\n\n",
           o->ranks);
    dlb_launch all = {.ranks = (int)o->ranks, .threads = 1};
    if (dlb_launch_oversubscribes(&all, &b->trainings.machine))
        printf("note: %lld ranks share %d cores: times are not those of %lld cores\n", o->ranks,
               b->trainings.machine.cores, o->ranks);
    dlb_bench_scene_print(&b->trainings.scene, (int)o->ranks);
}

/* ---- Life ---- */

static double *make_missing(long long rounds)
{
    double *values = dlb_alloc((size_t)rounds, sizeof *values);
    for (long long i = 0; i < rounds; i++)
        values[i] = NAN;
    return values;
}

static void make_points(bench *b)
{
    const options *o = b->options;
    b->points = dlb_alloc((size_t)o->batch_count, sizeof *b->points);
    for (int i = 0; i < o->batch_count; i++)
        b->points[i] = (point){.batch = o->batches[i],
                               .rate = {make_missing(o->rounds), make_missing(o->rounds)},
                               .exposed = make_missing(o->rounds),
                               .wait = make_missing(o->rounds)};
}

static void free_points(bench *b)
{
    for (int i = 0; i < b->options->batch_count; i++) {
        free(b->points[i].wait);
        free(b->points[i].exposed);
        free(b->points[i].rate[ALL]);
        free(b->points[i].rate[ONE]);
    }
    free(b->points);
}

static int run(const options *o)
{
    dlb_error err;
    bench b = {.options = o};
    if (dlb_bench_trainings_begin(&b.trainings, &err) < 0)
        return dlb_cli_fail(name, &err);
    make_points(&b);
    int status = measure_all(&b, &err);
    dlb_bench_trainings_end(&b.trainings);
    if (status == 0)
        print(&b);
    free_points(&b);
    return status < 0 ? dlb_cli_fail(name, &err) : DLB_EXIT_OK;
}

/* ---- What is asked for ---- */

/* Numbers, separated by blanks or commas. */
static int parse_batches(const char *text, options *o, dlb_error *err)
{
    const struct dlb_key_info *key = dlb_key_info(DLB_KEY_batch);
    char number[DLB_BENCH_WORD];
    o->batch_count = 0;
    while (dlb_bench_next_word(&text, number)) {
        if (o->batch_count == BATCHES_MAX)
            return dlb_fail(err, DLB_BAD_INPUT, "--batches: more than %d", BATCHES_MAX);
        if (dlb_bench_number("--batches", number, (long long)key->min, (long long)key->max,
                             &o->batches[o->batch_count++], err) < 0)
            return DLB_BAD_INPUT;
    }
    return o->batch_count ? 0 : dlb_fail(err, DLB_BAD_INPUT, "--batches: none are given");
}

/* What each training would refuse is refused before the first. */
static int check(const options *o, dlb_error *err)
{
    if (dlb_relaunch_is_done())
        return dlb_fail(err, DLB_BAD_INPUT,
                        "it starts its trainings under a launcher and is not to be started by one");
    dlb_model model;
    int status = dlb_model_load(&model, o->model, err);
    if (status < 0)
        return status;
    dlb_model_release(&model);
    return o->csv ? dlb_csv_check(o->csv, header, err) : 0;
}

/* What stands after the flags, as text; NULL: not given. */
typedef struct texts {
    const char *ranks, *rounds, *images, *batches;
} texts;

static int parse(const texts *t, options *o, dlb_error *err)
{
    if (dlb_bench_number("--ranks", t->ranks, 2, 4096, &o->ranks, err) < 0 ||
        dlb_bench_number("--rounds", t->rounds, 1, 100000, &o->rounds, err) < 0 ||
        parse_batches(t->batches, o, err) < 0)
        return DLB_BAD_INPUT;
    if (t->images && dlb_bench_number("--images", t->images, 1, 1000000, &o->images, err) < 0)
        return DLB_BAD_INPUT;
    return check(o, err);
}

int dlb_bench_scaling(int argc, char **argv)
{
    texts t = {.ranks = RANKS, .rounds = ROUNDS, .batches = BATCHES};
    options o = {.model = MODEL};
    const dlb_flag flags[] = {
        {"ranks", "processes that are compared with one (default " RANKS ")", "N", &t.ranks, NULL},
        {"rounds", "trainings of each (default " ROUNDS ")", "N", &t.rounds, NULL},
        {"model", "a built-in model or the path of a .model file (default " MODEL ")", "NAME|FILE",
         &o.model, NULL},
        {"batches", "images in a step of one rank (default \"" BATCHES "\")", "LIST", &t.batches,
         NULL},
        {"images", "images of one rank in a training (default: a few seconds of them)", "N",
         &t.images, NULL},
        {"csv", "append one row a training to this file", "FILE", &o.csv, NULL},
    };
    const dlb_command command = {
        .name = name,
        .about = "Compare the training speed of several ranks with that of one, 1 thread each, by "
                 "short trainings on made-up images, in turn. ~3 min.",
        .operands = "",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags};
    dlb_arguments arguments;
    dlb_error err;
    int status;
    if (!dlb_cli_begin(&command, argc, argv, &arguments, &status))
        return status;
    return parse(&t, &o, &err) < 0 ? dlb_cli_fail(name, &err) : run(&o);
}
