#include "cli/gate_instructions.h"

#include <string.h>

#include "base/file.h"
#include "cli/bench_training.h"
#include "cli/stop.h"
#include "dlk/dispatch.h"
#include "measure/counters.h"

#define EVENT "PAPI_TOT_INS"

/* Under valgrind. So many images fill the widest lanes; a step of training changes what is zero. */
#define IMAGES "16"
#define STEPS  "1"

enum { SIDES = DLB_GATE_CONTROL, DUMP_LIMIT = 1 << 24, PATH_SIZE = PATH_MAX + 32 };

int dlb_gate_counter_find(dlb_gate_counter *counter, dlb_error *err)
{
    const char *note;
    dlb_error reason;
    *counter = (dlb_gate_counter){0};
    if (dlb_counters_probe(EVENT, &note, &reason) == 0 ||
        dlb_file_on_path("valgrind", counter->valgrind, sizeof counter->valgrind))
        return 0;
    return dlb_fail(err, DLB_BAD_INPUT,
                    "--instructions: nobody counts them here: there is no valgrind (apt-get "
                    "install valgrind), and no hardware counter (%s)",
                    reason.message);
}

/* ---- What is counted ---- */

static bool by_valgrind(const dlb_gate_counter *counter)
{
    return counter->valgrind[0] != '\0';
}

static const char *timed_isa(const dlb_gate_options *o)
{
    return o->isa && strcmp(o->isa, "auto") != 0 ? o->isa : dlk_isa_name(dlk_isa_best());
}

/* The one that valgrind knows and that is closest to what is timed. */
static const char *counted_isa(const dlb_gate_options *o)
{
    const char *timed = timed_isa(o);
    return strcmp(timed, dlk_isa_name(DLK_ISA_AVX512)) == 0 ? dlk_isa_name(DLK_ISA_AVX2) : timed;
}

static void introduce(dlb_gate *g, const dlb_gate_counter *counter)
{
    const char *timed = timed_isa(&g->options), *counted = counted_isa(&g->options);
    dlb_str_add(&g->witness, "Instructions: how many more a call executes, counted by ");
    if (!by_valgrind(counter)) {
        dlb_str_addf(&g->witness, "hardware (" EVENT ", %s).", timed);
        return;
    }
    dlb_str_addf(&g->witness, "valgrind's callgrind of kernels for %s with " IMAGES " images",
                 counted);
    if (counted != timed)
        dlb_str_addf(&g->witness, "; it does not know %s, which was timed", timed);
    dlb_str_add(&g->witness, ".");
}

/* ---- Programs ---- */

/* One of the two programs, with a model. */
typedef struct counted {
    const dlb_gate_counter *counter;
    dlb_gate_side side;
    dlb_gate_program program;
    char output[PATH_SIZE]; /* of callgrind; a dump has a number after it */
    int dumps;
    bool lost; /* nothing more is to be expected of it */
} counted;

static int start(const dlb_gate_options *o, const char *model, counted *c, dlb_error *err)
{
    char output[PATH_SIZE + 32], log[PATH_SIZE + 32];
    dlb_gate_words words = {0};
    snprintf(output, sizeof output, "--callgrind-out-file=%s", c->output);
    snprintf(log, sizeof log, "--log-file=%s.log", c->output);
    const char *const valgrind[] = {c->counter->valgrind,
                                    "--command-line-only=yes",
                                    "--tool=callgrind",
                                    "--vgdb=no",
                                    log,
                                    output,
                                    "--collect-atstart=no",
                                    "--toggle-collect=" DLB_SERVE_CALLS,
                                    "--dump-after=" DLB_SERVE_CALLS};
    bool slow = by_valgrind(c->counter);
    for (size_t i = 0; slow && i < sizeof valgrind / sizeof *valgrind; i++)
        dlb_gate_words_add(&words, valgrind[i]);
    dlb_gate_add_request(o, c->side, model, &words);
    dlb_gate_words_add_flag(&words, "--isa", slow ? counted_isa(o) : o->isa);
    dlb_gate_words_add_flag(&words, "--batch", slow ? IMAGES : NULL);
    dlb_gate_words_add_flag(&words, "--steps", slow ? STEPS : NULL);
    int status = dlb_gate_program_start(&c->program, words.words, err);
    c->program.path = c->side == DLB_GATE_AFTER ? o->after : o->before;
    return status;
}

/* The reason is said once for all of its kernels. A wish to stop is none. */
static int lose(dlb_gate *g, counted *c, const char *model, const dlb_error *reason)
{
    if (reason->code == DLB_STOPPED)
        return DLB_STOPPED;
    c->lost = true;
    dlb_str_addf(&g->witness, " Not counted of %s %s: %s.", model, dlb_gate_side_name(c->side),
                 reason->message);
    return 0;
}

/* ---- Kernels ---- */

static int read_dump(const char *path, long long *instructions, dlb_error *err)
{
    static const char mark[] = "\ntotals: ";
    dlb_str dump = DLB_STR_INIT;
    int status = dlb_file_read(path, DUMP_LIMIT, &dump, err);
    const char *totals = status == 0 ? strstr(dump.text, mark) : NULL;
    if (status == 0 && (!totals || sscanf(totals + strlen(mark), "%lld", instructions) != 1))
        status = dlb_fail(err, DLB_FAIL, "%s: callgrind has written no totals", path);
    dlb_str_release(&dump);
    return status;
}

/* Callgrind has written the dump when the answer comes. */
static int count_by_valgrind(counted *c, int number, long long *instructions, dlb_error *err)
{
    dlb_serve_sample sample;
    dlb_str path = DLB_STR_INIT;
    int status = dlb_gate_program_run(&c->program, number, 1, &sample, err);
    if (status < 0)
        return status;
    dlb_str_addf(&path, "%s.%d", c->output, ++c->dumps);
    if (dlb_file_exists(path.text))
        status = read_dump(path.text, instructions, err);
    else
        status = dlb_fail(err, DLB_FAIL,
                          "%s has no function " DLB_SERVE_CALLS
                          " that callgrind could find: it is older, or stripped of its symbols",
                          c->program.path);
    dlb_str_release(&path);
    return status;
}

/* One may be for more images, or another instruction set, only. */
static void tell_absent(dlb_gate *g, const counted *c, const dlb_gate_case *kernel)
{
    dlb_str_addf(&g->witness, " Not counted of %s %s: %s, which is not used there.", kernel->model,
                 dlb_gate_side_name(c->side), kernel->name);
}

static int count_case(dlb_gate *g, counted *c, dlb_gate_case *kernel, dlb_error *err)
{
    long long instructions = 0;
    if (c->lost)
        return 0;
    int number = dlb_gate_program_find(&c->program, kernel->name);
    if (number < 0) {
        tell_absent(g, c, kernel);
        return 0;
    }
    int status = by_valgrind(c->counter)
                     ? count_by_valgrind(c, number, &instructions, err)
                     : dlb_gate_program_count(&c->program, number, &instructions, err);
    if (status < 0)
        return lose(g, c, kernel->model, err);
    kernel->instructions[c->side] = (double)instructions;
    return 0;
}

static int count_cases(dlb_gate *g, const char *model, counted *programs, dlb_error *err)
{
    int status = 0;
    for (size_t i = 0; i < g->count && status == 0; i++) {
        if (g->cases[i].model != model)
            continue;
        dlb_bench_progress_show(g->options.progress, "counting instructions: %s %s", model,
                                g->cases[i].name);
        for (int side = 0; side < SIDES && status == 0; side++)
            status = count_case(g, &programs[side], &g->cases[i], err);
        if (status == 0 && dlb_stop_asked())
            status = dlb_fail(err, DLB_STOPPED, "stopped before all was measured");
    }
    return status;
}

/* Both get ready at the same time. */
static int count_in(dlb_gate *g, const dlb_gate_counter *counter, const char *model,
                    const char *folder, dlb_error *err)
{
    counted programs[SIDES] = {0};
    int status = 0;
    for (int side = 0; side < SIDES && status == 0; side++) {
        counted *c = &programs[side];
        c->counter = counter;
        c->side = (dlb_gate_side)side;
        snprintf(c->output, sizeof c->output, "%s/%s", folder, dlb_gate_side_name(c->side));
        if (start(&g->options, model, c, err) < 0)
            status = lose(g, c, model, err);
    }
    for (int side = 0; side < SIDES && status == 0; side++)
        if (!programs[side].lost && dlb_gate_program_greet(&programs[side].program, err) < 0)
            status = lose(g, &programs[side], model, err);
    if (status == 0)
        status = count_cases(g, model, programs, err);
    for (int side = 0; side < SIDES; side++)
        dlb_gate_program_stop(&programs[side].program);
    return status;
}

static int count_model(dlb_gate *g, const dlb_gate_counter *counter, const char *model,
                       dlb_error *err)
{
    char folder[PATH_MAX];
    dlb_bench_progress_show(g->options.progress, "counting instructions of %s", model);
    int status = dlb_bench_make_folder(folder, err);
    if (status < 0)
        return status;
    status = count_in(g, counter, model, folder, err);
    dlb_file_remove_tree(folder);
    return status;
}

int dlb_gate_count_instructions(dlb_gate *g, const dlb_gate_counter *counter, dlb_error *err)
{
    int status = 0;
    introduce(g, counter);
    for (const char *const *model = g->options.models; *model && status == 0; model++)
        if (dlb_gate_has_model(g, *model))
            status = count_model(g, counter, *model, err);
    return status;
}
