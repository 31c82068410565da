/* What a session holds; shared by session_build.c, which makes it, and session.c, which runs it. */
#ifndef DLB_TRAIN_SESSION_STATE_H
#define DLB_TRAIN_SESSION_STATE_H

#include "data/loader.h"
#include "measure/energy.h"
#include "train/optimizer.h"
#include "train/session.h"

struct dlb_session {
    dlb_workload workload;
    dlb_session_hooks hooks;
    dlb_notes notes;

    dlb_model model;
    dlk_kernels kernels;
    dlb_data data;
    dlb_loader *train_loader, *test_loader;
    dlb_threads threads;
    dlb_placement *placement;
    dlb_pool *pool;
    dlb_graph *graph;
    dlb_optimizer *optimizer;
    dlb_counters *counters;
    dlb_energy *energy;
    dlb_trace *trace;

    double flops_per_image, flops_per_update;
    double setup_s;
    dlb_noise noise_start;

    /* The epoch under way. */
    bool in_epoch;
    bool evaluation_due; /* the last epoch ended, but its evaluation did not */
    bool counting;       /* the window of counters and energy is open */
    bool diverged;
    bool sharing_noted; /* that two threads ran on one CPU */
    double loss_sum;
    long correct;
    dlb_epoch epoch;

    size_t epoch_capacity;
    int epoch_count;
    dlb_epoch *epochs;
    double time_to_solution_s, time_to_target_s, eval_s;
    dlb_value joules;
    long images, steps;
};

#endif
