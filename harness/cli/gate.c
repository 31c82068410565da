#include "cli/gate.h"

#include <math.h>
#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/bench.h"
#include "cli/gate_past.h"
#include "cli/stop.h"
#include "record/whole_step.h"
#include "stats/spread.h"

static const double slice_s = 0.0003;  /* at least: ten thousand steps of the clock */
static const double patience_s = 0.25; /* of one kernel in a round, but for PASSES_LEAST */

enum {
    PASSES_LEAST = 5, /* undisturbed, of a round that counts */
    ROUNDS_USUAL = 20,
};

const char *dlb_gate_side_name(dlb_gate_side side)
{
    static const char *const names[DLB_GATE_SIDES] = {"before", "after", "control"};
    return names[side];
}

bool dlb_gate_has_model(const dlb_gate *g, const char *model)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->cases[i].model == model)
            return true;
    return false;
}

size_t dlb_gate_count(const dlb_gate *g, dlb_judgement_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < g->count; i++)
        count += g->cases[i].verdict.kind == kind;
    return count;
}

bool dlb_gate_alarms(const dlb_gate *g, size_t allowed)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->cases[i].verdict.kind == DLB_JUDGED_SLOWER &&
            strcmp(g->cases[i].name, DLB_WHOLE_STEP) == 0)
            return true;
    return dlb_gate_count(g, DLB_JUDGED_SLOWER) > allowed;
}

dlb_judgement_rule dlb_gate_usual_rule(void)
{
    return (dlb_judgement_rule){.threshold = 0.02, .floor_s = 10e-9, .chance = 0.05, .kernels = 1};
}

void dlb_gate_settle(void)
{
    dlb_stop_catch();
    signal(SIGPIPE, SIG_IGN);
}

/* ---- Programs ---- */

void dlb_gate_add_request(const dlb_gate_options *o, dlb_gate_side side, const char *model,
                          dlb_gate_words *words)
{
    dlb_gate_words_add(words, side == DLB_GATE_AFTER || o->by_reference ? o->after : o->before);
    dlb_gate_words_add(words, "bench");
    dlb_gate_words_add(words, "serve");
    dlb_gate_words_add_flag(words, "--model", model);
    dlb_gate_words_add_flag(words, "--kernels", o->kernels);
    dlb_gate_words_add_flag(words, "--data", o->data);
}

static int start(const dlb_gate_options *o, dlb_gate_side side, const char *model,
                 dlb_gate_program *program, dlb_error *err)
{
    double share = side == DLB_GATE_AFTER ? o->slowdown : 0;
    char slowdown[32], noise[32];
    dlb_format_real(share, slowdown, sizeof slowdown);
    dlb_format_real(o->noise, noise, sizeof noise);
    dlb_gate_words words = {0};
    dlb_gate_add_request(o, side, model, &words);
    dlb_gate_words_add_flag(&words, "--isa", o->isa);
    dlb_gate_words_add_flag(&words, "--slow-down", share > 0 ? slowdown : NULL);
    dlb_gate_words_add_flag(&words, "--noise", o->noise > 0 ? noise : NULL);
    return dlb_gate_program_start(program, words.words, err);
}

static void stop_all(dlb_gate_program *programs)
{
    for (int side = 0; side < DLB_GATE_SIDES; side++)
        dlb_gate_program_stop(&programs[side]);
}

/* What is to be judged and does not come up is at fault itself; else there is nothing to compare
 * with, or something wrong was asked for. */
static int blame(const dlb_gate *g, dlb_gate_side side, dlb_gate_program *program, dlb_error *err)
{
    bool is_judged = side == DLB_GATE_AFTER || g->options.by_reference;
    if (err->code != DLB_BAD_INPUT || !is_judged || dlb_gate_program_refused(program))
        return err->code;
    return dlb_fail(err, DLB_FAIL, "%s, which is to be judged, does not serve its kernels",
                    g->options.after);
}

/* The first `sides` of them; none is left after an error. */
static int start_all(const dlb_gate *g, const char *model, int sides, dlb_gate_program *programs,
                     dlb_error *err)
{
    int status = 0;
    memset(programs, 0, DLB_GATE_SIDES * sizeof *programs);
    for (int side = 0; side < sides && status == 0; side++)
        status = start(&g->options, (dlb_gate_side)side, model, &programs[side], err);
    for (int side = 0; side < sides && status == 0; side++)
        if (dlb_gate_program_greet(&programs[side], err) < 0)
            status = blame(g, (dlb_gate_side)side, &programs[side], err);
    if (status < 0)
        stop_all(programs);
    return status;
}

/* ---- What there is ---- */

static void add_case(dlb_gate *g, const char *model, const char *name)
{
    g->cases = dlb_grow(g->cases, &g->capacity, g->count + 1, sizeof *g->cases);
    g->cases[g->count++] = (dlb_gate_case){
        .model = model, .name = dlb_strdup(name), .instructions = {NAN, NAN}, .chosen = true};
}

static void add_cases(dlb_gate *g, const char *model, const dlb_gate_program *before,
                      const dlb_gate_program *after)
{
    for (size_t i = 0; i < after->count; i++) {
        if (dlb_gate_program_find(before, after->cases[i]) < 0)
            g->left_out++;
        else if (dlb_bench_is_wanted(g->options.only, model, after->cases[i]))
            add_case(g, model, after->cases[i]);
    }
    for (size_t i = 0; i < before->count; i++)
        g->left_out += dlb_gate_program_find(after, before->cases[i]) < 0;
}

static void make_room(dlb_gate *g)
{
    for (size_t i = 0; i < g->count; i++) {
        dlb_gate_case *c = &g->cases[i];
        for (int side = 0; side < DLB_GATE_SIDES; side++)
            c->seconds[side] = dlb_alloc(g->rounds, sizeof(double));
        c->change = dlb_alloc(g->rounds, sizeof *c->change);
        c->control = dlb_alloc(g->rounds, sizeof *c->control);
    }
    if (g->options.by_reference)
        dlb_gate_make_machines(g);
}

/* With no more rounds than an interval needs it reaches from the least to the greatest of them. */
static size_t usual_rounds(size_t needed)
{
    size_t enough = 5 * needed / 2;
    return enough > ROUNDS_USUAL ? enough : ROUNDS_USUAL;
}

int dlb_gate_survey(dlb_gate *g, dlb_error *err)
{
    for (const char *const *model = g->options.models; *model; model++) {
        dlb_gate_program programs[DLB_GATE_SIDES];
        dlb_bench_progress_show(g->options.progress, "looking for kernels of %s", *model);
        dlb_gate_disperse();
        int status = start_all(g, *model, DLB_GATE_CONTROL, programs, err);
        if (status < 0)
            return status;
        add_cases(g, *model, &programs[DLB_GATE_BEFORE], &programs[DLB_GATE_AFTER]);
        if (g->options.by_reference) {
            dlb_gate_gather(programs, DLB_GATE_CONTROL);
            status = dlb_gate_choose_references(g, *model, programs, err);
        }
        stop_all(programs);
        if (status < 0)
            return status;
    }
    if (g->count == 0 && !g->unheard_of)
        return dlb_fail(err, DLB_BAD_INPUT, "--only %s: no kernel has such a name",
                        g->options.only ? g->options.only : "");
    g->options.rule.kernels = g->count ? g->count : 1;
    size_t needed = g->options.by_reference ? dlb_judgement_needed_since(&g->options.rule)
                                            : dlb_judgement_needed(&g->options.rule);
    size_t asked = g->options.rounds ? g->options.rounds : usual_rounds(needed);
    g->rounds = asked > needed ? asked : needed;
    make_room(g);
    return 0;
}

void dlb_gate_release(dlb_gate *g)
{
    for (size_t i = 0; i < g->count; i++) {
        free(g->cases[i].control);
        free(g->cases[i].change);
        for (int side = 0; side < DLB_GATE_SIDES; side++)
            free(g->cases[i].seconds[side]);
        free(g->cases[i].name);
    }
    free(g->cases);
    free(g->slices);
    dlb_gate_free_machines(g);
    dlb_str_release(&g->witness);
}

/* ---- A kernel in a round ---- */

typedef struct trial {
    dlb_gate *gate;
    int series;
    size_t round, kernel;
    dlb_gate_program *programs;
} trial;

static void keep(void *arg, const dlb_turn_slice *slice)
{
    const trial *t = arg;
    dlb_gate *g = t->gate;
    dlb_gate_case *c = &g->cases[t->kernel];
    g->slices = dlb_grow(g->slices, &g->slice_capacity, g->slice_count + 1, sizeof *g->slices);
    g->slices[g->slice_count++] = (dlb_gate_slice){t->series, t->round, t->kernel, *slice};
    c->slices++;
    c->disturbed += slice->switched || slice->migrated;
}

/* Who comes first, second and third differs from round to round. */
static const int *order_of(size_t round)
{
    static const int orders[][DLB_GATE_SIDES] = {
        {DLB_GATE_BEFORE, DLB_GATE_AFTER, DLB_GATE_CONTROL},
        {DLB_GATE_CONTROL, DLB_GATE_BEFORE, DLB_GATE_AFTER},
        {DLB_GATE_AFTER, DLB_GATE_CONTROL, DLB_GATE_BEFORE},
        {DLB_GATE_CONTROL, DLB_GATE_AFTER, DLB_GATE_BEFORE},
        {DLB_GATE_BEFORE, DLB_GATE_CONTROL, DLB_GATE_AFTER},
        {DLB_GATE_AFTER, DLB_GATE_BEFORE, DLB_GATE_CONTROL},
    };
    return orders[round % (sizeof orders / sizeof *orders)];
}

static void conclude(const trial *t, const dlb_turns *turns)
{
    dlb_gate_case *c = &t->gate->cases[t->kernel];
    for (int side = 0; side < DLB_GATE_SIDES; side++)
        c->seconds[side][t->round] = dlb_turns_seconds(turns, side);
    c->change[t->round] = dlb_turns_log_ratio(turns, DLB_GATE_AFTER, DLB_GATE_BEFORE, PASSES_LEAST);
    c->control[t->round] =
        dlb_turns_log_ratio(turns, DLB_GATE_CONTROL, DLB_GATE_BEFORE, PASSES_LEAST);
}

/* As many calls of the kernel in a slice of any side. A reference is another thing. */
static int calibrate(const dlb_gate *g, dlb_turns *turns, dlb_error *err)
{
    int status = dlb_turns_calibrate(turns, DLB_GATE_BEFORE, slice_s, err);
    if (status == 0 && g->options.by_reference)
        status = dlb_turns_calibrate(turns, DLB_GATE_AFTER, slice_s, err);
    else
        turns->side[DLB_GATE_AFTER].repeats = turns->side[DLB_GATE_BEFORE].repeats;
    turns->side[DLB_GATE_CONTROL].repeats = turns->side[DLB_GATE_AFTER].repeats;
    return status;
}

static int number_for(const trial *t, dlb_gate_side side)
{
    const dlb_gate_case *c = &t->gate->cases[t->kernel];
    const dlb_gate_program *program = &t->programs[side];
    return t->gate->options.by_reference && side == DLB_GATE_BEFORE
               ? dlb_roofs_number(program, c->reference)
               : dlb_gate_program_find(program, c->name);
}

static int measure_case(trial *t, dlb_error *err)
{
    dlb_turns turns = {
        .sides = DLB_GATE_SIDES, .order = order_of(t->round), .keep = keep, .arg = t};
    for (int side = 0; side < DLB_GATE_SIDES; side++)
        turns.side[side] = (dlb_turn){&t->programs[side], number_for(t, (dlb_gate_side)side), 1};
    int status = calibrate(t->gate, &turns, err);
    if (status == 0)
        status = dlb_turns_warm_up(&turns, err);
    if (status == 0)
        status = dlb_turns_run(&turns, PASSES_LEAST, patience_s, err);
    if (status == 0)
        conclude(t, &turns);
    return status;
}

/* ---- Series of rounds ---- */

static bool has_chosen(const dlb_gate *g, const char *model)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->cases[i].chosen && g->cases[i].model == model)
            return true;
    return false;
}

static size_t count_chosen(const dlb_gate *g)
{
    size_t count = 0;
    for (size_t i = 0; i < g->count; i++)
        count += g->cases[i].chosen;
    return count;
}

static int measure_model(dlb_gate *g, int series, size_t round, const char *model, dlb_error *err)
{
    dlb_gate_program programs[DLB_GATE_SIDES];
    dlb_gate_disperse();
    int status = start_all(g, model, DLB_GATE_SIDES, programs, err);
    if (status < 0)
        return status;
    dlb_gate_gather(programs, DLB_GATE_SIDES);
    if (g->options.by_reference)
        status = dlb_gate_measure_roofs(g, model, round, &programs[DLB_GATE_BEFORE], err);
    for (size_t i = 0; i < g->count && status == 0; i++) {
        if (!g->cases[i].chosen || g->cases[i].model != model)
            continue;
        dlb_bench_progress_count(g->options.progress, g->measured++, count_chosen(g) * g->rounds);
        dlb_bench_progress_show(g->options.progress, "%sround %zu of %zu: %s %s",
                                series > 1 ? "once more, " : "", round + 1, g->rounds, model,
                                g->cases[i].name);
        trial t = {.gate = g, .series = series, .round = round, .kernel = i, .programs = programs};
        status = measure_case(&t, err);
        if (status == 0 && dlb_stop_asked())
            status = dlb_fail(err, DLB_STOPPED, "stopped before all was measured");
    }
    stop_all(programs);
    return status;
}

static int measure_series(dlb_gate *g, int series, dlb_error *err)
{
    int status = 0;
    g->measured = 0;
    for (size_t round = 0; round < g->rounds && status == 0; round++)
        for (const char *const *model = g->options.models; *model && status == 0; model++)
            if (has_chosen(g, *model))
                status = measure_model(g, series, round, *model, err);
    return status;
}

static dlb_judgement judge(const dlb_gate *g, const dlb_gate_case *c)
{
    if (g->options.by_reference)
        return dlb_gate_judge_past(g, c);
    dlb_judgement_rounds rounds = {g->rounds, c->change, c->control,
                                   dlb_median(c->seconds[DLB_GATE_BEFORE], g->rounds)};
    return dlb_judgement_of(&g->options.rule, &rounds);
}

int dlb_gate_measure(dlb_gate *g, dlb_error *err)
{
    return measure_series(g, 1, err);
}

int dlb_gate_run(dlb_gate *g, dlb_error *err)
{
    bool again = false;
    int status = measure_series(g, 1, err);
    for (size_t i = 0; i < g->count && status == 0; i++) {
        dlb_gate_case *c = &g->cases[i];
        c->verdict = judge(g, c);
        c->chosen = c->repeated = dlb_judgement_needs_repetition(&c->verdict);
        again |= c->chosen;
    }
    if (status == 0 && again)
        status = measure_series(g, 2, err);
    for (size_t i = 0; i < g->count && status == 0; i++) {
        dlb_gate_case *c = &g->cases[i];
        dlb_judgement repetition = judge(g, c);
        if (c->repeated)
            c->verdict = dlb_judgement_confirmed(&c->verdict, &repetition);
    }
    return status;
}
