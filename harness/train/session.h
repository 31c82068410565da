/*
 * One training from data to result: what both the program and the public trainer are built on.
 *
 * Life: create (reads the data, builds the network, starts the threads) → step / epoch / evaluate
 * in any order → free. Time counts within steps only; counters and energy from the first step of
 * an epoch to its last, without evaluation.
 *
 * A session over several ranks is one session: all ranks make the same calls, and all return the
 * same status; metrics are those of all workers. A rank whose hook asks to stop takes the others
 * along after the next step. If a rank hangs or another thing breaks the ranks' connection, the
 * call fails on those that are left, and the session is good for nothing but dlb_session_free.
 */
#ifndef DLB_TRAIN_SESSION_H
#define DLB_TRAIN_SESSION_H

#include "comm/comm.h"
#include "config/workload.h"
#include "data/dataset.h"
#include "graph/graph.h"
#include "measure/counters.h"
#include "measure/noise.h"
#include "measure/placement.h"
#include "train/threads.h"

typedef struct dlb_session dlb_session;

/* Means over images. */
typedef struct dlb_metrics {
    double loss, accuracy;
    long images;
} dlb_metrics;

typedef struct dlb_progress {
    int epoch;       /* from 1 */
    int step, steps; /* of the epoch; step from 1 */
    long images;     /* of the epoch, shown so far */
    double train_s;  /* of the epoch so far */
    dlb_metrics train;
} dlb_progress;

/* Called after each step; non-zero asks to stop. */
typedef int dlb_step_fn(void *arg, const dlb_progress *progress);

typedef struct dlb_session_hooks {
    dlb_step_fn *on_step;     /* may be NULL */
    dlb_step_fn *on_evaluate; /* after each batch of an evaluation; may be NULL */
    void *arg;
    bool trace; /* keep a trace of every operation */
    bool steps; /* keep a record of every step */
} dlb_session_hooks;

typedef struct dlb_epoch {
    int number; /* from 1 */
    double lr;
    double train_s;                         /* wall time of the training window */
    double input_s;                         /* of it: waiting for batches */
    double forward_s, backward_s, update_s; /* of it: the pool busy with these */
    double comm_exposed_s;                  /* of it: communication that no computation hid */
    double wait_s;                          /* of it: waiting for other ranks */
    long long comm_bytes;                   /* sent and received by this rank */
    double eval_s;                          /* wall time of the evaluation after it */
    dlb_metrics train, test;
} dlb_epoch;

/* One step of this rank. */
typedef struct dlb_step_record {
    int epoch, step; /* both from 1 */
    int images;      /* of this rank's workers */
    double train_s, compute_s, comm_exposed_s, wait_s;
    long long comm_bytes;
} dlb_step_record;

/* What a session has come to; valid at any time. */
typedef struct dlb_outcome {
    int epoch_count;
    const dlb_epoch *epochs;   /* those that ended */
    double setup_s;            /* create: start to ready for the first step */
    double time_to_solution_s; /* sum of the training windows */
    double time_to_target_s;   /* the same up to target_accuracy; NaN if never */
    double eval_s;
    long images; /* trained on */
    long steps;
    double flops;           /* declared, of all training so far */
    dlb_noise_report noise; /* since create */
    dlb_value joules;       /* of this rank's node, over the training windows */
    bool resumed;           /* from a checkpoint: counters and joules are of a part only */
    const char *untimed;    /* why the times above are not those of one run; NULL: they are */
    long step_count;
    const dlb_step_record *step_records; /* with hooks.steps */
} dlb_outcome;

/*
 * The workload is copied and resolved: the model's own defaults take the place of keys that were
 * not given. `hooks` may be NULL.
 */
int dlb_session_create(dlb_session **session, const dlb_workload *workload,
                       const dlb_session_hooks *hooks, dlb_error *err);
void dlb_session_free(dlb_session *session);

/* One step; begins an epoch where none is under way. DLB_DIVERGED if the loss is not finite. */
int dlb_session_step(dlb_session *session, dlb_progress *progress, dlb_error *err);

/*
 * The rest of the epoch, then evaluation; of an epoch whose last step was the last call, or that
 * was stopped there, only the evaluation. DLB_STOPPED if a hook asks for it.
 */
int dlb_session_epoch(dlb_session *session, dlb_epoch *epoch, dlb_error *err);

/* *metrics is touched on success only. */
int dlb_session_evaluate(dlb_session *session, dlb_metrics *metrics, dlb_error *err);

dlb_outcome dlb_session_outcome(dlb_session *session);

/* Whether all epochs of the workload have ended and been evaluated. */
bool dlb_session_finished(const dlb_session *session);

/*
 * Write where the training is, for dlb_session_resume; between steps, on all ranks. The file is
 * written by rank 0, whole or not at all.
 */
int dlb_session_checkpoint(dlb_session *session, const char *path, dlb_error *err);

/*
 * Before the first step: go on from a checkpoint, on all ranks; the file is read by rank 0. One of
 * another training is refused. Epochs that it has come to are part of the outcome.
 */
int dlb_session_resume(dlb_session *session, const char *path, dlb_error *err);

/* What the session works with; all stay its own. */
const dlb_workload *dlb_session_workload(const dlb_session *session);
const dlb_model *dlb_session_model(const dlb_session *session);
const dlb_data *dlb_session_data(const dlb_session *session);
const dlk_kernels *dlb_session_kernels(const dlb_session *session);
const dlb_threads *dlb_session_threads(const dlb_session *session);
const dlb_placement *dlb_session_placement(const dlb_session *session);
dlb_counters *dlb_session_counters(dlb_session *session); /* NULL when none were asked for */
dlb_graph *dlb_session_graph(dlb_session *session);
/* Between steps: its parameters are those of all ranks from here to the next step. */
int dlb_session_settle(dlb_session *session, dlb_error *err);
dlb_trace *dlb_session_trace(dlb_session *session); /* NULL without one */
const dlb_notes *dlb_session_notes(const dlb_session *session);
dlb_comm *dlb_session_comm(dlb_session *session);
const char *dlb_session_comm_kind(const dlb_session *session); /* single, mpi or shm */
int dlb_session_steps_per_epoch(const dlb_session *session);
int dlb_session_workers(const dlb_session *session);
double dlb_session_scaled_lr(const dlb_session *session); /* after warm-up, before its schedule */

#endif
