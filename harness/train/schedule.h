/*
 * The learning rate of every step: scaled with the workers, reached by way of a warm-up, then
 * changed by a schedule.
 *
 *     scaled rate   lr × 1, √workers or workers (lr_scaling)
 *     warm-up       over warmup_epochs: flat, lr itself; gradual, a straight line from lr in the
 *                   first step to the scaled rate in the first step after the warm-up
 *     after it      constant; step: × schedule_factor at the end of every schedule_epochs epochs;
 *                   cosine: half a cosine from the scaled rate at the end of the warm-up to 0 at
 * the end of the training; plateau: × schedule_factor when schedule_epochs epochs have passed
 * without a new lowest test loss (then it waits as long again)
 *
 * Epochs of `step` count from the start of the training. A plateau is looked at after each epoch,
 * also during the warm-up, but acts after it only.
 */
#ifndef DLB_TRAIN_SCHEDULE_H
#define DLB_TRAIN_SCHEDULE_H

#include "config/workload.h"

/* What a schedule remembers from epoch to epoch, to be kept in a checkpoint. */
typedef struct dlb_plateau {
    double lowest; /* test loss; infinite before the first */
    double factor; /* that the rate has fallen to, 1 at first */
    int waited;    /* epochs since the lowest */
} dlb_plateau;

typedef struct dlb_schedule {
    int form;         /* DLB_schedule_… */
    int warmup;       /* DLB_warmup_… */
    double lr;        /* of one worker */
    double scaled_lr; /* of all */
    double warmup_steps, total_steps;
    double factor;
    int every; /* epochs */
    int steps_per_epoch;
    dlb_plateau plateau;
} dlb_schedule;

/* `workers` are resolved: at least 1. */
void dlb_schedule_init(dlb_schedule *schedule, const dlb_workload *workload, int workers,
                       int steps_per_epoch);

/* The rate of step `step` (from 0) of epoch `epoch` (from 1). */
double dlb_schedule_rate(const dlb_schedule *schedule, int epoch, int step);

/* After an epoch, with its test loss. */
void dlb_schedule_end_epoch(dlb_schedule *schedule, int epoch, double test_loss);

#endif
