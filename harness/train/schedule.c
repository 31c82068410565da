#include "train/schedule.h"

#include <math.h>

static double scaling(int lr_scaling, int workers)
{
    switch (lr_scaling) {
    case DLB_lr_scaling_sqrt:
        return sqrt(workers);
    case DLB_lr_scaling_linear:
        return workers;
    default:
        return 1;
    }
}

/* A warm-up ends between two steps, so that its straight line has both ends in a step. */
void dlb_schedule_init(dlb_schedule *schedule, const dlb_workload *workload, int workers,
                       int steps_per_epoch)
{
    *schedule = (dlb_schedule){
        .form = workload->schedule,
        .warmup = workload->warmup,
        .lr = workload->lr,
        .scaled_lr = workload->lr * scaling(workload->lr_scaling, workers),
        .warmup_steps = round(workload->warmup_epochs * steps_per_epoch),
        .total_steps = (double)workload->epochs * steps_per_epoch,
        .factor = workload->schedule_factor,
        .every = (int)workload->schedule_epochs,
        .steps_per_epoch = steps_per_epoch,
        .plateau = {.lowest = INFINITY, .factor = 1},
    };
}

static double warmup_rate(const dlb_schedule *s, double steps_done)
{
    if (s->warmup == DLB_warmup_flat)
        return s->lr;
    return s->lr + (s->scaled_lr - s->lr) * (steps_done / s->warmup_steps);
}

/* 1 at the end of the warm-up, 0 at that of the training. */
static double half_cosine(const dlb_schedule *s, double steps_done)
{
    double passed = (steps_done - s->warmup_steps) / (s->total_steps - s->warmup_steps);
    return (1 + cos(M_PI * passed)) / 2;
}

double dlb_schedule_rate(const dlb_schedule *schedule, int epoch, int step)
{
    const dlb_schedule *s = schedule;
    int epochs_done = epoch - 1, falls = epochs_done / s->every;
    double steps_done = (double)epochs_done * s->steps_per_epoch + step;
    if (steps_done < s->warmup_steps)
        return warmup_rate(s, steps_done);
    switch (s->form) {
    case DLB_schedule_step:
        return s->scaled_lr * pow(s->factor, falls);
    case DLB_schedule_cosine:
        return s->scaled_lr * half_cosine(s, steps_done);
    case DLB_schedule_plateau:
        return s->scaled_lr * s->plateau.factor;
    default:
        return s->scaled_lr;
    }
}

/* An epoch that had the scaled rate in no step says nothing against that rate. */
static bool has_warmed_up(const dlb_schedule *s, int epoch)
{
    return (double)epoch * s->steps_per_epoch > s->warmup_steps;
}

/* A loss that is no number is not lower than any. */
void dlb_schedule_end_epoch(dlb_schedule *schedule, int epoch, double test_loss)
{
    dlb_plateau *plateau = &schedule->plateau;
    if (schedule->form != DLB_schedule_plateau)
        return;
    if (test_loss < plateau->lowest) {
        plateau->lowest = test_loss;
        plateau->waited = 0;
    } else if (++plateau->waited >= schedule->every && has_warmed_up(schedule, epoch)) {
        plateau->factor *= schedule->factor;
        plateau->waited = 0;
    }
}
