#include "cli/bench_suite_report.h"

#include <math.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/bench_row.h"
#include "cli/bench_table.h"
#include "measure/host.h"
#include "record/json_text.h"
#include "record/provenance.h"
#include "stats/judgement.h"
#include "stats/spread.h"

/* ---- Numbers ---- */

static size_t rounds_of(const dlb_suite *s)
{
    return (size_t)s->options.rounds;
}

/* Of the median over the rounds; of too few of them no interval is sure. */
static dlb_interval interval_of(const dlb_suite *s, const double *values)
{
    const dlb_judgement_rule rule = {.chance = 0.05, .kernels = 1};
    dlb_interval interval = dlb_interval_median_sure(values, rounds_of(s), rule.chance);
    if (interval.count < dlb_judgement_needed(&rule))
        interval.low = interval.high = NAN;
    return interval;
}

static double rate_of(const dlb_suite *s, const dlb_suite_case *c)
{
    return 1e-9 * dlb_suite_work(c) / dlb_median(c->seconds, rounds_of(s));
}

static const char *unit_of(bool memory_bound)
{
    return memory_bound ? "GB/s" : "GFLOP/s";
}

/* Over the rounds. */
static dlb_spread reference_spread(const dlb_suite *s, const dlb_suite_kind *kind,
                                   dlb_reference which)
{
    double *rates = dlb_alloc(rounds_of(s), sizeof *rates);
    for (size_t round = 0; round < rounds_of(s); round++)
        rates[round] = dlb_roofs_rate(&kind->roofs[round], which);
    dlb_spread spread = dlb_spread_of(rates, rounds_of(s));
    free(rates);
    return spread;
}

/* ---- Tables ---- */

static void print_kind(const dlb_suite *s, const dlb_suite_kind *kind)
{
    const dlb_suite_options *o = &s->options;
    printf("%s: kernels = %s, isa = %s, %d thread%s\n\n", kind->model, kind->kernels, kind->isa,
           o->threads, o->threads == 1 ? "" : "s");
}

static void add_error(dlb_bench_table *table, const dlb_suite_case *c)
{
    char text[32];
    snprintf(text, sizeof text, isnan(c->error) ? "–" : "%.1e", c->error);
    dlb_bench_table_add(table, text);
}

static void list_case(const dlb_suite *s, const dlb_suite_case *c, dlb_bench_table *table)
{
    char text[64];
    const dlb_gate_about *a = &c->about;
    dlb_bench_table_add(table, c->name);
    dlb_bench_table_add(table, a->role);
    dlb_bench_table_add(table, a->kernel);
    snprintf(text, sizeof text, isnan(a->flops) ? "–" : "%.4g", 1e-6 * a->flops);
    dlb_bench_table_add(table, text);
    snprintf(text, sizeof text, isnan(a->bytes) ? "–" : "%.4g", 1e-6 * a->bytes);
    dlb_bench_table_add(table, text);
    dlb_bench_table_add(table, dlb_suite_beside(s, c));
    add_error(table, c);
}

typedef void add_case_fn(const dlb_suite *s, const dlb_suite_case *c, dlb_bench_table *table);

/* The cases of a kind, a row each. */
static void print_cases(const dlb_suite *s, size_t kind, const char *const *titles, size_t columns,
                        add_case_fn *add)
{
    dlb_bench_table table;
    dlb_bench_table_init(&table, columns, true);
    for (size_t i = 0; i < columns; i++)
        dlb_bench_table_add(&table, titles[i]);
    print_kind(s, &s->kinds[kind]);
    for (size_t i = 0; i < s->count; i++)
        if (s->cases[i].kind == kind)
            add(s, &s->cases[i], &table);
    dlb_bench_table_print(&table, stdout);
    dlb_bench_table_release(&table);
}

void dlb_suite_list(const dlb_suite *s)
{
    static const char *const titles[] = {"operation", "role",   "kernel", "MFLOP",
                                         "MB",        "beside", "error"};
    for (size_t kind = 0; kind < s->kind_count; kind++)
        if (dlb_suite_has_cases(s, kind)) {
            print_cases(s, kind, titles, sizeof titles / sizeof *titles, list_case);
            printf("\n");
        }
    printf("  %zu; MFLOP, MB: of a call, as if dense and every operand moved once; error: of loss "
           "and gradients of a step, from those of ref\n",
           s->count);
}

static void add_case(const dlb_suite *s, const dlb_suite_case *c, dlb_bench_table *table)
{
    char text[64];
    dlb_interval time = interval_of(s, c->seconds), ratio = interval_of(s, c->ratio);
    bool memory = dlb_suite_is_memory_bound(c);
    double rate = rate_of(s, c);
    dlb_bench_table_add(table, c->name);
    dlb_bench_table_add(table, c->about.kernel);
    dlb_bench_table_add_time_interval(table, &time);
    snprintf(text, sizeof text, "%.1f %s", rate, unit_of(memory));
    dlb_bench_table_add(table, isnan(rate) ? "–" : text);
    double share = rate / dlb_suite_roof(s, c);
    snprintf(text, sizeof text, "%.0f %%", 100 * share);
    dlb_bench_table_add(table, isnan(share) ? "–" : text);
    snprintf(text, sizeof text, "%s %s", dlb_bench_ratio(ratio.value).text,
             memory ? "triad" : "sgemm");
    dlb_bench_table_add(table, text);
    dlb_bench_table_add_interval(table, &ratio);
    snprintf(text, sizeof text, "%.0f %%", 100 * (double)c->disturbed / (double)c->slices);
    dlb_bench_table_add(table, c->slices ? text : "–");
}

static void print_rate(const dlb_suite *s, const dlb_suite_kind *kind, dlb_reference which)
{
    dlb_spread rate = reference_spread(s, kind, which);
    if (rate.count)
        printf("%s %.1f %s (%.1f…%.1f)", kind->roofs[0].names[which], rate.median,
               unit_of(which == DLB_REFERENCE_TRIAD), rate.min, rate.max);
    else
        printf("%s –", kind->roofs[0].names[which]);
}

/* What the frequency does shows in the peak. */
static void print_references(const dlb_suite *s, const dlb_suite_kind *kind)
{
    double first = dlb_roofs_rate(&kind->roofs[0], DLB_REFERENCE_PEAK);
    double last = dlb_roofs_rate(&kind->roofs[rounds_of(s) - 1], DLB_REFERENCE_PEAK);
    printf("\n  ");
    print_rate(s, kind, DLB_REFERENCE_PEAK);
    printf(", ");
    print_rate(s, kind, DLB_REFERENCE_GEMM);
    printf(", ");
    print_rate(s, kind, DLB_REFERENCE_TRIAD);
    if (isfinite(last / first))
        printf("; peak from first to last round %+.1f %%", 100 * (last / first - 1));
    printf("\n\n");
}

void dlb_suite_print(const dlb_suite *s)
{
    static const char *const titles[] = {"operation", "kernel",   "a call",   "interval", "rate",
                                         "of roof",   "× beside", "interval", "disturbed"};
    for (size_t kind = 0; kind < s->kind_count; kind++)
        if (dlb_suite_has_cases(s, kind)) {
            print_cases(s, kind, titles, sizeof titles / sizeof *titles, add_case);
            print_references(s, &s->kinds[kind]);
        }
    if (s->comm.count)
        dlb_suite_comm_print(&s->comm);
    if (s->comm_missing.length)
        printf("exchange of gradients: not measured: %s\n\n", s->comm_missing.text);
    printf(
        "  medians of %d rounds of new processes with 95 %% intervals; a call is a batch\n"
        "  rate: FLOPs as if dense, or bytes where memory bounds it; of roof: of the FMA peak, or "
        "of the triad's bandwidth\n"
        "  × beside: that rate by the one of sgemm, or of the triad, in slices between its own\n"
        "  disturbed: slices in which somebody else was given the CPU, or that ended on another "
        "one; they do not count\n\n",
        s->options.rounds);
}

size_t dlb_suite_print_wrong(const dlb_suite *s)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++) {
        const dlb_suite_case *c = &s->cases[i];
        if (!dlb_suite_is_wrong(c))
            continue;
        dlb_str line = DLB_STR_INIT;
        dlb_suite_add_reproduction(s, c, &line);
        printf("wrong: %s %s differs from ref by %.2e, more than %.0e; once more:\n  %s\n",
               s->kinds[c->kind].model, c->name, c->error, c->bound, line.text);
        dlb_str_release(&line);
        count++;
    }
    return count;
}

/* ---- Raw slices ---- */

static const char header[] = "round,at_s,model,kernels,isa,threads,operation,role,kernel,side,pass,"
                             "time_s,calls,images,flops,bytes,switched,migrated,host,commit";

int dlb_suite_csv_check(const char *path, dlb_error *err)
{
    return dlb_csv_check(path, header, err);
}

static const char *host_name(void)
{
    static char host[256];
    if (!host[0])
        gethostname(host, sizeof host - 1);
    return host;
}

static int save_slice(const dlb_suite *s, const dlb_suite_slice *slice, const char *path,
                      dlb_error *err)
{
    const dlb_suite_case *c = &s->cases[slice->subject];
    const dlb_suite_kind *kind = &s->kinds[c->kind];
    const dlb_turn_slice *turn = &slice->turn;
    bool own = turn->side == 0;
    const dlb_gate_about *about = own ? &c->about : &kind->roofs[0].about[c->reference];
    dlb_bench_row row = {0};
    dlb_bench_row_number(&row, (double)slice->round + 1);
    dlb_bench_row_number(&row, slice->at_s);
    dlb_bench_row_text(&row, kind->model);
    dlb_bench_row_text(&row, kind->kernels);
    dlb_bench_row_text(&row, kind->isa);
    dlb_bench_row_number(&row, s->options.threads);
    dlb_bench_row_text(&row, c->name);
    dlb_bench_row_text(&row, c->about.role);
    dlb_bench_row_text(&row, c->about.kernel);
    dlb_bench_row_text(&row, own ? "own" : dlb_suite_beside(s, c));
    dlb_bench_row_number(&row, turn->pass + 1);
    dlb_bench_row_number(&row, turn->seconds);
    dlb_bench_row_number(&row, (double)turn->calls);
    dlb_bench_row_number(&row, about->images);
    dlb_bench_row_number(&row, about->flops);
    dlb_bench_row_number(&row, about->bytes);
    dlb_bench_row_number(&row, turn->switched);
    dlb_bench_row_number(&row, turn->migrated);
    dlb_bench_row_text(&row, host_name());
    dlb_bench_row_text(&row, dlb_commit());
    return dlb_bench_row_append(&row, path, header, err);
}

int dlb_suite_csv_save(const dlb_suite *s, const char *path, dlb_error *err)
{
    int status = 0;
    for (size_t i = 0; i < s->slice_count && status == 0; i++)
        status = save_slice(s, &s->slices[i], path, err);
    return status;
}

/* ---- JSON ---- */

static json_t *number_or_null(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

static json_t *pack_interval(const dlb_interval *i)
{
    return json_pack("{s:o, s:o, s:o}", "median", number_or_null(i->value), "low",
                     number_or_null(i->low), "high", number_or_null(i->high));
}

static json_t *pack_case(const dlb_suite *s, const dlb_suite_case *c)
{
    dlb_interval time = interval_of(s, c->seconds), ratio = interval_of(s, c->ratio);
    bool memory = dlb_suite_is_memory_bound(c);
    double rate = rate_of(s, c);
    return json_pack(
        "{s:o, s:s, s:o, s:i, s:o, s:o, s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:I, s:I}", //
        "operation", dlb_json_text(c->name),                                           //
        "role", c->about.role,                                                         //
        "kernel", dlb_json_text(c->about.kernel),                                      //
        "images", c->about.images,                                                     //
        "flops", number_or_null(c->about.flops),                                       //
        "bytes", number_or_null(c->about.bytes),                                       //
        "bound_by", memory ? "memory" : "arithmetic",                                  //
        "time_s", pack_interval(&time),                                                //
        memory ? "gb_per_s" : "gflops", number_or_null(rate),                          //
        "share_of_roof", number_or_null(rate / dlb_suite_roof(s, c)),                  //
        "beside", dlb_suite_beside(s, c),                                              //
        "ratio", pack_interval(&ratio),                                                //
        "error", number_or_null(c->error),                                             //
        "slices", (json_int_t)c->slices,                                               //
        "disturbed", (json_int_t)c->disturbed);
}

static json_t *pack_reference(const dlb_suite *s, const dlb_suite_kind *kind, dlb_reference which)
{
    json_t *rates = json_array();
    for (size_t round = 0; round < rounds_of(s); round++)
        json_array_append_new(rates, number_or_null(dlb_roofs_rate(&kind->roofs[round], which)));
    return json_pack("{s:s, s:s, s:o}", "name", kind->roofs[0].names[which], "unit",
                     unit_of(which == DLB_REFERENCE_TRIAD), "rounds", rates);
}

static json_t *pack_kind(const dlb_suite *s, size_t index)
{
    const dlb_suite_kind *kind = &s->kinds[index];
    json_t *cases = json_array(), *references = json_array();
    for (int i = 0; i < DLB_REFERENCES; i++)
        json_array_append_new(references, pack_reference(s, kind, (dlb_reference)i));
    for (size_t i = 0; i < s->count; i++)
        if (s->cases[i].kind == index)
            json_array_append_new(cases, pack_case(s, &s->cases[i]));
    return json_pack("{s:o, s:s, s:s, s:o, s:o}", "model", dlb_json_text(kind->model), "kernels",
                     kind->kernels, "isa", kind->isa, "references", references, "cases", cases);
}

static json_t *pack_comm(const dlb_suite_comm *comm)
{
    json_t *sums = json_array();
    for (size_t i = 0; i < comm->count; i++) {
        const dlb_suite_sum *sum = &comm->sums[i];
        json_array_append_new(sums, json_pack("{s:s, s:i, s:o, s:o, s:o}", "way", sum->way, "ranks",
                                              comm->ranks, "bytes", number_or_null(sum->bytes),
                                              "time_s", pack_interval(&sum->time), "ratio_to_copy",
                                              pack_interval(&sum->ratio)));
    }
    return sums;
}

static json_t *text_or_null(const char *text)
{
    return text ? dlb_json_text(text) : json_null();
}

static json_t *pack(const dlb_suite *s)
{
    char date[DLB_DATE_SIZE];
    const dlb_suite_options *o = &s->options;
    dlb_host *host = dlb_alloc(1, sizeof *host);
    dlb_host_probe(host, "");
    dlb_date_now(date);
    json_t *kinds = json_array();
    for (size_t i = 0; i < s->kind_count; i++)
        if (dlb_suite_has_cases(s, i))
            json_array_append_new(kinds, pack_kind(s, i));
    json_t *root = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o}", "format",
        "dlbench-bench 1", "dlbench", dlb_version(), "commit", dlb_commit(), "date", date, "host",
        host->name, "cpu", dlb_host_cpu_name(host).text, "batch", text_or_null(o->batch), "data",
        text_or_null(o->data), "steps", text_or_null(o->steps), "threads", o->threads, "rounds",
        o->rounds, "results", kinds, "comm", pack_comm(&s->comm), "comm_missing",
        text_or_null(s->comm_missing.text));
    free(host);
    return root;
}

int dlb_suite_save_json(const dlb_suite *s, const char *path, dlb_error *err)
{
    json_t *root = pack(s);
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) : NULL;
    json_decref(root);
    if (!text)
        return dlb_fail(err, DLB_FAIL, "%s: no memory for the results", path);
    int status = dlb_file_write_atomic(path, text, strlen(text), err);
    free(text);
    return status;
}
