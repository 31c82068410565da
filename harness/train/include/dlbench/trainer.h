/*
 * dlbench/trainer.h: train a convolutional network from a C program.
 *
 *     dlbench_error err;
 *     dlbench_trainer *t = dlbench_trainer_create();
 *     dlbench_trainer_set(t, "model", "keras_cnn", &err);     configure: any key of `dlbench train`
 *     dlbench_trainer_load(t, &err);                          read data, build the network
 *     dlbench_trainer_epoch(t, &epoch, &err);                 train, as often as wanted
 *     dlbench_trainer_evaluate(t, &metrics, &err);
 *     dlbench_trainer_destroy(t);
 *
 * What is legal when: set and the callbacks before load; everything else after it. A trainer is
 * used by one thread at a time; several trainers may live side by side.
 *
 * Functions return 0, or a negative code after they have filled *err with a sentence fit to print.
 * The library never prints, never exits, and leaves the floating-point mode of the calling thread
 * as it was. It does change the OpenMP settings of that thread (number of threads, dynamic,
 * blocktime) and, in the environment, OMP_NUM_THREADS and what `kmp_affinity` and `kmp_blocktime`
 * were set to; the runtime reads KMP_AFFINITY when it starts, so that key comes too late once it
 * has. A trainer may be stepped inside a parallel region of the caller, on one thread then.
 *
 * In a program that mpirun or srun started, or that has initialised MPI, a trainer spans all ranks:
 * every rank makes the same calls, and all get the same results. The library initialises MPI if the
 * caller has not, and finalises it at exit only then. The key `ranks` = 1 makes a trainer of one
 * rank alone in a program that has initialised MPI. Trainers that span ranks are used from one
 * thread, all of them. A rank that hangs makes the calls of the others fail (DLBENCH_FAIL); to end
 * the program is up to the program.
 */
#ifndef DLBENCH_TRAINER_H
#define DLBENCH_TRAINER_H

#include <stddef.h>

#if defined(__cplusplus)
extern "C" {
#endif

#define DLBENCH_API __attribute__((visibility("default")))

enum {
    DLBENCH_OK = 0,
    DLBENCH_FAIL = -1,      /* a file, memory, threads */
    DLBENCH_BAD_INPUT = -2, /* a key, a value, a model or data file */
    DLBENCH_DIVERGED = -3,  /* the loss is no longer finite; the trainer cannot go on */
    DLBENCH_STOPPED = -4,   /* the callback asked for it; training can go on */
};

typedef struct dlbench_error {
    int code;
    char message[1024];
} dlbench_error;

typedef struct dlbench_trainer dlbench_trainer;

/* Means over images. */
typedef struct dlbench_metrics {
    double loss;
    double accuracy; /* 0 … 1 */
    long images;
} dlbench_metrics;

typedef struct dlbench_epoch {
    int number; /* from 1 */
    double lr;
    double seconds;        /* of training, without evaluation */
    dlbench_metrics train; /* as seen while training, dropout included */
    dlbench_metrics test;  /* after the epoch */
} dlbench_epoch;

/* Where training is after a step. */
typedef struct dlbench_progress {
    int epoch;             /* from 1 */
    int step, steps;       /* of the epoch; step from 1 */
    dlbench_metrics train; /* of the epoch so far */
} dlbench_progress;

/* Called after every step on the caller's thread; return non-zero to stop. */
typedef int dlbench_step_fn(void *arg, const dlbench_progress *progress);

/* The parameters of one layer, weights [kh][kw][in][out] or [in][out], then biases [out]. */
typedef struct dlbench_parameters {
    const char *layer;
    float *weights, *biases;
    size_t weight_count, bias_count;
} dlbench_parameters;

DLBENCH_API const char *dlbench_version_text(void);

DLBENCH_API dlbench_trainer *dlbench_trainer_create(void);
DLBENCH_API void dlbench_trainer_destroy(dlbench_trainer *trainer);

/* `dlbench train --help` lists the keys. */
DLBENCH_API int dlbench_trainer_set(dlbench_trainer *trainer, const char *key, const char *value,
                                    dlbench_error *err);
DLBENCH_API void dlbench_trainer_on_step(dlbench_trainer *trainer, dlbench_step_fn *fn, void *arg);

DLBENCH_API int dlbench_trainer_load(dlbench_trainer *trainer, dlbench_error *err);

/* One step. *progress may be NULL. After the last step of an epoch the next one begins. */
DLBENCH_API int dlbench_trainer_step(dlbench_trainer *trainer, dlbench_progress *progress,
                                     dlbench_error *err);

/*
 * The rest of the current epoch, then evaluation; right after the last step of an epoch only the
 * evaluation. *epoch may be NULL.
 */
DLBENCH_API int dlbench_trainer_epoch(dlbench_trainer *trainer, dlbench_epoch *epoch,
                                      dlbench_error *err);

/* On the test images, without dropout. *metrics is touched on success only, and may be NULL. */
DLBENCH_API int dlbench_trainer_evaluate(dlbench_trainer *trainer, dlbench_metrics *metrics,
                                         dlbench_error *err);

/*
 * Write where the training is, between steps; and, right after load, go on from there. The same
 * keys of learning are needed, but any number of ranks and threads will do.
 */
DLBENCH_API int dlbench_trainer_save(dlbench_trainer *trainer, const char *path,
                                     dlbench_error *err);
DLBENCH_API int dlbench_trainer_resume(dlbench_trainer *trainer, const char *path,
                                       dlbench_error *err);

/*
 * The parameters in place, to read, save or overwrite between steps; empty for a wrong index. What
 * is written must be the same on all ranks. From the first call on threads have no copies of their
 * own, as nobody says when these change: steps of a small model on several threads take a few
 * percent longer.
 */
DLBENCH_API int dlbench_trainer_layer_count(const dlbench_trainer *trainer);
DLBENCH_API dlbench_parameters dlbench_trainer_layer(dlbench_trainer *trainer, int index);

#if defined(__cplusplus)
}
#endif

#endif
