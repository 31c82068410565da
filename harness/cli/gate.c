#include "cli/gate.h"

#include <math.h>
#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/stop.h"
#include "measure/cores.h"
#include "stats/spread.h"

static const double slice_s = 0.001; /* at least: the clock's steps are a thousandth of it */

enum {
    PASSES = 6,       /* each of two slices a side */
    SLICES_LEAST = 3, /* undisturbed, of a round that counts */
    WARM_MOST = 10,
};

const char *dlb_gate_side_name(dlb_gate_side side)
{
    static const char *const names[DLB_GATE_SIDES] = {"before", "after", "control"};
    return names[side];
}

size_t dlb_gate_count(const dlb_gate *g, dlb_judgement_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < g->count; i++)
        count += g->cases[i].verdict.kind == kind;
    return count;
}

dlb_judgement_rule dlb_gate_usual_rule(void)
{
    return (dlb_judgement_rule){.threshold = 0.02, .floor_s = 10e-9, .chance = 0.05, .kernels = 1};
}

/* The last core: the first has most of the interrupts. */
void dlb_gate_settle(void)
{
    const dlb_cores *cores = dlb_cores_of_process();
    dlb_stop_catch();
    signal(SIGPIPE, SIG_IGN);
    dlb_cpu_bind(dlb_cpus_at(&cores->cpus, cores->count - 1)); /* else the kernel places them */
}

/* ---- Programs ---- */

static int start(const dlb_gate_options *o, dlb_gate_side side, const char *model,
                 dlb_gate_program *program, dlb_error *err)
{
    enum { WORDS = 16 };
    char slowdown[32];
    const char *const given[][2] = {{"--model", model},
                                    {"--kernels", o->kernels},
                                    {"--isa", o->isa},
                                    {"--data", o->data},
                                    {"--slow-down", o->slowdown > 0 ? slowdown : NULL}};
    const char *argv[WORDS] = {side == DLB_GATE_AFTER ? o->after : o->before, "bench", "serve"};
    int words = 3, flags = sizeof given / sizeof *given;
    dlb_format_real(o->slowdown, slowdown, sizeof slowdown);
    for (int i = 0; i < (side == DLB_GATE_AFTER ? flags : flags - 1); i++)
        if (given[i][1]) {
            argv[words++] = given[i][0];
            argv[words++] = given[i][1];
        }
    return dlb_gate_program_start(program, argv, err);
}

static void stop_all(dlb_gate_program *programs)
{
    for (int side = 0; side < DLB_GATE_SIDES; side++)
        dlb_gate_program_stop(&programs[side]);
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
        status = dlb_gate_program_greet(&programs[side], err);
    if (status < 0)
        stop_all(programs);
    return status;
}

/* ---- What there is ---- */

static bool contains_one_of(const char *text, const char *words)
{
    while (*words) {
        size_t length = strcspn(words, ",");
        for (const char *at = text; length && *at; at++)
            if (strncmp(at, words, length) == 0)
                return true;
        words += length + (words[length] == ',');
    }
    return false;
}

static bool is_wanted(const dlb_gate_options *o, const char *model, const char *name)
{
    dlb_str whole = DLB_STR_INIT;
    dlb_str_addf(&whole, "%s %s", model, name);
    bool wanted = !o->only || contains_one_of(whole.text, o->only);
    dlb_str_release(&whole);
    return wanted;
}

static void add_case(dlb_gate *g, const char *model, const char *name)
{
    g->cases = dlb_grow(g->cases, &g->capacity, g->count + 1, sizeof *g->cases);
    g->cases[g->count++] =
        (dlb_gate_case){.model = model, .name = dlb_strdup(name), .chosen = true};
}

static void add_cases(dlb_gate *g, const char *model, const dlb_gate_program *before,
                      const dlb_gate_program *after)
{
    for (size_t i = 0; i < after->count; i++) {
        if (dlb_gate_program_find(before, after->cases[i]) < 0)
            g->left_out++;
        else if (is_wanted(&g->options, model, after->cases[i]))
            add_case(g, model, after->cases[i]);
    }
    for (size_t i = 0; i < before->count; i++)
        g->left_out += dlb_gate_program_find(after, before->cases[i]) < 0;
}

static void make_room(dlb_gate *g)
{
    for (size_t i = 0; i < g->count; i++)
        for (int side = 0; side < DLB_GATE_SIDES; side++)
            g->cases[i].times[side] = dlb_alloc(g->rounds, sizeof(double));
}

int dlb_gate_survey(dlb_gate *g, dlb_error *err)
{
    for (const char *const *model = g->options.models; *model; model++) {
        dlb_gate_program programs[DLB_GATE_SIDES];
        dlb_bench_progress_show(g->options.progress, "looking for kernels of %s", *model);
        int status = start_all(g, *model, DLB_GATE_CONTROL, programs, err);
        if (status < 0)
            return status;
        add_cases(g, *model, &programs[DLB_GATE_BEFORE], &programs[DLB_GATE_AFTER]);
        stop_all(programs);
    }
    if (g->count == 0)
        return dlb_fail(err, DLB_BAD_INPUT, "--only %s: no kernel has such a name",
                        g->options.only ? g->options.only : "");
    g->options.rule.kernels = g->count;
    size_t needed = dlb_judgement_rounds(&g->options.rule);
    g->rounds = g->options.rounds > needed ? g->options.rounds : needed;
    make_room(g);
    return 0;
}

void dlb_gate_release(dlb_gate *g)
{
    for (size_t i = 0; i < g->count; i++) {
        free(g->cases[i].name);
        for (int side = 0; side < DLB_GATE_SIDES; side++)
            free(g->cases[i].times[side]);
    }
    free(g->cases);
    free(g->slices);
}

/* ---- A kernel in a round ---- */

typedef struct trial {
    dlb_gate *gate;
    int series;
    size_t round, kernel;
    dlb_gate_program *programs;
    int numbers[DLB_GATE_SIDES]; /* of the case, in each program */
    long long repeats;
    double seconds[DLB_GATE_SIDES][2 * PASSES]; /* undisturbed */
    size_t counts[DLB_GATE_SIDES];
} trial;

static void keep(trial *t, dlb_gate_side side, const dlb_serve_sample *sample)
{
    dlb_gate *g = t->gate;
    dlb_gate_case *c = &g->cases[t->kernel];
    dlb_gate_slice slice = {.series = t->series,
                            .round = t->round,
                            .kernel = t->kernel,
                            .side = side,
                            .seconds = 1e-9 * (double)sample->ns / (double)t->repeats,
                            .calls = t->repeats,
                            .switched = sample->switches > 0,
                            .migrated = sample->migrated != 0};
    g->slices = dlb_grow(g->slices, &g->slice_capacity, g->slice_count + 1, sizeof *g->slices);
    g->slices[g->slice_count++] = slice;
    c->slices++;
    if (slice.switched || slice.migrated)
        c->disturbed++;
    else
        t->seconds[side][t->counts[side]++] = slice.seconds;
}

static int run_side(const trial *t, dlb_gate_side side, dlb_serve_sample *sample, dlb_error *err)
{
    return dlb_gate_program_run(&t->programs[side], t->numbers[side], t->repeats, sample, err);
}

/* Until it no longer becomes faster from one slice to the next. */
static int warm_up(const trial *t, dlb_gate_side side, dlb_error *err)
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

/* Who comes first, second and third differs from round to round. */
static dlb_gate_side side_at(size_t round, int place)
{
    static const dlb_gate_side orders[][DLB_GATE_SIDES] = {
        {DLB_GATE_BEFORE, DLB_GATE_AFTER, DLB_GATE_CONTROL},
        {DLB_GATE_CONTROL, DLB_GATE_BEFORE, DLB_GATE_AFTER},
        {DLB_GATE_AFTER, DLB_GATE_CONTROL, DLB_GATE_BEFORE},
        {DLB_GATE_CONTROL, DLB_GATE_AFTER, DLB_GATE_BEFORE},
        {DLB_GATE_BEFORE, DLB_GATE_CONTROL, DLB_GATE_AFTER},
        {DLB_GATE_AFTER, DLB_GATE_BEFORE, DLB_GATE_CONTROL},
    };
    return orders[round % (sizeof orders / sizeof *orders)][place];
}

/* 1 2 3 3 2 1 */
static int pass(trial *t, dlb_error *err)
{
    for (int i = 0; i < 2 * DLB_GATE_SIDES; i++) {
        int place = i < DLB_GATE_SIDES ? i : 2 * DLB_GATE_SIDES - 1 - i;
        dlb_gate_side side = side_at(t->round, place);
        dlb_serve_sample sample;
        int status = run_side(t, side, &sample, err);
        if (status < 0)
            return status;
        keep(t, side, &sample);
    }
    return 0;
}

static int measure_case(trial *t, dlb_error *err)
{
    dlb_gate_case *c = &t->gate->cases[t->kernel];
    for (int side = 0; side < DLB_GATE_SIDES; side++)
        t->numbers[side] = dlb_gate_program_find(&t->programs[side], c->name);
    int status =
        dlb_gate_program_calibrate(&t->programs[0], t->numbers[0], slice_s, &t->repeats, err);
    for (int side = 0; side < DLB_GATE_SIDES && status == 0; side++)
        status = warm_up(t, (dlb_gate_side)side, err);
    for (int i = 0; i < PASSES && status == 0; i++)
        status = pass(t, err);
    for (int side = 0; side < DLB_GATE_SIDES; side++)
        c->times[side][t->round] =
            t->counts[side] < SLICES_LEAST ? NAN : dlb_median(t->seconds[side], t->counts[side]);
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

static int measure_model(dlb_gate *g, int series, size_t round, const char *model, dlb_error *err)
{
    dlb_gate_program programs[DLB_GATE_SIDES];
    int status = start_all(g, model, DLB_GATE_SIDES, programs, err);
    if (status < 0)
        return status;
    for (size_t i = 0; i < g->count && status == 0; i++) {
        if (!g->cases[i].chosen || g->cases[i].model != model)
            continue;
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
    for (size_t round = 0; round < g->rounds && status == 0; round++)
        for (const char *const *model = g->options.models; *model && status == 0; model++)
            if (has_chosen(g, *model))
                status = measure_model(g, series, round, *model, err);
    return status;
}

static dlb_judgement judge(const dlb_gate *g, const dlb_gate_case *c)
{
    dlb_judgement_times times = {g->rounds, c->times[DLB_GATE_BEFORE], c->times[DLB_GATE_AFTER],
                                 c->times[DLB_GATE_CONTROL]};
    return dlb_judgement_of(&g->options.rule, &times);
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
