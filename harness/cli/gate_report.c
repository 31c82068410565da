#include "cli/gate_report.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/file.h"
#include "cli/bench_row.h"
#include "cli/bench_table.h"
#include "cli/gate_past.h"
#include "cli/terminal.h"
#include "config/utf8.h"
#include "report/wrap.h"

/* ---- Words ---- */

static dlb_text percent(double change)
{
    dlb_text text;
    snprintf(text.text, sizeof text.text, isnan(change) ? "–" : "%+.1f %%", 100 * change);
    return text;
}

static dlb_text interval(const dlb_judgement *v)
{
    dlb_text text;
    snprintf(text.text, sizeof text.text, isnan(v->low) ? "–" : "%+.1f…%+.1f", 100 * v->low,
             100 * v->high);
    return text;
}

static dlb_text resolution(const dlb_judgement *v)
{
    dlb_text text;
    snprintf(text.text, sizeof text.text, isnan(v->resolution) ? "–" : "%.1f %%",
             100 * v->resolution);
    return text;
}

static double median_time(const dlb_gate *g, const dlb_gate_case *c, dlb_gate_side side)
{
    return dlb_median(c->seconds[side], g->rounds);
}

/* What a call costs on a side; in a gate by references, in parts of the reference's time. */
static dlb_text cost_of(const dlb_gate *g, const dlb_gate_case *c, dlb_gate_side side)
{
    if (!g->options.by_reference)
        return dlb_bench_time(median_time(g, c, side));
    dlb_text text;
    double ratio =
        side == DLB_GATE_BEFORE ? dlb_gate_past_ratio(g, c) : dlb_gate_present_ratio(g, c);
    snprintf(text.text, sizeof text.text, isnan(ratio) ? "–" : "%.3g %s", ratio,
             g->roofs.names[c->reference]);
    return text;
}

static double disturbed_pct(const dlb_gate_case *c)
{
    return c->slices ? 100 * (double)c->disturbed / (double)c->slices : NAN;
}

static bool has_witness(const dlb_gate *g)
{
    return g->witness.length > 0;
}

static dlb_text instructions(const dlb_gate_case *c)
{
    return percent(c->instructions[DLB_GATE_AFTER] / c->instructions[DLB_GATE_BEFORE] - 1);
}

/* "3 slower, 1 faster, 20 same, 4 inconclusive" */
static void add_counts(const dlb_gate *g, dlb_str *text)
{
    static const dlb_judgement_kind order[DLB_JUDGEMENTS] = {
        DLB_JUDGED_SLOWER, DLB_JUDGED_FASTER, DLB_JUDGED_SAME, DLB_JUDGED_INCONCLUSIVE};
    for (int i = 0; i < DLB_JUDGEMENTS; i++)
        dlb_str_addf(text, "%s%zu %s", i ? ", " : "", dlb_gate_count(g, order[i]),
                     dlb_judgement_name(order[i]));
}

/* What is slower, but no reason to fail; nothing if there is none. */
static void add_allowed(const dlb_gate_report *r, dlb_str *text)
{
    size_t slower = dlb_gate_count(r->gate, DLB_JUDGED_SLOWER);
    if (slower && !dlb_gate_alarms(r->gate, r->allowed))
        dlb_str_addf(text, "\n%zu slower %s allowed (--allow %zu), no whole training step.", slower,
                     slower == 1 ? "kernel is" : "kernels are", r->allowed);
}

static const char *resolution_means(const dlb_gate *g)
{
    return g->options.by_reference
               ? "how far two processes of this program seem apart, or the references have moved "
                 "since then, whichever is more. Before, after: time by the reference's."
               : "how far two processes of the program before seem apart.";
}

static void add_rule(const dlb_gate *g, dlb_str *text)
{
    const dlb_judgement_rule *rule = &g->options.rule;
    dlb_str_addf(text,
                 "%zu rounds of new processes, interleaved on one core; intervals at %.2f %% each, "
                 "so that all %zu hold together at %.0f %%. Slower or faster: the whole interval "
                 "beyond %.1f %%, twice. Same: all of it, and the resolution, within. Resolution: "
                 "%s",
                 g->rounds, 100 * (1 - rule->chance / (double)rule->kernels), rule->kernels,
                 100 * (1 - rule->chance), 100 * rule->threshold, resolution_means(g));
    if (g->left_out)
        dlb_str_addf(text, " %zu kernels that only one of %s has are left out.", g->left_out,
                     g->options.by_reference ? "program and baseline" : "the programs");
}

/* ---- For people ---- */

static void add_case(const dlb_gate *g, const dlb_gate_case *c, dlb_bench_table *table)
{
    char name[160], disturbed[32];
    snprintf(name, sizeof name, "%s %s", c->model, c->name);
    snprintf(disturbed, sizeof disturbed, "%.0f %%", disturbed_pct(c));
    dlb_bench_table_add(table, name);
    dlb_bench_table_add(table, cost_of(g, c, DLB_GATE_BEFORE).text);
    dlb_bench_table_add(table, cost_of(g, c, DLB_GATE_AFTER).text);
    dlb_bench_table_add(table, percent(c->verdict.effect).text);
    dlb_bench_table_add(table, interval(&c->verdict).text);
    dlb_bench_table_add(table, resolution(&c->verdict).text);
    dlb_bench_table_add(table, disturbed);
    if (has_witness(g))
        dlb_bench_table_add(table, instructions(c).text);
    dlb_bench_table_add(table, dlb_judgement_name(c->verdict.kind));
}

/* Break the text into lines of at most `width` columns, each two blanks in. */
static void print_wrapped(const char *text, int width)
{
    while (*text) {
        size_t length = dlb_wrap_line(text, width);
        printf("  %.*s\n", (int)length, text);
        text += length + strspn(text + length, " ");
    }
}

static void print_table(const dlb_gate *g)
{
    static const char *const titles[] = {"kernel",    "before",       "after",
                                         "change",    "interval",     "resolution",
                                         "disturbed", "instructions", "verdict"};
    enum { COLUMNS = sizeof titles / sizeof *titles, INSTRUCTIONS = COLUMNS - 2 };
    dlb_bench_table table;
    dlb_bench_table_init(&table, has_witness(g) ? COLUMNS : COLUMNS - 1, true);
    for (int i = 0; i < COLUMNS; i++)
        if (i != INSTRUCTIONS || has_witness(g))
            dlb_bench_table_add(&table, titles[i]);
    for (size_t i = 0; i < g->count; i++)
        add_case(g, &g->cases[i], &table);
    dlb_bench_table_print(&table, stdout);
    dlb_bench_table_release(&table);
}

void dlb_gate_print(const dlb_gate_report *r)
{
    const dlb_gate *g = r->gate;
    const int width = dlb_terminal_width(stdout) - 2;
    dlb_str text = DLB_STR_INIT;
    printf("Kernels of %s (after) beside those of %s (before)\n\n", r->after, r->before);
    print_table(g);
    printf("\n");
    add_rule(g, &text);
    print_wrapped(text.text, width);
    if (has_witness(g))
        print_wrapped(g->witness.text, width);
    dlb_str_clear(&text);
    add_counts(g, &text);
    add_allowed(r, &text);
    printf("\n%s\n", text.text);
    dlb_str_release(&text);
}

/* ---- Names that are the paths of files ---- */

/* What stands for a byte that means something else; NULL: itself. */
typedef const char *escape_fn(char byte);

/* Control characters and what is not UTF-8 become "?". */
static void add_escaped(dlb_str *to, const char *text, escape_fn *escape)
{
    uint32_t code;
    for (size_t length; *text; text += length ? length : 1) {
        const char *escaped = escape(*text);
        length = dlb_utf8_next(text, strlen(text), &code);
        if (escaped)
            dlb_str_add(to, escaped);
        else if (length == 0 || code < 0x20 || code == 0x7f)
            dlb_str_add(to, "?");
        else
            dlb_str_add_bytes(to, text, length);
    }
}

/* ---- For pull requests ---- */

static const char *markdown_for(char byte)
{
    return byte == '|' ? "\\|" : NULL;
}

static void add_line(const dlb_gate *g, const dlb_gate_case *c, dlb_str *text)
{
    const char *mark = c->verdict.kind == DLB_JUDGED_SAME ? "" : "**";
    dlb_str_add(text, "| ");
    add_escaped(text, c->model, markdown_for);
    dlb_str_addf(text, " %s | %s | %s | %s | %s | %s |", c->name,
                 cost_of(g, c, DLB_GATE_BEFORE).text, cost_of(g, c, DLB_GATE_AFTER).text,
                 percent(c->verdict.effect).text, interval(&c->verdict).text,
                 resolution(&c->verdict).text);
    if (has_witness(g))
        dlb_str_addf(text, " %s |", instructions(c).text);
    dlb_str_addf(text, " %s%s%s |\n", mark, dlb_judgement_name(c->verdict.kind), mark);
}

int dlb_gate_save_markdown(const dlb_gate_report *r, const char *path, dlb_error *err)
{
    const dlb_gate *g = r->gate;
    dlb_str text = DLB_STR_INIT;
    dlb_str_add(&text, "### Kernel throughput: ");
    add_counts(g, &text);
    dlb_str_addf(&text, "\n\n`%s` (after) beside `%s` (before)\n\n", r->after, r->before);
    dlb_str_addf(&text,
                 "| kernel | before | after | change | interval | resolution |%s verdict |\n",
                 has_witness(g) ? " instructions |" : "");
    dlb_str_addf(&text, "|---|--:|--:|--:|--:|--:|%s---|\n", has_witness(g) ? "--:|" : "");
    for (size_t i = 0; i < g->count; i++)
        add_line(g, &g->cases[i], &text);
    dlb_str_add(&text, "\n");
    add_rule(g, &text);
    add_allowed(r, &text);
    dlb_str_add(&text, "\n");
    if (has_witness(g))
        dlb_str_addf(&text, "\n%s\n", g->witness.text);
    int status = dlb_file_write_atomic(path, text.text, text.length, err);
    dlb_str_release(&text);
    return status;
}

/* ---- For CI systems ---- */

static const char *xml_for(char byte)
{
    switch (byte) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    default:
        return NULL;
    }
}

static void add_testcase(const dlb_gate *g, const dlb_gate_case *c, bool alarm, dlb_str *xml)
{
    const dlb_judgement *v = &c->verdict;
    dlb_str_add(xml, "  <testcase classname=\"");
    add_escaped(xml, c->model, xml_for);
    dlb_str_add(xml, "\" name=\"");
    add_escaped(xml, c->name, xml_for);
    double seconds = median_time(g, c, DLB_GATE_AFTER);
    if (isnan(seconds))
        dlb_str_add(xml, "\">\n");
    else
        dlb_str_addf(xml, "\" time=\"%.9f\">\n", seconds);
    if (has_witness(g))
        dlb_str_addf(
            xml, "    <properties><property name=\"instructions\" value=\"%s\"/></properties>\n",
            instructions(c).text);
    if (v->kind == DLB_JUDGED_SLOWER || v->kind == DLB_JUDGED_INCONCLUSIVE)
        dlb_str_addf(xml, "    <%s message=\"%s: %s (%s), resolution %s\"/>\n",
                     v->kind == DLB_JUDGED_SLOWER && alarm ? "failure" : "skipped",
                     dlb_judgement_name(v->kind), percent(v->effect).text, interval(v).text,
                     resolution(v).text);
    dlb_str_add(xml, "  </testcase>\n");
}

int dlb_gate_save_junit(const dlb_gate_report *r, const char *path, dlb_error *err)
{
    const dlb_gate *g = r->gate;
    bool alarm = dlb_gate_alarms(g, r->allowed);
    size_t slower = dlb_gate_count(g, DLB_JUDGED_SLOWER);
    dlb_str xml = DLB_STR_INIT;
    dlb_str_addf(&xml,
                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"dlbench check\" "
                 "tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n",
                 g->count, alarm ? slower : 0,
                 dlb_gate_count(g, DLB_JUDGED_INCONCLUSIVE) + (alarm ? 0 : slower));
    for (size_t i = 0; i < g->count; i++)
        add_testcase(g, &g->cases[i], alarm, &xml);
    dlb_str_add(&xml, "</testsuite>\n");
    int status = dlb_file_write_atomic(path, xml.text, xml.length, err);
    dlb_str_release(&xml);
    return status;
}

/* ---- Raw slices ---- */

static const char header[] = "series,round,model,kernel,side,time_s,calls,switched,migrated";

int dlb_gate_csv_check(const char *path, dlb_error *err)
{
    return dlb_csv_check(path, header, err);
}

int dlb_gate_csv_save(const dlb_gate *g, const char *path, dlb_error *err)
{
    int status = 0;
    for (size_t i = 0; i < g->slice_count && status == 0; i++) {
        const dlb_gate_slice *s = &g->slices[i];
        const dlb_turn_slice *turn = &s->turn;
        dlb_bench_row row = {0};
        dlb_bench_row_number(&row, s->series);
        dlb_bench_row_number(&row, (double)s->round + 1);
        dlb_bench_row_text(&row, g->cases[s->kernel].model);
        dlb_bench_row_text(&row, g->cases[s->kernel].name);
        bool beside = g->options.by_reference && turn->side == DLB_GATE_BEFORE;
        dlb_bench_row_text(&row, beside ? g->roofs.names[g->cases[s->kernel].reference]
                                        : dlb_gate_side_name((dlb_gate_side)turn->side));
        dlb_bench_row_number(&row, turn->seconds);
        dlb_bench_row_number(&row, (double)turn->calls);
        dlb_bench_row_number(&row, turn->switched);
        dlb_bench_row_number(&row, turn->migrated);
        status = dlb_bench_row_append(&row, path, header, err);
    }
    return status;
}
