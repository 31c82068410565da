#include <math.h>

#include "base/mem.h"
#include "cli/bench_kernels.h"
#include "dlk/gemm.h"
#include "measure/peak.h"

/* Rows and columns of the matrices; floats of each array of the triad, beyond any cache. */
enum { SIDE = 1024, TRIAD_FLOATS = 1 << 24 };

static const struct {
    const char *name;
    dlk_cost cost;
} REFERENCES[] = {
    [DLB_KERNEL_GEMM] = {"sgemm 1024³",
                         {2.0 * SIDE * SIDE * SIDE, 3.0 * sizeof(float) * SIDE *SIDE}},
    [DLB_KERNEL_TRIAD] = {"triad", {2.0 * TRIAD_FLOATS, 3.0 * sizeof(float) * TRIAD_FLOATS}},
    [DLB_KERNEL_PEAK] = {"FMA peak", {NAN, NAN}},
};

struct dlb_kernel_references {
    dlk_isa isa;
    float *a, *b, *c;        /* of sgemm */
    float *to, *one, *other; /* of the triad */
    int peak_count;
    double *peaks; /* GFLOP/s: one of the check, then of each round */
};

/* ---- Ways ---- */

static void prepare_nothing(void *self)
{
    (void)self;
}

static int check_nothing(void *self, dlb_error *err)
{
    (void)self;
    (void)err;
    return 0;
}

static int run_gemm(void *self, dlb_error *err)
{
    dlb_kernel_references *r = self;
    (void)err;
    dlk_gemm(false, false, SIDE, SIDE, SIDE, r->a, SIDE, r->b, SIDE, 0, r->c, SIDE);
    return 0;
}

static int run_triad(void *self, dlb_error *err)
{
    const dlb_kernel_references *r = self;
    (void)err;
    float *restrict to = r->to;
    const float *restrict one = r->one, *restrict other = r->other;
    for (size_t i = 0; i < TRIAD_FLOATS; i++)
        to[i] = one[i] + 0.5F * other[i];
    return 0;
}

static int run_peak(void *self, dlb_error *err)
{
    dlb_kernel_references *r = self;
    (void)err;
    r->peaks[r->peak_count++] = dlb_peak_gflops(1, r->isa).number;
    return 0;
}

void dlb_kernel_references_ways(dlb_kernel_references *r, dlb_bench_way *ways)
{
    int (*const run[])(void *, dlb_error *) = {
        [DLB_KERNEL_GEMM] = run_gemm, [DLB_KERNEL_TRIAD] = run_triad, [DLB_KERNEL_PEAK] = run_peak};
    for (int i = 0; i < DLB_KERNEL_REFERENCES; i++)
        ways[i] = (dlb_bench_way){.name = REFERENCES[i].name,
                                  .self = r,
                                  .prepare = prepare_nothing,
                                  .run = run[i],
                                  .check = check_nothing};
}

/* ---- What they are ---- */

const char *dlb_kernel_reference_name(int reference)
{
    return REFERENCES[reference].name;
}

dlk_cost dlb_kernel_reference_cost(int reference)
{
    return REFERENCES[reference].cost;
}

const double *dlb_kernel_references_peak(const dlb_kernel_references *references)
{
    return references->peaks + 1;
}

/* ---- Life ---- */

static float *make_values(size_t count)
{
    float *values = dlb_alloc(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(i % 7) - 3;
    return values;
}

dlb_kernel_references *dlb_kernel_references_create(dlk_isa isa, int rounds)
{
    enum { MATRIX = SIDE * SIDE };
    dlb_kernel_references *r = dlb_alloc(1, sizeof *r);
    *r = (dlb_kernel_references){.isa = isa,
                                 .a = make_values(MATRIX),
                                 .b = make_values(MATRIX),
                                 .c = make_values(MATRIX),
                                 .to = make_values(TRIAD_FLOATS),
                                 .one = make_values(TRIAD_FLOATS),
                                 .other = make_values(TRIAD_FLOATS),
                                 .peaks = dlb_alloc((size_t)rounds + 1, sizeof(double))};
    return r;
}

void dlb_kernel_references_free(dlb_kernel_references *r)
{
    if (!r)
        return;
    free(r->peaks);
    free(r->other);
    free(r->one);
    free(r->to);
    free(r->c);
    free(r->b);
    free(r->a);
    free(r);
}
