/*
 * What a session holds; shared by session_build.c, which makes it, session.c, which trains,
 * session_evaluate.c and session_checkpoint.c.
 */
#ifndef DLB_TRAIN_SESSION_STATE_H
#define DLB_TRAIN_SESSION_STATE_H

#include "data/loader.h"
#include "measure/energy.h"
#include "train/schedule.h"
#include "train/session.h"
#include "train/updates.h"

struct dlb_session {
    dlb_workload workload;
    dlb_session_hooks hooks;
    dlb_notes notes;

    dlb_comm *comm;
    dlb_model model;
    dlk_kernels kernels;
    dlb_data data;
    dlb_loader *train_loader, *test_loader;
    dlb_threads threads;
    dlb_placement *placement;
    dlb_graph *graph;
    dlb_buckets buckets;
    dlb_exchange *exchange;
    dlb_accumulator *accumulator;
    dlb_optimizer *optimizer;
    dlb_updates *updates;
    dlb_pool *pool;
    dlb_schedule schedule;
    dlb_counters *counters;
    dlb_energy *energy;
    dlb_trace *trace;

    int workers, own_workers; /* in all, and of this rank */
    int test_batches, own_test_batches;
    double flops_per_image, flops_per_update;
    double setup_s;
    dlb_noise noise_start;

    /* The step under way. */
    dlk_softmax_result *results; /* one a worker of this rank */
    double *losses;              /* one a rank */
    double *test_sums;           /* of evaluation: loss and correct answers of each batch */
    bool stop_wanted;            /* on this rank */
    bool stop_agreed;            /* on all */

    /* The epoch under way. */
    bool in_epoch;
    bool evaluation_due; /* the last epoch ended, but its evaluation did not */
    bool counting;       /* the window of counters and energy is open */
    bool diverged;
    bool sharing_noted; /* that two threads ran on one CPU */
    double loss_sum;
    long correct;
    int step; /* steps done */
    dlb_epoch epoch;

    size_t epoch_capacity;
    int epoch_count;
    dlb_epoch *epochs;
    size_t record_capacity;
    long record_count;
    dlb_step_record *records;
    double time_to_solution_s, time_to_target_s, eval_s, comm_s;
    long long bytes_sent, bytes_received;
    bool resumed;      /* from a checkpoint */
    char untimed[128]; /* dlb_outcome.untimed; "" for NULL */
    dlb_value joules;
    long images, steps;
};

/* Close the window of counters and energy, if it is open. */
void dlb_session_close_window(dlb_session *session);

/* The loss is not finite: fill *err; nothing more can be trained. */
int dlb_session_fail_diverged(dlb_session *session, dlb_error *err);

#endif
