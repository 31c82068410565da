#include <math.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/bench_kernels.h"
#include "cli/bench_roofline.h"
#include "cli/bench_row.h"
#include "cli/bench_table.h"

/* ---- Rates ---- */

static dlb_spread spread_of(const dlb_kernel_result *r, const double *values)
{
    return dlb_spread_of(values, (size_t)r->rounds);
}

static dlb_spread reference_spread(const dlb_kernel_result *r, dlb_reference which)
{
    return spread_of(r, r->reference_s[which]);
}

double dlb_kernel_peak_gflops(const dlb_kernel_result *r)
{
    return 1e-9 * dlb_reference_cost(r->references, DLB_REFERENCE_PEAK).flops /
           reference_spread(r, DLB_REFERENCE_PEAK).median;
}

double dlb_kernel_triad_gbs(const dlb_kernel_result *r)
{
    return 1e-9 * dlb_reference_cost(r->references, DLB_REFERENCE_TRIAD).bytes /
           reference_spread(r, DLB_REFERENCE_TRIAD).median;
}

double dlb_kernel_row_gflops(const dlb_kernel_result *r, const dlb_kernel_row *row)
{
    return 1e-9 * row->cost.flops / spread_of(r, row->own_s).median;
}

/* Of scale × above / below, each within a round. */
static dlb_spread ratio_of(const dlb_kernel_result *r, double scale, const double *above,
                           const double *below)
{
    double *ratios = dlb_alloc((size_t)r->rounds, sizeof *ratios);
    for (int i = 0; i < r->rounds; i++)
        ratios[i] = scale * above[i] / below[i];
    dlb_spread spread = spread_of(r, ratios);
    free(ratios);
    return spread;
}

/* ---- The table ---- */

static void add_formatted(dlb_bench_table *table, const char *format, double number)
{
    char text[32];
    snprintf(text, sizeof text, format, number);
    dlb_bench_table_add(table, isnan(number) ? "–" : text);
}

static dlb_spread scaled(dlb_spread s, double factor)
{
    return (dlb_spread){s.count,           s.min * factor,   s.lower * factor,
                        s.median * factor, s.upper * factor, s.max * factor};
}

static void add_kernel(const dlb_kernel_row *row, dlb_bench_table *table)
{
    char text[64];
    snprintf(text, sizeof text, "(%s)", row->kernel);
    dlb_bench_table_add(table, row->alternative ? text : row->kernel);
}

static void add_row(const dlb_kernel_result *r, const dlb_kernel_row *row, dlb_bench_table *table)
{
    dlb_spread time = scaled(spread_of(r, row->own_s), 1.0 / row->images);
    double gemm_flops = dlb_reference_cost(r->references, DLB_REFERENCE_GEMM).flops;
    dlb_spread to_gemm =
        ratio_of(r, row->cost.flops / gemm_flops, r->reference_s[DLB_REFERENCE_GEMM], row->own_s);
    dlb_spread to_blas = ratio_of(r, 1, row->blas_s, row->own_s);
    dlb_bench_table_add(table, row->name);
    add_kernel(row, table);
    dlb_bench_table_add_time(table, &time);
    add_formatted(table, "%.1f", dlb_kernel_row_gflops(r, row));
    dlb_bench_table_add(table, dlb_bench_ratio(to_gemm.median).text);
    dlb_bench_table_add_ratio(table, &to_blas);
    add_formatted(table, "%.0f %%", 100 * row->nonzero);
}

static void print_references(const dlb_kernel_result *r)
{
    dlb_spread gemm = reference_spread(r, DLB_REFERENCE_GEMM);
    double flops = dlb_reference_cost(r->references, DLB_REFERENCE_GEMM).flops;
    printf("\n  %s of OpenBLAS %.1f GFLOP/s (%.1f…%.1f), FMA peak of a core %.1f GFLOP/s, "
           "triad %.1f GB/s: of the same rounds\n",
           dlb_reference_name(r->references, DLB_REFERENCE_GEMM), 1e-9 * flops / gemm.median,
           1e-9 * flops / gemm.upper, 1e-9 * flops / gemm.lower, dlb_kernel_peak_gflops(r),
           dlb_kernel_triad_gbs(r));
}

static bool has_evaluation(const dlb_kernel_plan *p)
{
    for (size_t i = 0; i < p->row_count; i++)
        if (p->rows[i].evaluation)
            return true;
    return false;
}

static bool has_alternative(const dlb_kernel_plan *p)
{
    bool found = false;
    for (size_t i = 0; i < p->row_count; i++)
        found |= p->rows[i].alternative;
    return found;
}

void dlb_kernel_print(const dlb_kernel_result *r)
{
    static const char *const titles[] = {"operation", "kernel", "an image",  "quartiles", "GFLOP/s",
                                         "of sgemm",  "× blas", "quartiles", "non-zero"};
    enum { COLUMNS = sizeof titles / sizeof *titles };
    const dlb_kernel_plan *p = r->plan;
    dlb_bench_table table;
    dlb_bench_table_init(&table, COLUMNS, true);
    for (int i = 0; i < COLUMNS; i++)
        dlb_bench_table_add(&table, titles[i]);
    for (size_t i = 0; i < p->row_count; i++)
        add_row(r, &p->rows[i], &table);
    printf("Kernels of %s: kernels = %s, isa = %s, batch = %d, 1 thread\n"
           "median of %d round%s and quartiles\n\n",
           p->model->name, dlk_family_name(p->kernels.family), dlk_isa_name(p->kernels.isa),
           p->batch, r->rounds, r->rounds == 1 ? "" : "s");
    dlb_bench_table_print(&table, stdout);
    dlb_bench_table_release(&table);
    print_references(r);
    if (has_alternative(p))
        printf("  (kernel): it could compute this, too, but the plan does not use it; "
               "(" DLB_KERNEL_PRODUCT "): only the product, by\n"
               "  OpenBLAS, of patches that lie there unfolded\n");
    if (has_evaluation(p))
        printf("  evaluation: many images at once, without turning them into lanes and back and "
               "preparing weights\n");
    printf("  GFLOP/s: as if dense, nothing skipped; of sgemm: that rate by sgemm's in the same "
           "round\n"
           "  × blas: how many times as fast as im2col and OpenBLAS, layer by layer, in the same "
           "round\n"
           "  non-zero: of the inputs, backward of the gradients that reach the product\n\n");
}

/* ---- Raw measurements ---- */

static const char header[] =
    "model,isa,batch,side,operation,kernel,round,time_s,flops,bytes,gflops,host";

typedef struct series {
    const char *side; /* chosen, alternative, blas or reference */
    dlk_isa isa;
    const char *operation, *kernel;
    dlk_cost cost;
    const double *times;
} series;

int dlb_kernel_csv_check(const char *path, dlb_error *err)
{
    return dlb_csv_check(path, header, err);
}

static int save_round(const dlb_kernel_result *r, const series *s, int round, const char *path,
                      dlb_error *err)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    double time = s->times[round];
    dlb_bench_row row = {0};
    dlb_bench_row_text(&row, r->plan->model->name);
    dlb_bench_row_text(&row, dlk_isa_name(s->isa));
    dlb_bench_row_number(&row, r->plan->batch);
    dlb_bench_row_text(&row, s->side);
    dlb_bench_row_text(&row, s->operation);
    dlb_bench_row_text(&row, s->kernel);
    dlb_bench_row_number(&row, round + 1);
    dlb_bench_row_number(&row, time);
    dlb_bench_row_number(&row, s->cost.flops);
    dlb_bench_row_number(&row, s->cost.bytes);
    dlb_bench_row_number(&row, 1e-9 * s->cost.flops / time);
    dlb_bench_row_text(&row, host);
    return dlb_bench_row_append(&row, path, header, err);
}

static int save(const dlb_kernel_result *r, series s, const char *path, dlb_error *err)
{
    int status = 0;
    for (int round = 0; round < r->rounds && status == 0; round++)
        status = save_round(r, &s, round, path, err);
    return status;
}

static int save_reference(const dlb_kernel_result *r, dlb_reference which, const char *path,
                          dlb_error *err)
{
    series s = {.side = "reference",
                .isa = r->plan->blas_kernels.isa,
                .operation = dlb_reference_name(r->references, which),
                .kernel = "",
                .cost = dlb_reference_cost(r->references, which),
                .times = r->reference_s[which]};
    return save(r, s, path, err);
}

static int save_row(const dlb_kernel_result *r, const dlb_kernel_row *row, const char *path,
                    dlb_error *err)
{
    series s = {.side = row->alternative ? "alternative" : "chosen",
                .isa = r->plan->kernels.isa,
                .operation = row->name,
                .kernel = row->kernel,
                .cost = row->cost,
                .times = row->own_s};
    int status = save(r, s, path, err);
    if (status < 0 || !row->blas.run)
        return status;
    s.side = s.kernel = "blas";
    s.isa = r->plan->blas_kernels.isa;
    s.times = row->blas_s;
    return save(r, s, path, err);
}

int dlb_kernel_csv_save(const dlb_kernel_result *r, const char *path, dlb_error *err)
{
    int status = 0;
    for (int which = 0; which < DLB_REFERENCES && status == 0; which++)
        status = save_reference(r, (dlb_reference)which, path, err);
    for (size_t i = 0; i < r->plan->row_count && status == 0; i++)
        status = save_row(r, &r->plan->rows[i], path, err);
    return status;
}

/* ---- A picture ---- */

static dlb_roofline_mark mark_of(const dlb_kernel_result *r, const dlb_kernel_row *row)
{
    double gflops = dlb_kernel_row_gflops(r, row);
    return (dlb_roofline_mark){row->name, row->cost.flops / gflops,
                               row->cost.flops / row->cost.bytes, gflops};
}

int dlb_kernel_draw_roofline(const dlb_kernel_result *r, const char *path, dlb_error *err)
{
    const dlb_kernel_plan *p = r->plan;
    dlb_roofline_mark *marks = dlb_alloc(p->row_count, sizeof *marks);
    dlb_roofline roofline = {.rounds = r->rounds,
                             .peak = dlb_kernel_peak_gflops(r),
                             .bandwidth = dlb_kernel_triad_gbs(r),
                             .marks = marks};
    for (size_t i = 0; i < p->row_count; i++)
        if (!p->rows[i].alternative && !p->rows[i].evaluation)
            marks[roofline.count++] = mark_of(r, &p->rows[i]);
    dlb_str title = DLB_STR_INIT;
    dlb_str_addf(&title, "Kernels of %s on one core, %s, %s, batch %d", p->model->name,
                 dlk_family_name(p->kernels.family), dlk_isa_name(p->kernels.isa), p->batch);
    roofline.title = title.text;
    int status = dlb_roofline_draw(&roofline, path, err);
    dlb_str_release(&title);
    free(marks);
    return status;
}
