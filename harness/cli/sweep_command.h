/* The command of a run: what is started, where, and with which environment. */
#ifndef DLB_CLI_SWEEP_COMMAND_H
#define DLB_CLI_SWEEP_COMMAND_H

#include "cli/sweep_scene.h"

/* A run of a point, and its files. */
typedef struct dlb_sweep_run {
    size_t point;
    int repeat;          /* from 1 */
    const char *result;  /* that our trainer is to write */
    const char *run_dir; /* for what a foreign program writes */
} dlb_sweep_run;

/* How its ranks are started, apart from words and environment. */
typedef struct dlb_sweep_shape {
    int ranks, threads;
    long long seed;
    bool oversubscribed;  /* more threads on a node than cores */
    bool bound;           /* each rank was to get CPUs of its own */
    const char *launcher; /* "none", "mpirun", "srun", "aprun" */
} dlb_sweep_shape;

/*
 * Make *line, which holds nothing yet; nothing is to be released after an error. What the machine
 * cannot give is DLB_BAD_INPUT.
 */
int dlb_sweep_command(const dlb_sweep_scene *scene, const dlb_sweep_run *run,
                      dlb_command_line *line, dlb_sweep_shape *shape, dlb_error *err);

/* Append a point as people read it, by what varies in its grid: "accuracy: workers 8, warmup_epochs
 * 1". */
void dlb_sweep_describe(const dlb_sweep_scene *scene, size_t point, dlb_str *text);

#endif
