/*
 * Kernels of up to three processes timed in turn on one core, in short slices: 1 2 3 3 2 1, several
 * times over, so that what drifts evenly hits all alike. Such a pass tells ratios of slices that
 * are a millisecond apart. One in which somebody else was given the CPU does not count, and another
 * makes up for it.
 *
 *     dlb_turns turns = {.sides = 2, .side = {{program, number}, {program, other}}, .order =
 * order}; dlb_turns_calibrate → dlb_turns_warm_up → dlb_turns_run → medians
 */
#ifndef DLB_CLI_GATE_TURNS_H
#define DLB_CLI_GATE_TURNS_H

#include <stdbool.h>

#include "cli/gate_program.h"

enum {
    DLB_TURNS_SIDES = 3,
    DLB_TURNS_PASSES = 12,   /* undisturbed, that a round is made of */
    DLB_TURNS_MOST = 3 * 12, /* with those that somebody disturbed */
};

/* What is timed: one call of a program's case. */
typedef struct dlb_turn {
    dlb_gate_program *program;
    int number;
    long long repeats; /* calls in a slice */
} dlb_turn;

/* A slice, as it was measured. */
typedef struct dlb_turn_slice {
    int side, pass;
    double seconds; /* of a call */
    long long calls;
    bool switched, migrated; /* somebody else was given the CPU; it ended on another one */
} dlb_turn_slice;

typedef struct dlb_turns {
    int sides;
    dlb_turn side[DLB_TURNS_SIDES];
    const int *order;                                     /* who comes first, second and third */
    void (*keep)(void *arg, const dlb_turn_slice *slice); /* every slice; NULL: nobody */
    void *arg;

    int passes, undisturbed; /* so far */
    /* Of each pass, the mean of its two slices as a logarithm of seconds; NaN: disturbed. */
    double logs[DLB_TURNS_SIDES][DLB_TURNS_MOST];
} dlb_turns;

/* As many calls of a side in a slice as take so many seconds, at least one. */
int dlb_turns_calibrate(dlb_turns *turns, int side, double seconds, dlb_error *err);

/* Untimed slices of each side until they no longer become faster. */
int dlb_turns_warm_up(const dlb_turns *turns, dlb_error *err);

/* One more pass, of DLB_TURNS_MOST at most. */
int dlb_turns_pass(dlb_turns *turns, dlb_error *err);

/*
 * Passes until DLB_TURNS_PASSES were undisturbed; of what takes long, only as many as so many
 * seconds have room for, but `least` of them. It ends where there is no room for more, too.
 */
int dlb_turns_run(dlb_turns *turns, int least, double seconds, dlb_error *err);

/* Seconds of a call of a side: the median over its undisturbed passes; NaN: there is none. */
double dlb_turns_seconds(const dlb_turns *turns, int side);

/* The median over the passes of log(side / other); NaN if fewer than `least` are undisturbed. */
double dlb_turns_log_ratio(const dlb_turns *turns, int side, int other, int least);

#endif
