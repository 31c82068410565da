#include <math.h>

#include "base/mem.h"
#include "cli/bench.h"
#include "cli/bench_apart.h"
#include "cli/bench_data.h"
#include "cli/bench_row.h"
#include "cli/bench_table.h"
#include "cli/bench_training.h"
#include "cli/cmd.h"
#include "cli/relaunch.h"
#include "measure/cores.h"
#include "measure/peak.h"
#include "measure/round_trip.h"
#include "train/defaults.h"

static const char name[] = "dlbench bench cores";

#define MODEL  "keras_cnn"
#define DATA   "mnist"
#define ROUNDS "5"

enum { CORES_MAX = 4096, STEPS_MIN = 8 };

static const double run_s = 2.5; /* of a training on one core, where its length is left to us */

typedef struct options {
    long long cores, rounds;
    long long batch;  /* of all ranks together; 0: the model's own */
    long long images; /* of a training of one epoch; 0: left to us */
    const char *model, *data, *csv;
    dlb_bench_images set; /* what the data set has */
} options;

/*
 * What is compared: one core, all cores as threads of a rank, and as ranks that share its batch;
 * ranks that have a batch each, with one core that computes these batches in turn, which is the
 * same training bit by bit; and as many trainings as there are cores, which have nothing to do with
 * each other.
 */
enum { ONE, THREADS, RANKS, IN_TURN, BATCHES, APART, SIDES };

static int base_of(int which)
{
    return which == BATCHES ? IN_TURN : ONE;
}

/* Each has a value a round, NaN until it is measured. */
typedef struct side {
    double *rate, *step_rate, *eval_rate; /* images/s: of all, in the median step, forward only */
    double *peak_mb;
    char label[48];
} side;

typedef struct bench {
    const options *options;
    dlb_bench_trainings trainings;
    dlb_bench_length length; /* of a training whose cores share a batch */
    side sides[SIDES];
    double peak_one_now, peak_all_now; /* GFLOP/s, right before a training */
    double *peak_one, *peak_all;       /* the best of each round */
    double *trips; /* ns to another core and back, before each training and after the last; NaN:
                      unknown */
} bench;

/* Which of all trainings that of a side is in a round: another side begins in each. */
static int turn_of(int which, int round)
{
    return round * SIDES + (which + SIDES - round % SIDES) % SIDES;
}

/* ---- Raw measurements ---- */

static const char header[] = "model,data,batch,side,ranks,threads,round,images,epochs,images_per_s,"
                             "median_step_images_per_s,"
                             "eval_images_per_s,peak_rss_mb,peak_one_gflops,peak_all_gflops,"
                             "round_trip_ns,round_trip_after_ns,host";

static int save(const bench *b, int which, const dlb_bench_training *t, int round, const char *host,
                dlb_error *err)
{
    static const char *const names[] = {
        [ONE] = "one",         [THREADS] = "threads", [RANKS] = "ranks",
        [IN_TURN] = "in_turn", [BATCHES] = "batches", [APART] = "apart"};
    const side *s = &b->sides[which];
    if (!b->options->csv)
        return 0;
    dlb_bench_row row = {0};
    dlb_bench_row_text(&row, t->model);
    dlb_bench_row_text(&row, t->data);
    dlb_bench_row_number(&row, (double)b->options->batch);
    dlb_bench_row_text(&row, names[which]);
    dlb_bench_row_number(&row, t->ranks);
    dlb_bench_row_number(&row, t->threads);
    dlb_bench_row_number(&row, round + 1);
    dlb_bench_row_number(&row, (double)(t->images * t->ranks));
    dlb_bench_row_number(&row, (double)t->epochs);
    dlb_bench_row_number(&row, s->rate[round]);
    dlb_bench_row_number(&row, s->step_rate[round]);
    dlb_bench_row_number(&row, s->eval_rate[round]);
    dlb_bench_row_number(&row, s->peak_mb[round]);
    dlb_bench_row_number(&row, b->peak_one_now);
    dlb_bench_row_number(&row, b->peak_all_now);
    dlb_bench_row_number(&row, b->trips[turn_of(which, round)]);
    dlb_bench_row_number(&row, b->trips[turn_of(which, round) + 1]);
    dlb_bench_row_text(&row, host);
    return dlb_bench_row_append(&row, b->options->csv, header, err);
}

/* ---- Measuring ---- */

/*
 * The same images, in the same steps, whoever computes them. Where a step has several batches,
 * there are as many steps, so as many epochs more: what is zero depends on how much is learned.
 */
static dlb_bench_training training_of(const bench *b, int which)
{
    const options *o = b->options;
    int ranks = which == RANKS || which == BATCHES ? (int)o->cores : 1;
    int batches = which == BATCHES || which == IN_TURN ? (int)o->cores : 1;
    int workers = which == IN_TURN ? batches : ranks;
    return (dlb_bench_training){.steps = true,
                                .model = o->model,
                                .data = o->data,
                                .ranks = ranks,
                                .threads = which == THREADS ? (int)o->cores : 1,
                                .workers = workers,
                                .batch = o->batch * batches / workers,
                                .epochs = b->length.epochs * batches,
                                .images = b->length.epoch.train / ranks,
                                .test_images = b->length.epoch.test / ranks};
}

static void set_length(bench *b, double images)
{
    const options *o = b->options;
    b->length = dlb_bench_length_of(images, o->batch * o->cores, &o->set);
}

/* As long as was asked for, or such that one core trains for about run_s. */
static int size_runs(bench *b, dlb_error *err)
{
    const options *o = b->options;
    set_length(b, (double)(o->images ? o->images : STEPS_MIN * o->batch));
    if (o->images)
        return 0;
    dlb_bench_progress_show(&b->trainings.progress, "how long a run is to be");
    dlb_bench_training probe = training_of(b, ONE);
    dlb_bench_speed speed;
    int status = dlb_bench_train(&b->trainings, &probe, &speed, err);
    if (status == 0)
        set_length(b, fmax(run_s * speed.images_per_s, (double)(STEPS_MIN * o->batch)));
    return status;
}

static int measure(bench *b, int which, int round, dlb_error *err)
{
    dlb_bench_training training = training_of(b, which);
    side *s = &b->sides[which];
    dlb_bench_speed speed;
    dlb_bench_progress_show(&b->trainings.progress, "round %d of %lld: %s", round + 1,
                            b->options->rounds, s->label);
    int status = which == APART ? dlb_bench_train_apart(&b->trainings, &training,
                                                        (int)b->options->cores, &speed, err)
                                : dlb_bench_train(&b->trainings, &training, &speed, err);
    if (status < 0)
        return status;
    s->rate[round] = speed.images_per_s;
    s->step_rate[round] = speed.step_images_per_s;
    s->eval_rate[round] = speed.eval_images_per_s;
    s->peak_mb[round] = speed.peak_mb;
    b->trips[turn_of(which, round) + 1] = dlb_round_trip_ns().number;
    return save(b, which, &training, round, speed.host, err);
}

static void measure_peaks(bench *b, int round)
{
    dlk_isa isa = dlk_isa_best();
    b->peak_one_now = dlb_peak_gflops(1, isa).number;
    b->peak_all_now = dlb_peak_gflops((int)b->options->cores, isa).number;
    b->peak_one[round] = fmax(b->peak_one[round], b->peak_one_now);
    b->peak_all[round] = fmax(b->peak_all[round], b->peak_all_now);
}

static int measure_all(bench *b, dlb_error *err)
{
    int status = size_runs(b, err);
    b->trips[0] = dlb_round_trip_ns().number;
    for (int i = 0; i < b->options->rounds * SIDES && status == 0; i++) {
        int round = i / SIDES;
        measure_peaks(b, round);
        status = measure(b, (round + i) % SIDES, round, err);
    }
    return status;
}

/* ---- The table ---- */

static dlb_spread spread_of(const bench *b, const double *values)
{
    return dlb_spread_of(values, (size_t)b->options->rounds);
}

/* Of above / below within a round. */
static dlb_spread ratio_of(const bench *b, const double *above, const double *below)
{
    size_t rounds = (size_t)b->options->rounds;
    double *ratios = dlb_alloc(rounds, sizeof *ratios);
    for (size_t i = 0; i < rounds; i++)
        ratios[i] = above[i] / below[i];
    dlb_spread spread = spread_of(b, ratios);
    free(ratios);
    return spread;
}

/* The same by what the peak gained in that round, in rounds that count; NULL: all do. */
static dlb_spread efficiency_of(const bench *b, const double *above, const double *below,
                                const bool *counts)
{
    size_t count = 0, rounds = (size_t)b->options->rounds;
    double *ratios = dlb_alloc(rounds, sizeof *ratios);
    for (size_t i = 0; i < rounds; i++)
        if (!counts || counts[i])
            ratios[count++] = above[i] / below[i] / (b->peak_all[i] / b->peak_one[i]);
    dlb_spread spread = dlb_spread_of(ratios, count);
    free(ratios);
    return spread;
}

static void add_memory(dlb_bench_table *table, double megabytes)
{
    char text[32];
    snprintf(text, sizeof text, "%.0f MB", megabytes);
    dlb_bench_table_add(table, isnan(megabytes) ? "–" : text);
}

static void add_row(const bench *b, int which, dlb_bench_table *table)
{
    const side *s = &b->sides[which], *base = &b->sides[base_of(which)];
    dlb_spread speedup = ratio_of(b, s->rate, base->rate);
    dlb_spread efficiency = {.median = NAN}, by_step = efficiency;
    if (which != ONE && which != IN_TURN) {
        efficiency = efficiency_of(b, s->rate, base->rate, NULL);
        by_step = efficiency_of(b, s->step_rate, base->step_rate, NULL);
    }
    dlb_bench_table_add(table, s->label);
    dlb_bench_table_add(table, dlb_text_count(spread_of(b, s->rate).median).text);
    dlb_bench_table_add_ratio(table, &speedup);
    dlb_bench_table_add_ratio(table, &efficiency);
    dlb_bench_table_add(table, dlb_bench_ratio(by_step.median).text);
    dlb_bench_table_add(table, dlb_bench_ratio(ratio_of(b, s->eval_rate, s->rate).median).text);
    add_memory(table, spread_of(b, s->peak_mb).max);
}

static void print_table(const bench *b)
{
    static const char *const titles[] = {"on",        "images/s",      "speed-up",
                                         "quartiles", "of the peak's", "quartiles",
                                         "by steps",  "evaluation",    "memory"};
    enum { COLUMNS = sizeof titles / sizeof *titles };
    dlb_bench_table table;
    dlb_bench_table_init(&table, COLUMNS, true);
    for (int i = 0; i < COLUMNS; i++)
        dlb_bench_table_add(&table, titles[i]);
    for (int i = 0; i < SIDES; i++)
        add_row(b, i, &table);
    dlb_bench_table_print(&table, stdout);
    dlb_bench_table_release(&table);
}

static void print_heading(const bench *b)
{
    const options *o = b->options;
    const dlb_bench_length *l = &b->length;
    printf("Cores and %s: %s images × %lld epoch%s of %s in steps of %lld, shared by all cores\n"
           "median of %lld round%s; ratios within a round\n\n",
           o->model, dlb_text_count((double)l->epoch.train).text, l->epochs,
           l->epochs == 1 ? "" : "s", o->data, o->batch, o->rounds, o->rounds == 1 ? "" : "s");
}

/* ---- How far apart the cores were, which a virtual machine does not keep constant ---- */

static bool was_near(const bench *b, int which, int round, double near_ns)
{
    const double *trip = &b->trips[turn_of(which, round)];
    return trip[0] < near_ns && trip[1] < near_ns;
}

/* Of the peak's gain, in the rounds whose training was near, or in the others. */
static void print_side(const bench *b, int which, double near_ns, bool near)
{
    const side *s = &b->sides[which];
    int rounds = (int)b->options->rounds;
    bool *counts = dlb_alloc((size_t)rounds, sizeof *counts);
    for (int i = 0; i < rounds; i++)
        counts[i] = was_near(b, which, i, near_ns) == near;
    dlb_spread spread = efficiency_of(b, s->rate, b->sides[base_of(which)].rate, counts);
    printf("    %s: ", s->label);
    if (spread.count)
        printf("%.2f (%.2f…%.2f) in %zu round%s\n", spread.median, spread.lower, spread.upper,
               spread.count, spread.count == 1 ? "" : "s");
    else
        puts("never");
    free(counts);
}

static void print_sides(const bench *b, double near_ns, bool near)
{
    for (int which = THREADS; which <= BATCHES; which++)
        if (which != IN_TURN)
            print_side(b, which, near_ns, near);
}

/* Near: before and after a training a line of memory took about as long as it ever took at least.
 */
static void print_round_trips(const bench *b)
{
    dlb_spread trip = dlb_spread_of(b->trips, (size_t)b->options->rounds * SIDES + 1);
    double near_ns = 2 * trip.min;
    if (isnan(trip.median))
        return;
    printf("  a line of memory to another core and back: %.0f ns (%.0f…%.0f; at most %.0f)\n",
           trip.median, trip.lower, trip.upper, trip.max);
    if (trip.max < near_ns)
        return;
    printf("  of the peak's, where it took less than %.0f ns before and after the training\n",
           near_ns);
    print_sides(b, near_ns, true);
    puts("  and where it took longer, or changed");
    print_sides(b, near_ns, false);
}

static void print(const bench *b)
{
    const options *o = b->options;
    dlb_spread gain = ratio_of(b, b->peak_all, b->peak_one);
    print_heading(b);
    print_table(b);
    printf(
        "\n  FMA peak: %.0f GFLOP/s on one core, %.0f on %lld: %.2f times as much (%.2f…%.2f)\n"
        "  of the peak's: the speed-up by that gain, in the same round; by steps: that of the "
        "median step, so without what disturbs a few\n"
        "  a batch each: as many steps, each of as many batches as there are ranks; compared with "
        "batches in turn, the same training bit by bit on one core\n"
        "  trainings apart: each of all images, on a core of its own, at the same time; they share "
        "nothing but the machine\n"
        "  evaluation: images/s forward only, by images/s of training; memory: most of a rank\n",
        spread_of(b, b->peak_one).median, spread_of(b, b->peak_all).median, o->cores, gain.median,
        gain.lower, gain.upper);
    print_round_trips(b);
    putchar('\n');
    if (o->cores > b->trainings.machine.cores)
        printf("note: there are only %d cores: times are not those of %lld\n",
               b->trainings.machine.cores, o->cores);
    dlb_bench_scene_print(&b->trainings.scene, (int)o->cores);
}

/* ---- Life ---- */

static double *make_values(const bench *b)
{
    return dlb_alloc((size_t)b->options->rounds, sizeof(double));
}

static const char *batches_of(int which)
{
    if (which == IN_TURN)
        return ", batches in turn";
    return which == BATCHES ? ", a batch each" : "";
}

static void make_sides(bench *b)
{
    for (int i = 0; i < SIDES; i++) {
        side *s = &b->sides[i];
        dlb_bench_training t = training_of(b, i);
        *s = (side){.rate = make_values(b),
                    .step_rate = make_values(b),
                    .eval_rate = make_values(b),
                    .peak_mb = make_values(b)};
        if (i == APART)
            snprintf(s->label, sizeof s->label, "%lld trainings apart", b->options->cores);
        else
            snprintf(s->label, sizeof s->label, "%d rank%s × %d thread%s%s", t.ranks,
                     t.ranks == 1 ? "" : "s", t.threads, t.threads == 1 ? "" : "s", batches_of(i));
    }
    b->peak_one = make_values(b);
    b->peak_all = make_values(b);
    b->trips = dlb_alloc((size_t)b->options->rounds * SIDES + 1, sizeof(double));
}

static void free_sides(bench *b)
{
    free(b->trips);
    free(b->peak_all);
    free(b->peak_one);
    for (int i = 0; i < SIDES; i++) {
        free(b->sides[i].peak_mb);
        free(b->sides[i].eval_rate);
        free(b->sides[i].step_rate);
        free(b->sides[i].rate);
    }
}

static int run(const options *o)
{
    dlb_error err;
    bench b = {.options = o};
    if (dlb_bench_trainings_begin(&b.trainings, &err) < 0)
        return dlb_cli_fail(name, &err);
    make_sides(&b);
    int status = measure_all(&b, &err);
    dlb_bench_trainings_end(&b.trainings);
    if (status == 0)
        print(&b);
    free_sides(&b);
    return status < 0 ? dlb_cli_fail(name, &err) : DLB_EXIT_OK;
}

/* ---- What is asked for ---- */

/* What stands after the flags, as text; NULL: not given. */
typedef struct texts {
    const char *cores, *rounds, *batch, *images;
} texts;

static int take_batch(options *o, const dlb_model *model, dlb_error *err)
{
    dlb_workload workload;
    dlb_workload_init(&workload);
    int status = dlb_defaults_apply(model, &workload, err);
    if (status == 0 && o->batch == 0)
        o->batch = workload.batch;
    dlb_workload_release(&workload);
    return status;
}

static int take_model(options *o, dlb_error *err)
{
    dlb_model model;
    int status = dlb_model_load(&model, o->model, err);
    if (status < 0)
        return status;
    status = take_batch(o, &model, err);
    if (status == 0)
        status = dlb_bench_data_count(&o->set, o->data, &model, err);
    dlb_model_release(&model);
    return status;
}

/* Every rank has as much to do as any other, so that only cores make a difference. */
static int check_shares(const options *o, dlb_error *err)
{
    if (o->batch % o->cores)
        return dlb_fail(err, DLB_BAD_INPUT, "--batch %lld: cannot be shared equally by %lld ranks",
                        o->batch, o->cores);
    if (o->images % (o->batch * o->cores))
        return dlb_fail(err, DLB_BAD_INPUT,
                        "--images %lld: must be a multiple of %lld, a batch of %lld for each of "
                        "%lld ranks",
                        o->images, o->batch * o->cores, o->batch, o->cores);
    return 0;
}

static int check_set(const options *o, dlb_error *err)
{
    const dlb_bench_images *set = &o->set;
    if (o->images > set->train)
        return dlb_fail(err, DLB_BAD_INPUT, "--images %lld: %s has only %lld", o->images, o->data,
                        set->train);
    long long batches = o->batch * o->cores;
    if (batches > set->train || batches > set->test)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "--batch %lld: %s has only %lld training and %lld test images for %lld "
                        "cores",
                        o->batch, o->data, set->train, set->test, o->cores);
    return 0;
}

static int parse(const texts *t, options *o, dlb_error *err)
{
    if (dlb_relaunch_is_done())
        return dlb_fail(err, DLB_BAD_INPUT, "it starts its trainings itself, without a launcher");
    o->cores = dlb_cores_allowed();
    if ((t->cores && dlb_bench_number("--cores", t->cores, 2, CORES_MAX, &o->cores, err) < 0) ||
        (t->batch && dlb_bench_number("--batch", t->batch, 1, 65536, &o->batch, err) < 0) ||
        (t->images && dlb_bench_number("--images", t->images, 1, 1000000, &o->images, err) < 0) ||
        dlb_bench_number("--rounds", t->rounds, 1, 100000, &o->rounds, err) < 0 ||
        take_model(o, err) < 0)
        return DLB_BAD_INPUT;
    if (o->cores < 2)
        return dlb_fail(err, DLB_BAD_INPUT, "there is only one core; --cores tries out more");
    if (o->csv && dlb_csv_check(o->csv, header, err) < 0)
        return DLB_BAD_INPUT;
    return check_shares(o, err) < 0 ? DLB_BAD_INPUT : check_set(o, err);
}

int dlb_bench_cores(int argc, char **argv)
{
    texts t = {.rounds = ROUNDS};
    options o = {.model = MODEL, .data = DATA};
    const dlb_flag flags[] = {
        {"cores", "that are compared with one (default: those of this machine)", "N", &t.cores,
         NULL},
        {"model", "a built-in model or the path of a .model file (default " MODEL ")", "NAME|FILE",
         &o.model, NULL},
        {"batch", "images in a step of all cores together (default: the model's)", "N", &t.batch,
         NULL},
        {"rounds", "trainings of each (default " ROUNDS ")", "N", &t.rounds, NULL},
        {"data", "what is trained on, as for train (default " DATA ")", "NAME|DIR", &o.data, NULL},
        {"images",
         "images of a training and, where there are as many, of its evaluation (default: a few "
         "seconds of them, in as many epochs as that takes)",
         "N", &t.images, NULL},
        {"csv", "append one row a training to this file", "FILE", &o.csv, NULL},
    };
    const dlb_command command = {
        .name = name,
        .about = "What more cores bring to training, as threads of a rank and as ranks, against "
                 "what they bring to the FMA peak and to trainings that share nothing; in turn. "
                 "~2 min.",
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
