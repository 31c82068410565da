/* What the ranks of a session know of each other: cores before training, reports after it. */
#ifndef DLB_TRAIN_RANKS_H
#define DLB_TRAIN_RANKS_H

#include "measure/cpus.h"
#include "train/session.h"

/* What the ranks of a node have together. */
typedef struct dlb_node_cores {
    char host[DLB_HOST_NAME];
    int ranks;
    int threads; /* that they want to run */
    int cpus;    /* that they may use: by their masks, and by the quota of a control group */
} dlb_node_cores;

/*
 * Collective. `threads` are those of the calling rank; 0: not known yet. *own is the caller's node,
 * *crowded the one with most threads a CPU.
 */
int dlb_ranks_cores(dlb_comm *comm, int threads, dlb_node_cores *own, dlb_node_cores *crowded,
                    dlb_error *err);

/* One rank at the end of its training. */
typedef struct dlb_rank_report {
    char host[DLB_HOST_NAME];
    int node, local;      /* as in dlb_comm_place */
    int workers, threads; /* that it played; of its pool */
    long steps;
    dlb_cpus allowed, seen; /* CPUs that it was bound to, and that its threads ran on */
    double compute_s;       /* forward, backward, update */
    double comm_s;          /* an exchange was under way, hidden or not */
    double comm_exposed_s, wait_s, input_s, eval_s;
    long long bytes_sent, bytes_received;
    dlb_value peak_rss_mb;
    dlb_value joules; /* of its node */
} dlb_rank_report;

/* A counter of a rank; `known` is false where it has no value. */
typedef struct dlb_rank_counter {
    bool known;
    long long value;
    char why[192];
} dlb_rank_counter;

/* Everything of all ranks; release it. */
typedef struct dlb_rank_reports {
    int ranks;
    size_t counter_count;
    dlb_rank_report *reports;   /* [ranks] */
    dlb_rank_counter *counters; /* [ranks][counter_count] */
    char *placement;            /* a line a thread of every rank: "rank 1 on vm, 0: …" */
    char *notes;                /* a line for each note of a rank that rank 0 does not have, and
                                   for each pair of ranks whose threads share a core */
    /* Rank 0 only. */
    size_t *record_starts;    /* [ranks + 1] */
    dlb_step_record *records; /* of rank r: record_starts[r] … record_starts[r + 1] */
} dlb_rank_reports;

/* Collective: every rank has come to its end and tells how it went. */
int dlb_session_reports(dlb_session *session, dlb_rank_reports *reports, dlb_error *err);
void dlb_rank_reports_release(dlb_rank_reports *reports);

#endif
