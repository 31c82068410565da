#include "cli/bench_training.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/relaunch.h"
#include "cli/stop.h"
#include "record/frame.h"
#include "record/result.h"
#include "stats/spread.h"

enum { TEST_IMAGES = 64 }; /* of a rank: what is not measured is to be short */

/* ---- Its result ---- */

/* Of the whole, mean over ranks. */
static double mean_pct(const dlb_result *result, int column, double whole_s)
{
    double sum = 0;
    for (size_t r = 0; r < result->ranks.count; r++)
        sum += dlb_row_real(&result->ranks.rows[r], column);
    return 100 * sum / (double)result->ranks.count / whole_s;
}

static int read_speed(const char *path, dlb_bench_speed *speed, dlb_error *err)
{
    dlb_result result;
    if (dlb_result_read(&result, path, err) < 0)
        return DLB_FAIL;
    double train_s = dlb_row_real(&result.run, DLB_RUN_time_to_solution_s);
    double evaluated = (double)result.epochs.count * dlb_row_real(&result.run, DLB_RUN_test_images);
    *speed = (dlb_bench_speed){
        .train_s = train_s,
        .images_per_s = dlb_row_real(&result.run, DLB_RUN_images_per_s),
        .eval_images_per_s = evaluated / dlb_row_real(&result.run, DLB_RUN_eval_s),
        .exposed_pct = mean_pct(&result, DLB_RANK_comm_exposed_s, train_s),
        .wait_pct = mean_pct(&result, DLB_RANK_wait_s, train_s),
        .peak_mb = dlb_row_real(&result.run, DLB_RUN_peak_rss_mb),
    };
    snprintf(speed->host, sizeof speed->host, "%s", dlb_row_text(&result.run, DLB_RUN_host));
    dlb_result_release(&result);
    if (isnan(speed->images_per_s))
        return dlb_fail(err, DLB_FAIL, "its result has no images/s");
    return 0;
}

/* Of the first rank's steps. */
static int read_median_step(const char *path, double *seconds, dlb_error *err)
{
    const dlb_frame_want wants[] = {{"rank", DLB_FRAME_NUMBER}, {"train_s", DLB_FRAME_NUMBER}};
    dlb_frame *steps;
    if (dlb_frame_read(&steps, path, wants, sizeof wants / sizeof *wants, err) < 0)
        return DLB_FAIL;
    int rank = dlb_frame_column(steps, "rank"), train_s = dlb_frame_column(steps, "train_s");
    size_t rows = dlb_frame_rows(steps), count = 0;
    double *times = dlb_alloc(rows, sizeof *times);
    for (size_t i = 0; i < rows; i++)
        if (dlb_frame_number(steps, rank, i) == 0)
            times[count++] = dlb_frame_number(steps, train_s, i);
    *seconds = dlb_median(times, count);
    free(times);
    dlb_frame_free(steps);
    return 0;
}

/* ---- The child ---- */

int dlb_bench_make_folder(char folder[PATH_MAX], dlb_error *err)
{
    const char *place = getenv("TMPDIR");
    snprintf(folder, PATH_MAX, "%s/dlbench-XXXXXX", place && *place ? place : "/tmp");
    if (mkdtemp(folder))
        return 0;
    return dlb_fail(err, DLB_FAIL, "%s: no folder can be made: %s; TMPDIR says where", folder,
                    strerror(errno));
}

static int team_of(const dlb_bench_training *t)
{
    return t->threads ? t->threads : 1;
}

enum { FLAGS = 12, DIGITS = 24 }; /* as many flags as make_command adds */

typedef struct command {
    int flags;
    char digits[FLAGS][DIGITS];       /* values that are numbers */
    const char *words[2 * FLAGS + 3]; /* train --quiet, the flags, NULL */
} command;

static void add(command *c, const char *flag, const char *value)
{
    assert(c->flags < FLAGS);
    const char **words = c->words + 2 + 2 * c->flags++;
    words[0] = flag;
    words[1] = value;
}

static void add_number(command *c, const char *flag, long long number)
{
    char *digits = c->digits[c->flags];
    snprintf(digits, DIGITS, "%lld", number);
    add(c, flag, digits);
}

/* What a training leaves. */
typedef struct traces {
    char result[PATH_MAX + DIGITS], steps[PATH_MAX + DIGITS];
} traces;

static void make_command(const dlb_bench_training *t, const traces *left, command *c)
{
    *c = (command){.words = {"train", "--quiet"}};
    add(c, "--result", left->result);
    if (t->steps)
        add(c, "--steps", left->steps);
    add(c, "--model", t->model);
    add(c, "--data", t->data ? t->data : "synthetic");
    add_number(c, "--ranks", t->ranks);
    add_number(c, "--threads", team_of(t));
    add_number(c, "--workers", t->workers);
    add_number(c, "--epochs", t->epochs ? t->epochs : 1);
    add_number(c, "--batch", t->batch);
    add(c, "--lr-scaling", "none"); /* what is zero, and skipped, depends on what is learned */
    add_number(c, "--train-images", t->images * t->ranks);
    add_number(c, "--test-images", (t->test_images ? t->test_images : TEST_IMAGES) * t->ranks);
}

static int start(const dlb_bench_training *t, const dlb_launch_machine *machine,
                 dlb_starter starter, const traces *left, dlb_error *err)
{
    command c;
    make_command(t, left, &c);
    dlb_launch launch = {
        .starter = starter, .ranks = t->ranks, .threads = team_of(t), .program = c.words};
    dlb_launch_end end;
    if (dlb_relaunch_run(&launch, machine, &end, err) < 0)
        return DLB_FAIL;
    if (end.stopped)
        return dlb_fail(err, DLB_STOPPED, "it was asked to stop");
    if (end.status != 0)
        return dlb_fail(err, DLB_FAIL, "it ended with status %d", end.status);
    return 0;
}

static double images_in_step(const dlb_bench_training *t)
{
    return (double)(t->batch * (t->workers ? t->workers : t->ranks));
}

static int train(const dlb_bench_trainings *t, const dlb_bench_training *training,
                 dlb_starter starter, int index, dlb_bench_speed *speed, dlb_error *err)
{
    traces left;
    double step_s = NAN;
    snprintf(left.result, sizeof left.result, "%s/result%d.json", t->folder, index);
    snprintf(left.steps, sizeof left.steps, "%s/steps%d.csv", t->folder, index);
    int status = start(training, &t->machine, starter, &left, err);
    if (status == 0)
        status = read_speed(left.result, speed, err);
    if (status == 0 && training->steps)
        status = read_median_step(left.steps, &step_s, err);
    if (status == 0)
        speed->step_images_per_s = images_in_step(training) / step_s;
    unlink(left.result);
    unlink(left.steps);
    if (status < 0)
        dlb_error_prefix(err, "the training with batch %lld on %d rank%s has no time",
                         training->batch, training->ranks, training->ranks == 1 ? "" : "s");
    return status;
}

static int train_unless_stopped(dlb_bench_trainings *t, const dlb_bench_training *training,
                                dlb_starter starter, int index, dlb_bench_speed *speed,
                                dlb_error *err)
{
    int status = dlb_stop_asked() ? DLB_STOPPED : train(t, training, starter, index, speed, err);
    if (dlb_stop_asked())
        return dlb_fail(err, DLB_STOPPED, "stopped before all was measured");
    return status;
}

/* One rank, too, is to be bound as the others are. */
int dlb_bench_train(dlb_bench_trainings *t, const dlb_bench_training *training,
                    dlb_bench_speed *speed, dlb_error *err)
{
    return train_unless_stopped(t, training, DLB_STARTER_MPIRUN, 0, speed, err);
}

int dlb_bench_train_alone(dlb_bench_trainings *t, const dlb_bench_training *training, int index,
                          dlb_bench_speed *speed, dlb_error *err)
{
    return train_unless_stopped(t, training, DLB_STARTER_NONE, index, speed, err);
}

/* ---- Life ---- */

int dlb_bench_trainings_begin(dlb_bench_trainings *t, dlb_error *err)
{
    t->scene = dlb_bench_scene_now();
    dlb_stop_catch();
    if (dlb_bench_make_folder(t->folder, err) < 0)
        return DLB_FAIL;
    dlb_bench_progress_init(&t->progress, stderr);
    dlb_launch_here(&t->machine);
    return 0;
}

void dlb_bench_trainings_end(dlb_bench_trainings *t)
{
    dlb_bench_progress_clear(&t->progress);
    rmdir(t->folder);
}
