#include "cli/bench_suite.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/bench.h"
#include "cli/bench_layers.h"
#include "cli/stop.h"
#include "dlk/dispatch.h"
#include "launch/launch.h"
#include "stats/spread.h"

static const double slice_s = 0.001; /* at least: fifty thousand steps of the clock */

/* ---- Kinds ---- */

static void add_kind(dlb_suite *s, const char *model, dlk_family family, dlk_isa isa)
{
    const dlb_suite_options *o = &s->options;
    const char *kernels = dlk_family_name(family), *set = dlk_isa_name(isa);
    if ((o->kernels && strcmp(o->kernels, "auto") != 0 && strcmp(o->kernels, kernels) != 0) ||
        (o->isa && strcmp(o->isa, "auto") != 0 && strcmp(o->isa, set) != 0))
        return;
    s->kinds = dlb_grow(s->kinds, &s->kind_capacity, s->kind_count + 1, sizeof *s->kinds);
    dlb_suite_kind *kind = &s->kinds[s->kind_count++];
    *kind = (dlb_suite_kind){.model = model, .kernels = kernels, .isa = set};
    kind->roofs = dlb_alloc((size_t)o->rounds, sizeof *kind->roofs);
}

/* The best first; `ref` has one instruction set only. */
static void add_kinds(dlb_suite *s, const char *model)
{
    dlk_isa best = dlk_isa_best();
    for (int isa = best; isa >= DLK_ISA_SSE; isa--)
        add_kind(s, model, DLK_FAMILY_SIMD, (dlk_isa)isa);
    for (int isa = best; isa >= DLK_ISA_SSE; isa--)
        add_kind(s, model, DLK_FAMILY_BLAS, (dlk_isa)isa);
    add_kind(s, model, DLK_FAMILY_REF, DLK_ISA_SSE);
}

/* ---- Processes ---- */

/* What is zero after some steps of training makes a difference to `simd` alone. */
static const char *steps_for(const dlb_suite *s, const dlb_suite_kind *kind, bool timed)
{
    bool skips_zeros = strcmp(kind->kernels, dlk_family_name(DLK_FAMILY_SIMD)) == 0;
    return s->options.steps ? s->options.steps : timed && skips_zeros ? NULL : "1";
}

static int start(const dlb_suite *s, const dlb_suite_kind *kind, bool timed,
                 dlb_gate_program *program, dlb_error *err)
{
    const dlb_suite_options *o = &s->options;
    char threads[16];
    snprintf(threads, sizeof threads, "%d", o->threads);
    dlb_gate_words words = {.words = {o->program, "bench", "serve", "--others"}, .count = 4};
    dlb_gate_words_add_flag(&words, o->layers ? "--layers" : "--model", kind->model);
    dlb_gate_words_add_flag(&words, "--kernels", kind->kernels);
    dlb_gate_words_add_flag(&words, "--isa", kind->isa);
    dlb_gate_words_add_flag(&words, "--batch", o->batch);
    dlb_gate_words_add_flag(&words, "--data", o->data);
    dlb_gate_words_add_flag(&words, "--steps", steps_for(s, kind, timed));
    dlb_gate_words_add_flag(&words, "--threads", threads);
    dlb_gate_disperse();
    int status = dlb_gate_program_start(program, words.words, err);
    if (status == 0)
        status = dlb_gate_program_greet(program, err);
    if (status < 0)
        dlb_gate_program_stop(program);
    else if (o->threads == 1)
        dlb_gate_gather(program, 1);
    return status;
}

/* ---- The survey ---- */

static double *missing(int count)
{
    double *values = dlb_alloc((size_t)count, sizeof *values);
    for (int i = 0; i < count; i++)
        values[i] = NAN;
    return values;
}

static dlb_suite_case *add_case(dlb_suite *s, size_t kind, const char *name)
{
    s->cases = dlb_grow(s->cases, &s->capacity, s->count + 1, sizeof *s->cases);
    dlb_suite_case *c = &s->cases[s->count++];
    *c = (dlb_suite_case){.kind = kind,
                          .name = dlb_strdup(name),
                          .seconds = missing(s->options.rounds),
                          .ratio = missing(s->options.rounds),
                          .error = NAN,
                          .bound = NAN};
    return c;
}

static int survey_case(dlb_suite *s, size_t kind, dlb_gate_program *program, size_t number,
                       dlb_error *err)
{
    dlb_suite_case *c = add_case(s, kind, program->cases[number]);
    int status = dlb_gate_program_describe(program, (int)number, &c->about, err);
    c->reference = dlb_roofs_beside(&s->kinds[kind].roofs[0], &c->about);
    if (status == 0 && s->options.verify) {
        dlb_bench_progress_show(s->options.progress, "verifying %s %s, %s", s->kinds[kind].model,
                                c->name, s->kinds[kind].isa);
        status = dlb_gate_program_verify(program, (int)number, &c->error, &c->bound, err);
    }
    if (status == 0 && dlb_stop_asked())
        status = dlb_fail(err, DLB_STOPPED, "stopped before anything was measured");
    return status;
}

/* What --only knows a model by. */
static const char *name_of(const dlb_suite *s, const dlb_suite_kind *kind)
{
    return s->options.layers ? DLB_LAYERS_NAME : kind->model;
}

static int survey_kind(dlb_suite *s, size_t index, dlb_error *err)
{
    dlb_suite_kind *kind = &s->kinds[index];
    dlb_gate_program program;
    dlb_bench_progress_show(s->options.progress, "looking for what %s has with %s, %s", kind->model,
                            kind->kernels, kind->isa);
    int status = start(s, kind, false, &program, err);
    if (status < 0)
        return status;
    status = dlb_roofs_survey(&kind->roofs[0], &program, err);
    for (size_t i = 0; i < program.count && status == 0; i++)
        if (dlb_bench_is_wanted(s->options.only, name_of(s, kind), program.cases[i]))
            status = survey_case(s, index, &program, i, err);
    dlb_gate_program_stop(&program);
    return status;
}

int dlb_suite_survey(dlb_suite *s, dlb_error *err)
{
    int status = 0;
    for (const char *const *model = s->options.models; *model; model++)
        add_kinds(s, *model);
    if (s->kind_count == 0)
        return dlb_fail(err, DLB_BAD_INPUT, "--kernels %s, --isa %s: this machine has none",
                        s->options.kernels ? s->options.kernels : "auto",
                        s->options.isa ? s->options.isa : "auto");
    for (size_t i = 0; i < s->kind_count && status == 0; i++)
        status = survey_kind(s, i, err);
    if (status == 0 && s->count == 0 && !s->options.comm)
        return dlb_fail(err, DLB_BAD_INPUT, "--only %s: nothing has such a name",
                        s->options.only ? s->options.only : "");
    return status;
}

/* ---- Rounds ---- */

typedef struct trial {
    dlb_suite *suite;
    size_t round, subject;
} trial;

static void keep(void *arg, const dlb_turn_slice *slice)
{
    const trial *t = arg;
    dlb_suite *s = t->suite;
    dlb_suite_case *c = &s->cases[t->subject];
    s->slices = dlb_grow(s->slices, &s->slice_capacity, s->slice_count + 1, sizeof *s->slices);
    s->slices[s->slice_count++] =
        (dlb_suite_slice){t->round, t->subject, dlb_clock_s() - s->start_s, *slice};
    c->slices++;
    c->disturbed += slice->switched || slice->migrated;
}

double dlb_suite_work(const dlb_suite_case *c)
{
    return dlb_suite_is_memory_bound(c) ? c->about.bytes : c->about.flops;
}

/* Its rate by the reference's, of one pass's logarithm of seconds. */
static double rate_ratio(const dlb_suite *s, const dlb_suite_case *c, double log_seconds)
{
    const dlb_gate_about *reference = &s->kinds[c->kind].roofs[0].about[c->reference];
    double work = dlb_suite_is_memory_bound(c) ? reference->bytes : reference->flops;
    return dlb_suite_work(c) / work * exp(-log_seconds);
}

/* As long as the budget has time for one case in one round; where all of that was disturbed, a few
 * times longer, and then it is missing. */
static int run_passes(const dlb_suite *s, dlb_turns *turns, dlb_error *err)
{
    static const double patience = 4;
    double share = s->options.budget_s / (double)s->options.rounds / (double)s->count;
    double start = dlb_clock_s(), elapsed;
    int status = 0;
    do {
        status = dlb_turns_pass(turns, err);
        elapsed = dlb_clock_s() - start;
    } while (status == 0 && turns->passes < DLB_TURNS_MOST &&
             turns->undisturbed < DLB_TURNS_PASSES &&
             elapsed < (turns->undisturbed ? share : patience * share));
    return status;
}

static int measure_turns(const dlb_suite *s, dlb_turns *turns, dlb_error *err)
{
    int status = 0;
    for (int side = 0; side < turns->sides && status == 0; side++)
        status = dlb_turns_calibrate(turns, side, slice_s, err);
    if (status == 0)
        status = dlb_turns_warm_up(turns, err);
    return status < 0 ? status : run_passes(s, turns, err);
}

/* What is timed may be more than what was surveyed: more steps of training need more images. */
static int describe_timed(dlb_suite_case *c, dlb_gate_program *program, size_t round,
                          dlb_error *err)
{
    int number = dlb_gate_program_find(program, c->name);
    return round == 0 ? dlb_gate_program_describe(program, number, &c->about, err) : 0;
}

static int measure_case(trial *t, dlb_gate_program *program, dlb_error *err)
{
    static const int orders[][2] = {{0, 1}, {1, 0}};
    dlb_suite *s = t->suite;
    dlb_suite_case *c = &s->cases[t->subject];
    dlb_turns turns = {.sides = 2,
                       .side = {{program, dlb_gate_program_find(program, c->name), 1},
                                {program, dlb_roofs_number(program, c->reference), 1}},
                       .order = orders[t->round % 2],
                       .keep = keep,
                       .arg = t};
    int status = describe_timed(c, program, t->round, err);
    if (status == 0)
        status = measure_turns(s, &turns, err);
    c->seconds[t->round] = dlb_turns_seconds(&turns, 0);
    c->ratio[t->round] = rate_ratio(s, c, dlb_turns_log_ratio(&turns, 0, 1, 1));
    return status;
}

static int measure_kind(dlb_suite *s, size_t index, size_t round, dlb_error *err)
{
    dlb_suite_kind *kind = &s->kinds[index];
    dlb_gate_program program;
    int status = start(s, kind, true, &program, err);
    if (status < 0)
        return status;
    status = dlb_roofs_measure(&kind->roofs[round], &program, err);
    size_t rounds = (size_t)s->options.rounds;
    for (size_t i = 0; i < s->count && status == 0; i++) {
        if (s->cases[i].kind != index)
            continue;
        dlb_bench_progress_count(s->options.progress, s->measured++, s->count * rounds);
        dlb_bench_progress_show(s->options.progress, "round %zu of %d: %s %s, %s", round + 1,
                                s->options.rounds, kind->model, s->cases[i].name, kind->isa);
        trial t = {s, round, i};
        status = measure_case(&t, &program, err);
        if (status == 0 && dlb_stop_asked())
            status = dlb_fail(err, DLB_STOPPED, "stopped before all was measured");
    }
    dlb_gate_program_stop(&program);
    return status;
}

bool dlb_suite_has_cases(const dlb_suite *s, size_t kind)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->cases[i].kind == kind)
            return true;
    return false;
}

/* Without it the rest is worth as much as before. */
static int measure_comm(dlb_suite *s, dlb_error *err)
{
    dlb_bench_progress_show(s->options.progress, "exchange of gradients between ranks");
    dlb_gate_disperse();
    int status = dlb_suite_comm_run(&s->comm, s->options.program, err);
    if (status < 0 && status != DLB_STOPPED) {
        dlb_str_add(&s->comm_missing, err->message);
        return 0;
    }
    return status;
}

int dlb_suite_run(dlb_suite *s, dlb_error *err)
{
    int status = 0;
    s->start_s = dlb_clock_s();
    for (size_t round = 0; round < (size_t)s->options.rounds && status == 0; round++)
        for (size_t i = 0; i < s->kind_count && status == 0; i++)
            if (dlb_suite_has_cases(s, i))
                status = measure_kind(s, i, round, err);
    return status == 0 && s->options.comm ? measure_comm(s, err) : status;
}

void dlb_suite_release(dlb_suite *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->cases[i].ratio);
        free(s->cases[i].seconds);
        free(s->cases[i].name);
    }
    for (size_t i = 0; i < s->kind_count; i++)
        free(s->kinds[i].roofs);
    dlb_suite_comm_release(&s->comm);
    dlb_str_release(&s->comm_missing);
    free(s->slices);
    free(s->cases);
    free(s->kinds);
}

/* ---- Results ---- */

bool dlb_suite_is_memory_bound(const dlb_suite_case *c)
{
    return c->reference == DLB_REFERENCE_TRIAD;
}

double dlb_suite_rate(const dlb_suite *s, const dlb_suite_kind *kind, dlb_reference which)
{
    size_t rounds = (size_t)s->options.rounds;
    double *rates = dlb_alloc(rounds, sizeof *rates);
    for (size_t round = 0; round < rounds; round++)
        rates[round] = dlb_roofs_rate(&kind->roofs[round], which);
    double median = dlb_median(rates, rounds);
    free(rates);
    return median;
}

double dlb_suite_roof(const dlb_suite *s, const dlb_suite_case *c)
{
    return dlb_suite_rate(s, &s->kinds[c->kind],
                          dlb_suite_is_memory_bound(c) ? DLB_REFERENCE_TRIAD : DLB_REFERENCE_PEAK);
}

const char *dlb_suite_beside(const dlb_suite *s, const dlb_suite_case *c)
{
    return s->kinds[c->kind].roofs[0].names[c->reference];
}

bool dlb_suite_is_wrong(const dlb_suite_case *c)
{
    return c->error > c->bound;
}

static void add_flag(dlb_str *text, const char *flag, const char *value)
{
    if (!value)
        return;
    dlb_str_addf(text, " %s ", flag);
    dlb_command_line_add_word(text, value);
}

void dlb_suite_add_reproduction(const dlb_suite *s, const dlb_suite_case *c, dlb_str *text)
{
    const dlb_suite_options *o = &s->options;
    const dlb_suite_kind *kind = &s->kinds[c->kind];
    dlb_str_add(text, "./dlbench bench --verify --list");
    add_flag(text, o->layers ? "--layers" : "--model", kind->model);
    add_flag(text, "--kernels", kind->kernels);
    add_flag(text, "--isa", kind->isa);
    add_flag(text, "--batch", o->batch);
    add_flag(text, "--data", o->data);
    add_flag(text, "--steps", o->steps);
    add_flag(text, "--program", o->named_program);
    if (o->threads > 1)
        dlb_str_addf(text, " --threads %d", o->threads);
    add_flag(text, "--only", c->name);
}
