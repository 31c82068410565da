#include <math.h>

#include "base/mem.h"
#include "cli/bench.h"
#include "cli/bench_table.h"
#include "cli/bench_training.h"
#include "cli/cmd.h"
#include "cli/relaunch.h"

static const char name[] = "dlbench bench workers";

#define WORKERS "128"
#define ROUNDS  "5"
#define MODEL   "horovod_cnn"
#define BATCH   "64"
#define IMAGES  "60000"

typedef struct options {
    long long workers, rounds, batch, images;
    const char *model;
} options;

/* What is compared: a single worker, and all. */
enum { ONE, ALL, SIDES };

typedef struct bench {
    const options *options;
    dlb_bench_trainings trainings;
    double *train_s[SIDES], *peak_mb[SIDES]; /* a value a round */
} bench;

static long long workers_of(const bench *b, int side)
{
    return side == ONE ? 1 : b->options->workers;
}

static int measure(bench *b, int round, int side, dlb_error *err)
{
    const options *o = b->options;
    dlb_bench_training training = {.model = o->model,
                                   .ranks = 1,
                                   .workers = workers_of(b, side),
                                   .batch = o->batch,
                                   .images = o->images};
    dlb_bench_speed speed;
    dlb_bench_progress_show(&b->trainings.progress, "round %d of %lld: %lld worker%s", round + 1,
                            o->rounds, training.workers, side == ONE ? "" : "s");
    int status = dlb_bench_train(&b->trainings, &training, &speed, err);
    if (status < 0)
        return status;
    b->train_s[side][round] = speed.train_s;
    b->peak_mb[side][round] = speed.peak_mb;
    return 0;
}

/* The other one begins in each round. */
static int measure_all(bench *b, dlb_error *err)
{
    int status = 0;
    for (int i = 0; i < b->options->rounds * SIDES && status == 0; i++)
        status = measure(b, i / SIDES, (i / SIDES + i) % SIDES, err);
    return status;
}

static dlb_spread cost_of(const bench *b)
{
    size_t rounds = (size_t)b->options->rounds;
    double *ratios = dlb_alloc(rounds, sizeof *ratios);
    for (size_t i = 0; i < rounds; i++)
        ratios[i] = b->train_s[ALL][i] / b->train_s[ONE][i];
    dlb_spread spread = dlb_spread_of(ratios, rounds);
    free(ratios);
    return spread;
}

static void print_table(const bench *b)
{
    size_t rounds = (size_t)b->options->rounds;
    dlb_bench_table table;
    dlb_bench_table_init(&table, 4, false);
    const char *const titles[] = {"workers", "epoch", "quartiles", "memory"};
    for (int i = 0; i < 4; i++)
        dlb_bench_table_add(&table, titles[i]);
    for (int side = 0; side < SIDES; side++) {
        char memory[32];
        dlb_spread train_s = dlb_spread_of(b->train_s[side], rounds);
        snprintf(memory, sizeof memory, "%.1f MB", dlb_median(b->peak_mb[side], rounds));
        dlb_bench_table_add(&table, dlb_text_count((double)workers_of(b, side)).text);
        dlb_bench_table_add_time(&table, &train_s);
        dlb_bench_table_add(&table, memory);
    }
    dlb_bench_table_print(&table, stdout);
    dlb_bench_table_release(&table);
}

static void print(const bench *b)
{
    const options *o = b->options;
    dlb_spread cost = cost_of(b);
    printf("Workers of %s on one rank of 1 thread: %s images, %lld a batch\n"
           "median of %lld round%s\n\n",
           o->model, dlb_text_count((double)o->images).text, o->batch, o->rounds,
           o->rounds == 1 ? "" : "s");
    print_table(b);
    printf("\n  an epoch of %lld workers takes %.2f times as long (%.2f…%.2f within a round)\n\n",
           o->workers, cost.median, cost.min, cost.max);
    dlb_bench_scene_print(&b->trainings.scene, 1);
}

static int run(const options *o)
{
    dlb_error err;
    bench b = {.options = o};
    if (dlb_bench_trainings_begin(&b.trainings, &err) < 0)
        return dlb_cli_fail(name, &err);
    for (int side = 0; side < SIDES; side++) {
        b.train_s[side] = dlb_alloc((size_t)o->rounds, sizeof(double));
        b.peak_mb[side] = dlb_alloc((size_t)o->rounds, sizeof(double));
    }
    int status = measure_all(&b, &err);
    dlb_bench_trainings_end(&b.trainings);
    if (status == 0)
        print(&b);
    for (int side = 0; side < SIDES; side++) {
        free(b.peak_mb[side]);
        free(b.train_s[side]);
    }
    return status < 0 ? dlb_cli_fail(name, &err) : DLB_EXIT_OK;
}

/* What stands after the flags, as text. */
typedef struct texts {
    const char *workers, *rounds, *batch, *images;
} texts;

static int parse(const texts *t, options *o, dlb_error *err)
{
    if (dlb_relaunch_is_done())
        return dlb_fail(err, DLB_BAD_INPUT, "it starts its trainings itself, without a launcher");
    if (dlb_bench_number("--workers", t->workers, 2, 1 << 20, &o->workers, err) < 0 ||
        dlb_bench_number("--rounds", t->rounds, 1, 100000, &o->rounds, err) < 0 ||
        dlb_bench_number("--batch", t->batch, 1, 65536, &o->batch, err) < 0)
        return DLB_BAD_INPUT;
    return dlb_bench_number("--images", t->images, 1, 100000000, &o->images, err);
}

int dlb_bench_workers(int argc, char **argv)
{
    texts t = {.workers = WORKERS, .rounds = ROUNDS, .batch = BATCH, .images = IMAGES};
    options o = {.model = MODEL};
    const dlb_flag flags[] = {
        {"workers", "that are compared with a single one (default " WORKERS ")", "N", &t.workers,
         NULL},
        {"rounds", "trainings of each (default " ROUNDS ")", "N", &t.rounds, NULL},
        {"model", "a built-in model or the path of a .model file (default " MODEL ")", "NAME|FILE",
         &o.model, NULL},
        {"batch", "images in a step of one worker (default " BATCH ")", "N", &t.batch, NULL},
        {"images", "images of an epoch (default " IMAGES ")", "N", &t.images, NULL},
    };
    const dlb_command command = {
        .name = name,
        .about = "What an epoch of many workers costs on one rank of one thread, in time and "
                 "memory, against one of a single worker; in turn. ~1 min.",
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
