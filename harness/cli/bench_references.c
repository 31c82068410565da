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
    float *a, *b, *c;        /* of sgemm */
    float *to, *one, *other; /* of the triad */
    size_t at;               /* where its next call begins */
    float left;              /* of the peak, so that it is computed */
} hand;

struct dlb_references {
    dlb_references_options options;
    char gemm_name[32];
    size_t array; /* floats of a thread's arrays */
    hand *hands;  /* [threads] */
    dlk_team *team;
};

/* ---- Runs of one thread ---- */

static void run_gemm(const dlb_references *r, hand *h)
{
    int side = r->options.side;
    dlk_gemm(false, false, side, side, side, h->a, side, h->b, side, 0, h->c, side);
}

static void run_triad(const dlb_references *r, hand *h)
{
    size_t count = r->options.triad_floats;
    h->at = h->at + 2 * count <= r->array ? h->at + count : 0;
    float *restrict to = h->to + h->at;
    const float *restrict one = h->one + h->at, *restrict other = h->other + h->at;
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
    static void (*const runs[])(const dlb_references *, hand *) = {
        [DLB_REFERENCE_GEMM] = run_gemm,
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

void dlb_reference_run(dlb_references *r, dlb_reference which)
{
    job j = {r, which};
    if (r->team && r->options.threads > 1)
        dlk_parallel(r->team, r->options.threads, run_hand, &j);
    else
        run_hand(&j, 0, 0);
}

const char *dlb_reference_name(const dlb_references *r, dlb_reference which)
{
    static const char *const names[] = {[DLB_REFERENCE_TRIAD] = "triad",
                                        [DLB_REFERENCE_PEAK] = "FMA peak"};
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

static float *make_values(size_t count)
{
    float *values = dlb_alloc(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(i % 7) - 3;
    return values;
}

static hand make_hand(size_t matrix, size_t array)
{
    return (hand){.a = make_values(matrix),
                  .b = make_values(matrix),
                  .c = make_values(matrix),
                  .to = make_values(array),
                  .one = make_values(array),
                  .other = make_values(array)};
}

dlb_references *dlb_references_create(const dlb_references_options *options)
{
    dlb_references *r = dlb_alloc(1, sizeof *r);
    size_t side = (size_t)options->side, threads = (size_t)options->threads;
    size_t share = TRIAD_ARRAY / threads;
    *r = (dlb_references){.options = *options,
                          .array = share > options->triad_floats ? share : options->triad_floats,
                          .hands = dlb_alloc(threads, sizeof *r->hands)};
    snprintf(r->gemm_name, sizeof r->gemm_name, "sgemm %d³", options->side);
    for (size_t i = 0; i < threads; i++)
        r->hands[i] = make_hand(side * side, r->array);
    return r;
}

void dlb_references_free(dlb_references *r)
{
    if (!r)
        return;
    for (int i = 0; i < r->options.threads; i++) {
        const hand *h = &r->hands[i];
        free(h->other);
        free(h->one);
        free(h->to);
        free(h->c);
        free(h->b);
        free(h->a);
    }
    free(r->hands);
    free(r);
}
