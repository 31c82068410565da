#include "cli/gate_roofs.h"

#include <math.h>

#include "cli/gate_turns.h"

static const double slice_s = 0.001;

enum { PASSES = 4, TRIES = 5 };

int dlb_roofs_number(const dlb_gate_program *program, dlb_reference which)
{
    static const char *const beginnings[] = {[DLB_REFERENCE_GEMM] = "sgemm",
                                             [DLB_REFERENCE_TRIAD] = "triad",
                                             [DLB_REFERENCE_PEAK] = "FMA peak"};
    return dlb_gate_program_find_reference(program, beginnings[which]);
}

static int describe(dlb_roofs *r, dlb_gate_program *program, dlb_error *err)
{
    int status = 0;
    for (int i = 0; i < DLB_REFERENCES && status == 0; i++) {
        int number = dlb_roofs_number(program, (dlb_reference)i);
        if (number < 0)
            return dlb_fail(err, DLB_BAD_INPUT, "%s serves no references", program->path);
        snprintf(r->names[i], sizeof r->names[i], "%s", program->cases[number]);
        status = dlb_gate_program_describe(program, number, &r->about[i], err);
    }
    return status;
}

static int measure_once(dlb_roofs *r, dlb_gate_program *program, dlb_error *err)
{
    static const int order[] = {DLB_REFERENCE_GEMM, DLB_REFERENCE_TRIAD, DLB_REFERENCE_PEAK};
    dlb_turns turns = {.sides = DLB_REFERENCES, .order = order};
    int status = 0;
    for (int i = 0; i < DLB_REFERENCES && status == 0; i++) {
        turns.side[i] = (dlb_turn){program, dlb_roofs_number(program, (dlb_reference)i), 1};
        status = dlb_turns_calibrate(&turns, i, slice_s, err);
    }
    if (status == 0)
        status = dlb_turns_warm_up(&turns, err);
    if (status == 0)
        status = dlb_turns_run(&turns, PASSES, 0, err);
    for (int i = 0; i < DLB_REFERENCES; i++)
        r->seconds[i] = status == 0 ? dlb_turns_seconds(&turns, i) : NAN;
    return status;
}

bool dlb_roofs_are_known(const dlb_roofs *r)
{
    bool known = true;
    for (int i = 0; i < DLB_REFERENCES; i++)
        known &= isfinite(r->seconds[i]) != 0;
    return known;
}

int dlb_roofs_measure(dlb_roofs *r, dlb_gate_program *program, dlb_error *err)
{
    int status = describe(r, program, err);
    for (int i = 0; i < TRIES && status == 0; i++) {
        status = measure_once(r, program, err);
        if (dlb_roofs_are_known(r))
            break;
    }
    return status;
}

int dlb_roofs_survey(dlb_roofs *r, dlb_gate_program *program, dlb_error *err)
{
    int status = dlb_roofs_measure(r, program, err);
    if (status == 0 && !dlb_roofs_are_known(r))
        return dlb_fail(
            err, DLB_FAIL,
            "others leave this machine alone for no millisecond, so that it is not known "
            "what bounds a kernel: try again when it is less busy");
    return status;
}

double dlb_roofs_rate(const dlb_roofs *r, dlb_reference which)
{
    const dlb_gate_about *about = &r->about[which];
    double work = which == DLB_REFERENCE_TRIAD ? about->bytes : about->flops;
    return 1e-9 * work / r->seconds[which];
}

dlb_reference dlb_roofs_beside(const dlb_roofs *r, const dlb_gate_about *about)
{
    double peak = dlb_roofs_rate(r, DLB_REFERENCE_PEAK);
    double bandwidth = dlb_roofs_rate(r, DLB_REFERENCE_TRIAD);
    return about->flops / about->bytes >= peak / bandwidth ? DLB_REFERENCE_GEMM
                                                           : DLB_REFERENCE_TRIAD;
}
