/* Two studies side by side: points, the whole, and what made the numbers. */
#include <math.h>
#include <stdint.h>

#include "base/mem.h"
#include "report/compare_match.h"
#include "report/figures.h"
#include "report/provenance.h"
#include "report/summary_rows.h"
#include "report/summary_sheet.h"
#include "stats/rank_test.h"
#include "stats/spread.h"

/* A table of more rows than MOST_ROWS shows the END_ROWS most extreme ones at either side. */
enum { MOST_ROWS = 40, END_ROWS = 18, MOST_NAMED = 5, VALUE_COLUMNS = 44 };

/* A point of both. */
typedef struct pair {
    size_t a, b;
    dlb_interval ratio; /* of the median times, b by a */
    double p;
    double accuracy; /* b less a; NaN if either is missing */
} pair;

typedef struct comparison {
    const dlb_report *a, *b;
    int width;
    bool colour;
    enum dlb_measure time;
    dlb_match match;
    pair *pairs; /* in the order of a's parameters */
    size_t count;
    int *parameters; /* of a, that tell the pairs apart */
    size_t parameter_count;
    dlb_str *out;
} comparison;

/* --- pairs --- */

static pair make_pair(const comparison *c, size_t a, size_t b)
{
    const double *a_times, *b_times;
    size_t a_count = dlb_point_measure(c->a->points, a, c->time, &a_times);
    size_t b_count = dlb_point_measure(c->b->points, b, c->time, &b_times);
    return (pair){a, b, dlb_interval_ratio(b_times, b_count, a_times, a_count),
                  dlb_mann_whitney(a_times, a_count, b_times, b_count).p,
                  dlb_point_value(c->b->points, b, DLB_MEASURE_test_accuracy) -
                      dlb_point_value(c->a->points, a, DLB_MEASURE_test_accuracy)};
}

static void make_pairs(comparison *c)
{
    const dlb_points *points = c->a->points;
    dlb_summary_groups groups;
    dlb_summary_groups_make(&groups, points);
    size_t *paired = dlb_alloc(c->match.pairs + 1, sizeof *paired);
    c->pairs = dlb_alloc(c->match.pairs + 1, sizeof *c->pairs);
    for (size_t g = 0; g < groups.count; g++) {
        for (size_t i = 0; i < groups.items[g].count; i++) {
            size_t a = groups.items[g].points[i];
            if (c->match.b_of[a] == SIZE_MAX)
                continue;
            paired[c->count] = a;
            c->pairs[c->count++] = make_pair(c, a, c->match.b_of[a]);
        }
    }
    c->parameters = dlb_alloc(dlb_points_parameters(points) + 1, sizeof *c->parameters);
    c->parameter_count = dlb_summary_parameters(points, paired, c->count, c->parameters);
    free(paired);
    dlb_summary_groups_release(&groups);
}

/* --- the table of points --- */

static bool is_clear(const dlb_interval *ratio)
{
    return ratio->high < 1 || ratio->low > 1;
}

static void set_median(dlb_sheet *sheet, size_t column, const dlb_points *points, size_t point,
                       enum dlb_measure time)
{
    double median = dlb_point_value(points, point, time);
    if (!isnan(median))
        dlb_sheet_setf(sheet, column, "%.4g", median);
}

/* With two decimals, and without a minus that these do not show. */
static double in_percent(double difference)
{
    double rounded = round(1e4 * difference) / 100;
    return rounded == 0 ? 0 : rounded;
}

static void add_row(dlb_sheet *sheet, const comparison *c, const pair *at)
{
    dlb_sheet_row_add(sheet);
    size_t column = 0;
    for (; column < c->parameter_count && column < DLB_SHEET_COLUMNS; column++)
        dlb_sheet_set(sheet, column,
                      dlb_value_label(dlb_point_text(c->a->points, at->a, c->parameters[column])));
    dlb_summary_ends a = dlb_summary_ends_of(c->a->points, at->a);
    dlb_summary_ends b = dlb_summary_ends_of(c->b->points, at->b);
    dlb_sheet_setf(sheet, column, "%zu, %zu", a.with[DLB_STATUS_OK], b.with[DLB_STATUS_OK]);
    set_median(sheet, column + 1, c->a->points, at->a, c->time);
    set_median(sheet, column + 2, c->b->points, at->b, c->time);
    if (!isnan(at->ratio.value))
        dlb_sheet_setf(sheet, column + 3, "%.3f", at->ratio.value);
    if (!isnan(at->ratio.low))
        dlb_sheet_setf(sheet, column + 4, "%.3f–%.3f", at->ratio.low, at->ratio.high);
    if (!isnan(at->p))
        dlb_sheet_setf(sheet, column + 5, at->p < 0.001 ? "<0.001" : "%.3f", at->p);
    if (!isnan(at->accuracy))
        dlb_sheet_setf(sheet, column + 6, "%+.2f", in_percent(at->accuracy));
    sheet->rows[sheet->row_count - 1].marked = is_clear(&at->ratio);
}

static void add_columns(dlb_sheet *sheet, const comparison *c)
{
    for (size_t i = 0; i < c->parameter_count && i + 7 < DLB_SHEET_COLUMNS; i++)
        dlb_sheet_column_add(sheet, dlb_points_parameter(c->a->points, (size_t)c->parameters[i]),
                             false, DLB_SHEET_NEEDED);
    dlb_sheet_column_add(sheet, "n", false, 30);
    dlb_sheet_column_add(sheet, "A (s)", false, 80);
    dlb_sheet_column_add(sheet, "B (s)", false, 80);
    dlb_sheet_column_add(sheet, "B/A", false, DLB_SHEET_NEEDED);
    dlb_sheet_column_add(sheet, "95 % interval", true, 90);
    dlb_sheet_column_add(sheet, "p", false, 60);
    dlb_sheet_column_add(sheet, "Δ acc. (%)", false, 50);
}

static int compare_ratios(const void *a, const void *b)
{
    double x = ((const pair *)a)->ratio.value, y = ((const pair *)b)->ratio.value;
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

static void add_table(comparison *c)
{
    dlb_sheet sheet = {0};
    if (c->parameter_count > DLB_SHEET_COLUMNS - 7)
        c->parameter_count = DLB_SHEET_COLUMNS - 7;
    add_columns(&sheet, c);
    bool all = c->count <= MOST_ROWS;
    if (!all)
        qsort(c->pairs, c->count, sizeof *c->pairs, compare_ratios);
    for (size_t i = 0; i < c->count; i++) {
        if (!all && i == END_ROWS) {
            char note[96];
            snprintf(note, sizeof note, "… %zu more between these …", c->count - 2 * END_ROWS);
            dlb_sheet_note_add(&sheet, note);
            i = c->count - END_ROWS;
        }
        add_row(&sheet, c, &c->pairs[i]);
    }
    dlb_str_add(c->out, "\n");
    dlb_sheet_print(&sheet, c->width, c->colour, c->out);
    dlb_sheet_release(&sheet);
}

/* --- the whole --- */

/* What the noise of single points adds to the interval of their mean, on the logarithmic scale. */
static double noise_of_mean(const comparison *c)
{
    double squares = 0, count = 0;
    for (size_t i = 0; i < c->count; i++) {
        double half = log(c->pairs[i].ratio.high / c->pairs[i].ratio.low) / 2;
        squares += isfinite(half) ? half * half : 0;
        count += !isnan(c->pairs[i].ratio.value);
    }
    return count > 0 ? sqrt(squares) / count : 0;
}

/* The geometric mean of the ratios: they differ between points, and each is uncertain itself. */
static dlb_interval mean_ratio(const comparison *c)
{
    double *logs = dlb_alloc(c->count + 1, sizeof *logs);
    for (size_t i = 0; i < c->count; i++)
        logs[i] = log(c->pairs[i].ratio.value);
    dlb_interval mean = dlb_interval_mean(logs, c->count);
    double noise = noise_of_mean(c);
    free(logs);
    return (dlb_interval){mean.count, exp(mean.value),
                          exp(mean.value - hypot(mean.value - mean.low, noise)),
                          exp(mean.value + hypot(mean.high - mean.value, noise))};
}

static void add_overall(const comparison *c)
{
    dlb_interval mean = mean_ratio(c);
    dlb_str text = DLB_STR_INIT;
    size_t clear[2] = {0};
    for (size_t i = 0; i < c->count; i++)
        if (is_clear(&c->pairs[i].ratio))
            clear[c->pairs[i].ratio.value > 1]++;
    if (mean.count == 0)
        dlb_str_add(&text, "No point has a time in both.");
    else if (mean.count > 1 && !is_clear(&mean))
        dlb_str_addf(&text, "Overall no difference is seen: time B/A %.3f (%.3f–%.3f).", mean.value,
                     mean.low, mean.high);
    else {
        bool b = mean.value < 1;
        double times = b ? 1 / mean.value : mean.value;
        dlb_str_addf(&text, "Overall %s is %.3f times as fast as %s", b ? "B" : "A", times,
                     b ? "A" : "B");
        if (mean.count > 1)
            dlb_str_addf(&text, " (%.3f–%.3f)", b ? 1 / mean.high : mean.low,
                         b ? 1 / mean.low : mean.high);
        dlb_str_add(&text, ".");
    }
    if (mean.count > 0)
        dlb_str_addf(&text,
                     " That is the geometric mean over %zu point%s with its 95 %% interval; B is "
                     "clearly faster at %zu, A at %zu.",
                     mean.count, mean.count == 1 ? "" : "s", clear[0], clear[1]);
    dlb_sheet_wrap(text.text, c->width, " ", " ", c->out);
    dlb_str_release(&text);
}

static void add_accuracy(const comparison *c)
{
    double *differences = dlb_alloc(c->count + 1, sizeof *differences);
    for (size_t i = 0; i < c->count; i++)
        differences[i] = in_percent(c->pairs[i].accuracy);
    dlb_spread spread = dlb_spread_of(differences, c->count);
    free(differences);
    if (spread.count == 0)
        return;
    dlb_str text = DLB_STR_INIT;
    dlb_str_addf(&text,
                 "Test accuracy, B less A: median %+.2f %%, from %+.2f to %+.2f %% over %zu "
                 "point%s.",
                 spread.median, spread.min, spread.max, spread.count, spread.count == 1 ? "" : "s");
    dlb_sheet_wrap(text.text, c->width, " ", " ", c->out);
    dlb_str_release(&text);
}

/* --- what is in one only --- */

static void add_lone(const comparison *c, const char *name, const dlb_points *points,
                     const bool *lone)
{
    size_t count = 0, all = dlb_points_count(points);
    size_t *items = dlb_alloc(all + 1, sizeof *items);
    int *parameters = dlb_alloc(dlb_points_parameters(points) + 1, sizeof *parameters);
    for (size_t p = 0; p < all; p++)
        items[p] = p;
    size_t parameter_count = dlb_summary_parameters(points, items, all, parameters);
    dlb_str text = DLB_STR_INIT;
    for (size_t p = 0; p < all; p++) {
        if (!lone[p] || count++ >= MOST_NAMED)
            continue;
        dlb_str_add(&text, count > 1 ? "; " : "");
        dlb_summary_setting(points, p, parameters, parameter_count, &text);
    }
    if (count) {
        dlb_str line = DLB_STR_INIT;
        dlb_str_addf(&line, "%zu point%s only in %s: %s%s.", count, count == 1 ? " is" : "s are",
                     name, text.text, count > MOST_NAMED ? "; …" : "");
        dlb_sheet_wrap(line.text, c->width, " ", " ", c->out);
        dlb_str_release(&line);
    }
    dlb_str_release(&text);
    free(parameters);
    free(items);
}

static void add_lones(const comparison *c)
{
    bool *lone = dlb_alloc(c->match.a_count + c->match.b_count + 1, sizeof *lone);
    for (size_t p = 0; p < c->match.a_count; p++)
        lone[p] = c->match.b_of[p] == SIZE_MAX;
    add_lone(c, "A", c->a->points, lone);
    for (size_t p = 0; p < c->match.b_count; p++)
        lone[p] = !c->match.taken[p];
    add_lone(c, "B", c->b->points, lone);
    free(lone);
}

/* --- what made the numbers --- */

static void set_value(dlb_sheet *sheet, size_t column, const char *text)
{
    dlb_sheet_setf(sheet, column, strlen(text) > VALUE_COLUMNS ? "%.*s…" : "%.*s", VALUE_COLUMNS,
                   text);
}

static void add_difference(dlb_sheet *sheet, const char *what, const char *a, const char *b)
{
    if (strcmp(a ? a : "", b ? b : "") == 0)
        return;
    dlb_sheet_row_add(sheet);
    dlb_sheet_set(sheet, 0, what);
    set_value(sheet, 1, a && *a ? a : "–");
    set_value(sheet, 2, b && *b ? b : "–");
}

static void add_facts(dlb_sheet *sheet, const dlb_provenance *a, const dlb_provenance *b)
{
    const dlb_fact *of_a = a->facts, *a_end = of_a + a->count;
    const dlb_fact *of_b = b->facts, *b_end = of_b + b->count;
    while (of_a < a_end || of_b < b_end) {
        int order = of_a == a_end ? 1 : of_b == b_end ? -1 : strcmp(of_a->path, of_b->path);
        add_difference(sheet, order <= 0 ? of_a->path : of_b->path, order <= 0 ? of_a->text : NULL,
                       order >= 0 ? of_b->text : NULL);
        of_a += order <= 0;
        of_b += order >= 0;
    }
}

/* Parameters that each study has one value of. */
static void add_settings(dlb_sheet *sheet, const dlb_points *a, const dlb_points *b)
{
    for (size_t p = 0; p < dlb_points_parameters(a); p++) {
        const char *name = dlb_points_parameter(a, p);
        int of_a = (int)p, of_b = dlb_points_find(b, name);
        if (of_b >= 0 && !dlb_points_varies(a, of_a) && !dlb_points_varies(b, of_b) &&
            dlb_points_count(a) && dlb_points_count(b))
            add_difference(sheet, name, dlb_point_text(a, 0, of_a), dlb_point_text(b, 0, of_b));
    }
}

static void add_joined(dlb_sheet *sheet, const char *what, const char *const *a, size_t a_count,
                       const char *const *b, size_t b_count)
{
    dlb_str of_a = DLB_STR_INIT, of_b = DLB_STR_INIT;
    for (size_t i = 0; i < a_count; i++)
        dlb_str_addf(&of_a, "%s%s", i ? " " : "", a[i]);
    for (size_t i = 0; i < b_count; i++)
        dlb_str_addf(&of_b, "%s%s", i ? " " : "", b[i]);
    add_difference(sheet, what, of_a.text, of_b.text);
    dlb_str_release(&of_b);
    dlb_str_release(&of_a);
}

/* What the rows themselves say, for a runs.csv that came alone. */
static void add_origins(dlb_sheet *sheet, const dlb_points *a, const dlb_points *b)
{
    const char *const *of_a, *const *of_b;
    size_t a_count = dlb_points_hosts(a, &of_a), b_count = dlb_points_hosts(b, &of_b);
    add_joined(sheet, "host", of_a, a_count, of_b, b_count);
    a_count = dlb_points_commits(a, &of_a);
    b_count = dlb_points_commits(b, &of_b);
    add_joined(sheet, "commit", of_a, a_count, of_b, b_count);
}

static void add_provenance(const comparison *c)
{
    dlb_provenance a, b;
    dlb_sheet sheet = {0};
    bool of_a = dlb_report_provenance(c->a, &a), of_b = dlb_report_provenance(c->b, &b);
    dlb_sheet_column_add(&sheet, "what differs", true, DLB_SHEET_NEEDED);
    dlb_sheet_column_add(&sheet, "A", true, DLB_SHEET_NEEDED);
    dlb_sheet_column_add(&sheet, "B", true, DLB_SHEET_NEEDED);
    add_settings(&sheet, c->a->points, c->b->points);
    if (of_a && of_b)
        add_facts(&sheet, &a, &b);
    else
        add_origins(&sheet, c->a->points, c->b->points);
    dlb_str_add(c->out, "\n");
    if (sheet.row_count == 0 && of_a && of_b)
        dlb_str_add(c->out, " Nothing differs in program, machine, libraries and environment.\n");
    dlb_sheet_print(&sheet, c->width, c->colour, c->out);
    if (!of_a || !of_b)
        dlb_str_addf(c->out, " %s host.json: what else differs is not known.\n",
                     of_a   ? "B has no"
                     : of_b ? "A has no"
                            : "Neither has a");
    dlb_sheet_release(&sheet);
    dlb_provenance_release(&b);
    dlb_provenance_release(&a);
}

/* --- both --- */

static void add_heading(const comparison *c, const char *name, const char *path,
                        const dlb_points *points)
{
    size_t runs = dlb_points_runs(points), count = dlb_points_count(points);
    dlb_str_addf(c->out, " %s  %s: %zu run%s of %zu point%s\n", name, path, runs,
                 runs == 1 ? "" : "s", count, count == 1 ? "" : "s");
}

static void compare(comparison *c, const char *a, const char *b)
{
    dlb_match_make(&c->match, c->a->points, c->b->points);
    make_pairs(c);
    add_heading(c, "A", a, c->a->points);
    add_heading(c, "B", b, c->b->points);
    if (c->count) {
        add_table(c);
        add_overall(c);
        add_accuracy(c);
    } else {
        dlb_str_add(c->out, "\n No point of A is in B.\n");
    }
    add_lones(c);
    add_provenance(c);
    free(c->parameters);
    free(c->pairs);
    dlb_match_release(&c->match);
}

/* Of both the same: what only one has cannot be compared. */
static enum dlb_measure time_of(const dlb_report *a, const dlb_report *b)
{
    enum dlb_measure time = dlb_time_measure(a->points);
    return dlb_time_measure(b->points) == time ? time : DLB_MEASURE_wall_s;
}

int dlb_report_compare(const char *a, const char *b, int width, bool colour, dlb_str *out,
                       dlb_error *err)
{
    dlb_report *of_a, *of_b;
    int status = dlb_report_read(&of_a, a, err);
    if (status < 0)
        return status;
    status = dlb_report_read(&of_b, b, err);
    if (status == 0) {
        comparison c = {.a = of_a, .b = of_b, .width = width, .colour = colour, .out = out};
        c.time = time_of(of_a, of_b);
        compare(&c, a, b);
        dlb_report_free(of_b);
    }
    dlb_report_free(of_a);
    return status;
}
