#include "cli/bench_training.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "cli/relaunch.h"
#include "cli/stop.h"
#include "record/result.h"

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
    *speed = (dlb_bench_speed){
        .train_s = train_s,
        .images_per_s = dlb_row_real(&result.run, DLB_RUN_images_per_s),
        .eval_images_per_s = dlb_row_real(&result.run, DLB_RUN_test_images) /
                             dlb_row_real(&result.run, DLB_RUN_eval_s),
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

static int start(const dlb_bench_training *t, const dlb_launch_machine *machine, const char *path,
                 dlb_error *err)
{
    enum { DIGITS = 24 };
    char ranks[DIGITS], threads[DIGITS], workers[DIGITS], batch[DIGITS], images[DIGITS],
        test_images[DIGITS];
    int team = t->threads ? t->threads : 1;
    long long tests = t->test_images ? t->test_images : TEST_IMAGES;
    snprintf(ranks, DIGITS, "%d", t->ranks);
    snprintf(threads, DIGITS, "%d", team);
    snprintf(workers, DIGITS, "%lld", t->workers);
    snprintf(batch, DIGITS, "%lld", t->batch);
    snprintf(images, DIGITS, "%lld", t->images * t->ranks);
    snprintf(test_images, DIGITS, "%lld", tests * t->ranks);
    const char *const words[] = {"train",
                                 "--quiet",
                                 "--result",
                                 path,
                                 "--model",
                                 t->model,
                                 "--data",
                                 "synthetic",
                                 "--ranks",
                                 ranks,
                                 "--threads",
                                 threads,
                                 "--epochs",
                                 "1",
                                 "--batch",
                                 batch,
                                 "--train-images",
                                 images,
                                 "--test-images",
                                 test_images,
                                 "--workers",
                                 workers,
                                 NULL};
    /* One rank, too, is to be bound as the others are. */
    dlb_launch launch = {
        .starter = DLB_STARTER_MPIRUN, .ranks = t->ranks, .threads = team, .program = words};
    dlb_launch_end end;
    if (dlb_relaunch_run(&launch, machine, &end, err) < 0)
        return DLB_FAIL;
    if (end.stopped)
        return dlb_fail(err, DLB_STOPPED, "it was asked to stop");
    if (end.status != 0)
        return dlb_fail(err, DLB_FAIL, "it ended with status %d", end.status);
    return 0;
}

static int train(const dlb_bench_trainings *t, const dlb_bench_training *training,
                 dlb_bench_speed *speed, dlb_error *err)
{
    static const char file[] = "/result.json";
    char path[sizeof t->folder + sizeof file];
    snprintf(path, sizeof path, "%s%s", t->folder, file);
    int status = start(training, &t->machine, path, err);
    if (status == 0)
        status = read_speed(path, speed, err);
    unlink(path);
    if (status < 0)
        dlb_error_prefix(err, "the training with batch %lld on %d rank%s has no time",
                         training->batch, training->ranks, training->ranks == 1 ? "" : "s");
    return status;
}

int dlb_bench_train(dlb_bench_trainings *t, const dlb_bench_training *training,
                    dlb_bench_speed *speed, dlb_error *err)
{
    int status = dlb_stop_asked() ? DLB_STOPPED : train(t, training, speed, err);
    if (dlb_stop_asked())
        return dlb_fail(err, DLB_STOPPED, "stopped before all was measured");
    return status;
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
