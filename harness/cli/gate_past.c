#include "cli/gate_past.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "cli/bench.h"
#include "stats/spread.h"

/* ---- Machines ---- */

void dlb_gate_make_machines(dlb_gate *g)
{
    size_t count = 0;
    while (g->options.models[count])
        count++;
    g->machines = dlb_alloc(count, sizeof *g->machines);
    g->machine_count = count;
    for (size_t i = 0; i < count; i++) {
        g->machines[i].model = g->options.models[i];
        g->machines[i].arithmetic = dlb_alloc(g->rounds, sizeof(double));
        g->machines[i].memory = dlb_alloc(g->rounds, sizeof(double));
    }
}

void dlb_gate_free_machines(dlb_gate *g)
{
    for (size_t i = 0; i < g->machine_count; i++) {
        free(g->machines[i].memory);
        free(g->machines[i].arithmetic);
    }
    free(g->machines);
}

static const dlb_gate_machine *machine_of(const dlb_gate *g, const char *model)
{
    size_t i = 0;
    while (strcmp(g->machines[i].model, model) != 0)
        i++;
    return &g->machines[i];
}

int dlb_gate_measure_roofs(dlb_gate *g, const char *model, size_t round, dlb_gate_program *program,
                           dlb_error *err)
{
    dlb_roofs roofs;
    int status = dlb_roofs_measure(&roofs, program, err);
    if (status < 0)
        return status;
    const dlb_gate_machine *machine = machine_of(g, model);
    const double *s = roofs.seconds;
    machine->arithmetic[round] = log(s[DLB_REFERENCE_GEMM] / s[DLB_REFERENCE_PEAK]);
    machine->memory[round] = log(s[DLB_REFERENCE_TRIAD] / s[DLB_REFERENCE_GEMM]);
    return 0;
}

/* ---- References ---- */

static const dlb_baseline_ratio *past_of(const dlb_gate *g, const dlb_gate_case *c)
{
    return dlb_baseline_find(g->options.baseline, c->model, c->name);
}

/* The reference that is called so; DLB_REFERENCES: none. */
static dlb_reference reference_named(const dlb_roofs *roofs, const char *name)
{
    int which = 0;
    while (which < DLB_REFERENCES && strcmp(roofs->names[which], name) != 0)
        which++;
    return (dlb_reference)which;
}

static int choose(dlb_gate *g, dlb_gate_case *c, const dlb_roofs *roofs, dlb_gate_program *program,
                  dlb_error *err)
{
    if (g->options.baseline) {
        const dlb_baseline_ratio *past = past_of(g, c);
        c->reference = past ? reference_named(roofs, past->beside) : DLB_REFERENCES;
        return 0;
    }
    dlb_gate_about about;
    int number = dlb_gate_program_find(program, c->name);
    int status = dlb_gate_program_describe(program, number, &about, err);
    if (status == 0)
        c->reference = dlb_roofs_beside(roofs, &about);
    return status;
}

/* Those that the baseline does not know, or knows beside another reference. */
static void leave_out(dlb_gate *g)
{
    size_t kept = 0;
    for (size_t i = 0; i < g->count; i++) {
        if (g->cases[i].reference == DLB_REFERENCES) {
            free(g->cases[i].name);
            g->left_out++;
        } else {
            g->cases[kept++] = g->cases[i];
        }
    }
    g->count = kept;
}

/* What the baseline has of a model, is asked for, and is not served. */
static void count_lost(dlb_gate *g, const char *model, const dlb_gate_program *program)
{
    const dlb_baseline *b = g->options.baseline;
    for (size_t i = 0; i < b->count; i++) {
        const dlb_baseline_ratio *past = &b->ratios[i];
        bool is_reference = reference_named(&g->roofs, past->kernel) != DLB_REFERENCES;
        if (strcmp(past->model, model) == 0 && !is_reference &&
            dlb_bench_is_wanted(g->options.only, model, past->kernel) &&
            dlb_gate_program_find(program, past->kernel) < 0)
            g->left_out++;
    }
}

int dlb_gate_choose_references(dlb_gate *g, const char *model, dlb_gate_program *programs,
                               dlb_error *err)
{
    int status = dlb_roofs_survey(&g->roofs, &programs[DLB_GATE_BEFORE], err);
    for (size_t i = 0; i < g->count && status == 0; i++)
        if (g->cases[i].model == model)
            status = choose(g, &g->cases[i], &g->roofs, &programs[DLB_GATE_AFTER], err);
    bool wanted = dlb_gate_has_model(g, model);
    leave_out(g);
    if (wanted && !dlb_gate_has_model(g, model))
        g->unheard_of = model;
    if (g->options.baseline)
        count_lost(g, model, &programs[DLB_GATE_AFTER]);
    return status;
}

/* ---- What a baseline lacks ---- */

static size_t known(const double *logs, size_t count)
{
    size_t there = 0;
    for (size_t i = 0; i < count; i++)
        there += !isnan(logs[i]);
    return there;
}

static size_t fewest_rounds(const dlb_gate *g)
{
    size_t fewest = SIZE_MAX;
    for (size_t i = 0; i < g->count; i++) {
        const dlb_baseline_ratio *past = past_of(g, &g->cases[i]);
        size_t rounds = known(past->logs, past->count);
        fewest = rounds < fewest ? rounds : fewest;
    }
    return fewest;
}

bool dlb_gate_past_lacks(const dlb_gate *g, dlb_str *what)
{
    if (g->unheard_of) {
        dlb_str_addf(what, "kernels of %s", g->unheard_of);
        return true;
    }
    size_t needed = dlb_judgement_needed_since(&g->options.rule), rounds = fewest_rounds(g);
    if (rounds < needed)
        dlb_str_addf(what, "baseline with enough rounds (%zu kernels need %zu, it has %zu)",
                     g->count, needed, rounds);
    return rounds < needed;
}

/* ---- Then and now ---- */

static double past_median(const dlb_baseline_ratio *past)
{
    return past ? dlb_median(past->logs, past->count) : NAN;
}

double dlb_gate_past_ratio(const dlb_gate *g, const dlb_gate_case *c)
{
    return exp(past_median(past_of(g, c)));
}

double dlb_gate_present_ratio(const dlb_gate *g, const dlb_gate_case *c)
{
    return exp(dlb_median(c->change, g->rounds));
}

/*
 * How far the machine has moved since then, as far as a case can be touched by it: sgemm against
 * the peak for all, memory against sgemm besides for what memory bounds.
 */
static double shift_for(const dlb_gate *g, const dlb_gate_case *c)
{
    const dlb_gate_machine *machine = machine_of(g, c->model);
    const dlb_baseline *b = g->options.baseline;
    const char *gemm = g->roofs.names[DLB_REFERENCE_GEMM];
    const char *triad = g->roofs.names[DLB_REFERENCE_TRIAD];
    double arithmetic = dlb_median(machine->arithmetic, g->rounds) -
                        past_median(dlb_baseline_find(b, c->model, gemm));
    double memory =
        dlb_median(machine->memory, g->rounds) - past_median(dlb_baseline_find(b, c->model, triad));
    if (c->reference == DLB_REFERENCE_GEMM)
        return fabs(arithmetic);
    return isnan(memory) ? NAN : fmax(fabs(arithmetic), fabs(memory));
}

dlb_judgement dlb_gate_judge_past(const dlb_gate *g, const dlb_gate_case *c)
{
    const dlb_baseline_ratio *past = past_of(g, c);
    double *control = dlb_alloc(g->rounds, sizeof *control);
    for (size_t i = 0; i < g->rounds; i++)
        control[i] = c->control[i] - c->change[i];
    dlb_judgement_past rounds = {.past_count = past->count,
                                 .count = g->rounds,
                                 .past = past->logs,
                                 .present = c->change,
                                 .control = control,
                                 .shift = shift_for(g, c),
                                 .seconds = dlb_median(c->seconds[DLB_GATE_AFTER], g->rounds)};
    dlb_judgement verdict = dlb_judgement_since(&g->options.rule, &rounds);
    free(control);
    return verdict;
}

/* ---- Saving ---- */

static void add_machine(const dlb_gate *g, const dlb_gate_machine *m, dlb_baseline *baseline)
{
    const char(*names)[32] = g->roofs.names;
    dlb_baseline_add(baseline, m->model, names[DLB_REFERENCE_GEMM], names[DLB_REFERENCE_PEAK],
                     m->arithmetic, g->rounds);
    dlb_baseline_add(baseline, m->model, names[DLB_REFERENCE_TRIAD], names[DLB_REFERENCE_GEMM],
                     m->memory, g->rounds);
}

size_t dlb_gate_add_to_baseline(const dlb_gate *g, dlb_baseline *baseline)
{
    size_t needed = dlb_judgement_needed_since(&g->options.rule), added = 0;
    for (size_t i = 0; i < g->machine_count; i++)
        if (dlb_gate_has_model(g, g->machines[i].model))
            add_machine(g, &g->machines[i], baseline);
    for (size_t i = 0; i < g->count; i++) {
        const dlb_gate_case *c = &g->cases[i];
        if (known(c->change, g->rounds) < needed)
            continue;
        dlb_baseline_add(baseline, c->model, c->name, g->roofs.names[c->reference], c->change,
                         g->rounds);
        added++;
    }
    return added;
}
