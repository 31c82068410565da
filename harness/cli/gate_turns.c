#include "cli/gate_turns.h"

#include <math.h>

#include "base/clock.h"
#include "stats/spread.h"

enum { WARM_MOST = 10 };

int dlb_turns_calibrate(dlb_turns *t, int side, double seconds, dlb_error *err)
{
    dlb_turn *turn = &t->side[side];
    return dlb_gate_program_calibrate(turn->program, turn->number, seconds, &turn->repeats, err);
}

static int run_side(const dlb_turns *t, int side, dlb_serve_sample *sample, dlb_error *err)
{
    const dlb_turn *turn = &t->side[side];
    return dlb_gate_program_run(turn->program, turn->number, turn->repeats, sample, err);
}

static int warm_up(const dlb_turns *t, int side, dlb_error *err)
{
    static const double still = 0.99;
    dlb_serve_sample sample = {0};
    double last = INFINITY;
    for (int i = 0; i < WARM_MOST; i++) {
        int status = run_side(t, side, &sample, err);
        if (status < 0)
            return status;
        if ((double)sample.ns > still * last)
            return 0;
        last = (double)sample.ns;
    }
    return 0;
}

int dlb_turns_warm_up(const dlb_turns *t, dlb_error *err)
{
    int status = 0;
    for (int side = 0; side < t->sides && status == 0; side++)
        status = warm_up(t, side, err);
    return status;
}

static void take(dlb_turns *t, int side, const dlb_serve_sample *sample)
{
    long long calls = t->side[side].repeats;
    dlb_turn_slice slice = {.side = side,
                            .pass = t->passes,
                            .seconds = 1e-9 * (double)sample->ns / (double)calls,
                            .calls = calls,
                            .switched = sample->switches > 0,
                            .migrated = sample->migrated != 0};
    bool disturbed = slice.switched || slice.migrated;
    t->logs[side][t->passes] += disturbed ? NAN : 0.5 * log(slice.seconds);
    if (t->keep)
        t->keep(t->arg, &slice);
}

static bool is_undisturbed(const dlb_turns *t, int number)
{
    double sum = 0;
    for (int side = 0; side < t->sides; side++)
        sum += t->logs[side][number];
    return !isnan(sum);
}

int dlb_turns_pass(dlb_turns *t, dlb_error *err)
{
    for (int side = 0; side < t->sides; side++)
        t->logs[side][t->passes] = 0;
    for (int i = 0; i < 2 * t->sides; i++) {
        int side = t->order[i < t->sides ? i : 2 * t->sides - 1 - i];
        dlb_serve_sample sample;
        int status = run_side(t, side, &sample, err);
        if (status < 0)
            return status;
        take(t, side, &sample);
    }
    t->undisturbed += is_undisturbed(t, t->passes++);
    return 0;
}

int dlb_turns_run(dlb_turns *t, int least, double seconds, dlb_error *err)
{
    double start = dlb_clock_s();
    int status = 0;
    while (status == 0 && t->passes < DLB_TURNS_MOST && t->undisturbed < DLB_TURNS_PASSES &&
           (t->undisturbed < least || dlb_clock_s() - start < seconds))
        status = dlb_turns_pass(t, err);
    return status;
}

double dlb_turns_seconds(const dlb_turns *t, int side)
{
    return exp(dlb_median(t->logs[side], (size_t)t->passes));
}

double dlb_turns_log_ratio(const dlb_turns *t, int side, int other, int least)
{
    double differences[DLB_TURNS_MOST];
    int known = 0;
    for (int i = 0; i < t->passes; i++) {
        differences[i] = t->logs[side][i] - t->logs[other][i];
        known += !isnan(differences[i]);
    }
    return known < least ? NAN : dlb_median(differences, (size_t)t->passes);
}
