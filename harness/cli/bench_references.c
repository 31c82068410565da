#include "cli/bench_references.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "dlk/gemm.h"
#include "measure/peak.h"

/* Floats of each array of the triad, all threads together: beyond any cache. */
enum { TRIAD_ARRAY = 1 << 24 };

/* Rounds of the peak: some tens of microseconds. */
enum { PEAK_ROUNDS = 10000 };

/* What a thread works on. */
typedef struct hand {
    float *matrices[3]; /* of sgemm; NULL: not used yet */
    float *arrays[3];   /* of the triad, likewise */
    size_t at;          /* where its next call begins */
    float left;         /* of the peak, so that it is computed */
} hand;

struct dlb_references {
    dlb_references_options options;
    char gemm_name[32];
    size_t array; /* floats of a thread's arrays */
    hand *hands;  /* [threads] */
    dlk_team *team;
};

/* ---- Values ---- */

static float *make_values(size_t count)
{
    float *values = dlb_alloc(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(i % 7) - 3;
    return values;
}

static void provide_three(float *arrays[3], size_t count)
{
    for (int i = 0; i < 3 && !arrays[i]; i++)
        arrays[i] = make_values(count);
}

/* Made when they are first used: most of a process's memory is the triad's. */
static void provide(dlb_references *r, dlb_reference which)
{
    size_t matrix = (size_t)r->options.side * (size_t)r->options.side;
    for (int i = 0; i < r->options.threads; i++) {
        if (which == DLB_REFERENCE_GEMM)
            provide_three(r->hands[i].matrices, matrix);
        if (which == DLB_REFERENCE_TRIAD)
            provide_three(r->hands[i].arrays, r->array);
    }
}

/* ---- Runs of one thread ---- */

static void run_gemm(const dlb_references *r, hand *h)
{
    int side = r->options.side;
    dlk_gemm(false, false, side, side, side, h->matrices[0], side, h->matrices[1], side, 0,
             h->matrices[2], side);
}

static void run_triad(const dlb_references *r, hand *h)
{
    size_t count = r->options.triad_floats;
    h->at = h->at + 2 * count <= r->array ? h->at + count : 0;
    float *restrict to = h->arrays[0] + h->at;
    const float *restrict one = h->arrays[1] + h->at, *restrict other = h->arrays[2] + h->at;
    for (size_t i = 0; i < count; i++)
        to[i] = one[i] + 0.5F * other[i];
}

static void run_peak(const dlb_references *r, hand *h)
{
    h->left = dlb_peak_burst(r->options.isa, PEAK_ROUNDS);
}

/* ---- Calls ---- */

typedef struct job {
    dlb_references *references;
    dlb_reference which;
} job;

static void run_hand(void *arg, int task, int thread)
{
    static void (*const runs[])(const dlb_references *,
                                hand *) = {[DLB_REFERENCE_GEMM] = run_gemm,
                                           [DLB_REFERENCE_TRIAD] = run_triad,
                                           [DLB_REFERENCE_PEAK] = run_peak};
    const job *j = arg;
    (void)thread;
    runs[j->which](j->references, &j->references->hands[task]);
}

void dlb_references_use(dlb_references *r, dlk_team *team)
{
    r->team = team;
}

static void run(dlb_references *r, dlb_reference which)
{
    job j = {r, which};
    provide(r, which);
    if (r->team && r->options.threads > 1)
        dlk_parallel(r->team, r->options.threads, run_hand, &j);
    else
        run_hand(&j, 0, 0);
}

static void call_gemm(void *references)
{
    run(references, DLB_REFERENCE_GEMM);
}

static void call_triad(void *references)
{
    run(references, DLB_REFERENCE_TRIAD);
}

static void call_peak(void *references)
{
    run(references, DLB_REFERENCE_PEAK);
}

dlb_kernel_call dlb_reference_call(dlb_references *r, dlb_reference which)
{
    static void (*const calls[])(void *) = {[DLB_REFERENCE_GEMM] = call_gemm,
                                            [DLB_REFERENCE_TRIAD] = call_triad,
                                            [DLB_REFERENCE_PEAK] = call_peak};
    return (dlb_kernel_call){r, calls[which], NULL, 1};
}

const char *dlb_reference_name(const dlb_references *r, dlb_reference which)
{
    static const char *const names[] = {
        [DLB_REFERENCE_TRIAD] = "triad", [DLB_REFERENCE_PEAK] = "FMA peak"};
    return which == DLB_REFERENCE_GEMM ? r->gemm_name : names[which];
}

dlk_cost dlb_reference_cost(const dlb_references *r, dlb_reference which)
{
    double threads = r->options.threads, side = r->options.side;
    double floats = (double)r->options.triad_floats, word = sizeof(float);
    switch (which) {
    case DLB_REFERENCE_GEMM:
        return (dlk_cost){threads * 2 * side * side * side, threads * 3 * word * side * side};
    case DLB_REFERENCE_TRIAD:
        return (dlk_cost){threads * 2 * floats, threads * 3 * word * floats};
    default:
        return (dlk_cost){threads * dlb_peak_burst_flops(r->options.isa, PEAK_ROUNDS), NAN};
    }
}

/* ---- Life ---- */

dlb_references *dlb_references_create(const dlb_references_options *options)
{
    dlb_references *r = dlb_alloc(1, sizeof *r);
    size_t threads = (size_t)options->threads, share = TRIAD_ARRAY / threads;
    *r = (dlb_references){.options = *options,
                          .array = share > options->triad_floats ? share : options->triad_floats,
                          .hands = dlb_alloc(threads, sizeof *r->hands)};
    snprintf(r->gemm_name, sizeof r->gemm_name, "sgemm %d³", options->side);
    return r;
}

void dlb_references_free(dlb_references *r)
{
    if (!r)
        return;
    for (int i = 0; i < r->options.threads; i++)
        for (int k = 0; k < 3; k++) {
            free(r->hands[i].arrays[k]);
            free(r->hands[i].matrices[k]);
        }
    free(r->hands);
    free(r);
}
