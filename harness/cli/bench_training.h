/* A short training as a child process, for its speed. */
#ifndef DLB_CLI_BENCH_TRAINING_H
#define DLB_CLI_BENCH_TRAINING_H

#include <limits.h>

#include "cli/bench_progress.h"
#include "cli/bench_scene.h"
#include "comm/comm.h"
#include "launch/launch.h"

/* Epochs of training, an evaluation after each. */
typedef struct dlb_bench_training {
    const char *model;
    const char *data; /* as for train; NULL: made-up images */
    int ranks;
    int threads;           /* of a rank; 0: one */
    long long workers;     /* 0: one a rank */
    long long batch;       /* of a worker */
    long long epochs;      /* 0: one */
    long long images;      /* of a rank in an epoch */
    long long test_images; /* of a rank; 0: so few that they take no time */
    bool steps;            /* whether the median step is wanted */
} dlb_bench_training;

/* NaN: missing. */
typedef struct dlb_bench_speed {
    double train_s, images_per_s;
    double step_images_per_s;     /* in the median step, which few disturbances do not change */
    double eval_images_per_s;     /* forward only, of all epochs */
    double exposed_pct, wait_pct; /* communication and waiting: of train_s, mean of the ranks */
    double peak_mb;               /* resident memory of the rank with most */
    char host[DLB_HOST_NAME];     /* of the first rank */
} dlb_bench_speed;

/* A new folder for results on their way, below TMPDIR; rmdir it. */
int dlb_bench_make_folder(char folder[PATH_MAX], dlb_error *err);

/* What a benchmark by trainings has from its beginning to its end. */
typedef struct dlb_bench_trainings {
    dlb_bench_scene scene;
    dlb_launch_machine machine;
    dlb_bench_progress progress;
    char folder[PATH_MAX]; /* for results on their way */
} dlb_bench_trainings;

/* From here on Ctrl-C is a wish to stop. */
int dlb_bench_trainings_begin(dlb_bench_trainings *trainings, dlb_error *err);

/* The line of progress and the folder are gone; what else there is may still be read. */
void dlb_bench_trainings_end(dlb_bench_trainings *trainings);

/*
 * Train and read the result. A training that did not end well is DLB_FAIL; it has said why on
 * stderr. DLB_STOPPED if somebody wishes so, before or while it runs.
 */
int dlb_bench_train(dlb_bench_trainings *trainings, const dlb_bench_training *training,
                    dlb_bench_speed *speed, dlb_error *err);

/*
 * The same of one rank, by nobody's help and bound to what the caller is bound to: `index` tells
 * those apart that run at the same time.
 */
int dlb_bench_train_alone(dlb_bench_trainings *trainings, const dlb_bench_training *training,
                          int index, dlb_bench_speed *speed, dlb_error *err);

#endif
