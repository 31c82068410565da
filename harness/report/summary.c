/* The summary of a study for a terminal: counts, a table a grid, the best settings, causes. */
#include <math.h>
#include <stdint.h>

#include "base/mem.h"
#include "report/causes.h"
#include "report/figures.h"
#include "report/provenance.h"
#include "report/summary_contests.h"
#include "report/summary_rows.h"
#include "report/summary_sheet.h"
#include "stats/spread.h"

/* A table of more rows than MOST_ROWS shows the fastest and the slowest END_ROWS. */
enum { MOST_ROWS = 40, END_ROWS = 18 };

/* Settings whose accuracy is that close to the best count as reaching it. */
#define AS_ACCURATE 0.002

typedef struct summary {
    const dlb_points *points;
    int width;
    bool colour;
    enum dlb_measure time;
    size_t *bases;
    dlb_str *out;
} summary;

/* --- which rows are shown --- */

typedef struct ranked {
    size_t point;
    double time;
    double score; /* the less, the better; NaN if it has none */
} ranked;

typedef struct ranking {
    enum dlb_ranking by;
    ranked *items; /* the best first, those without a score last */
    size_t count;
} ranking;

static int compare_scores(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (isnan(x->score) || isnan(y->score))
        return isnan(x->score) - isnan(y->score);
    return (x->score > y->score) - (x->score < y->score);
}

static double score_of(const summary *s, enum dlb_ranking by, const ranked *at)
{
    if (by == DLB_RANK_RATE)
        return -dlb_point_value(s->points, at->point, DLB_MEASURE_images_per_s);
    if (by == DLB_RANK_ACCURACY)
        return -dlb_point_value(s->points, at->point, DLB_MEASURE_test_accuracy);
    return at->time;
}

/* free() its items. What cannot be compared is by time all the same, for a long table. */
static ranking rank(const summary *s, const dlb_summary_group *group)
{
    ranking r = {dlb_summary_ranking(s->points, group), dlb_alloc(group->count, sizeof *r.items),
                 group->count};
    for (size_t i = 0; i < r.count; i++) {
        ranked *at = &r.items[i];
        at->point = group->points[i];
        at->time = dlb_point_value(s->points, at->point, s->time);
        at->score = score_of(s, r.by, at);
    }
    qsort(r.items, r.count, sizeof *r.items, compare_scores);
    return r;
}

/* Whether there is a best of several. */
static bool has_best(const ranking *r)
{
    return r->by != DLB_RANK_NOTHING && r->count > 1 && !isnan(r->items[0].score);
}

/* --- the table --- */

typedef struct columns {
    size_t first; /* of the parameters */
    size_t n, time, images, speedup, efficiency, accuracy, range, metrics, ends;
} columns;

/* Times of a table have one unit and so many decimals. */
typedef struct scale {
    double factor;
    const char *unit;
    int decimals;
} scale;

static scale scale_for(const ranking *r)
{
    double least = NAN;
    for (size_t i = 0; i < r->count; i++)
        least = fmin(least, r->items[i].time);
    scale fits = {1, "s", 2};
    if (least < 0.1)
        fits = (scale){1e3, "ms", 2};
    double shown = least * fits.factor;
    fits.decimals = shown >= 100 ? 1 : shown >= 1 || isnan(shown) ? 2 : 3;
    return fits;
}

static columns add_columns(dlb_sheet *sheet, const summary *s, const dlb_summary_group *group,
                           const scale *time)
{
    columns c = {.first = sheet->column_count};
    char title[48];
    for (size_t i = 0; i < group->parameter_count; i++) {
        const char *name = dlb_points_parameter(s->points, (size_t)group->parameters[i]);
        dlb_sheet_column_add(sheet, name, false, DLB_SHEET_NEEDED);
    }
    c.n = dlb_sheet_column_add(sheet, "n", false, 80);
    snprintf(title, sizeof title, "%s (%s)", s->time == DLB_MEASURE_wall_s ? "wall time" : "time",
             time->unit);
    c.time = dlb_sheet_column_add(sheet, title, false, DLB_SHEET_NEEDED);
    c.images = dlb_sheet_column_add(sheet, "images/s", false, 40);
    c.speedup = dlb_sheet_column_add(sheet, "speed-up", false, 70);
    c.efficiency = dlb_sheet_column_add(sheet, "efficiency", false, 50);
    c.accuracy = dlb_sheet_column_add(sheet, "test accuracy (%)", false, 60);
    c.range = dlb_sheet_column_add(sheet, "range", true, 35);
    c.metrics = sheet->column_count;
    for (size_t m = 0; m < dlb_points_metrics(s->points); m++)
        dlb_sheet_column_add(sheet, dlb_points_metric(s->points, m), false, 30);
    c.ends = dlb_sheet_column_add(sheet, "not ok", true, 90);
    return c;
}

/* The farther end of the interval, as ±. */
static double half_width(const dlb_interval *i)
{
    return fmax(i->high - i->value, i->value - i->low);
}

static void set_time(dlb_sheet *sheet, size_t column, const scale *unit, const dlb_interval *time)
{
    double value = time->value * unit->factor, half = half_width(time) * unit->factor;
    if (isnan(value))
        return;
    if (isnan(half))
        dlb_sheet_setf(sheet, column, "%.*f", unit->decimals, value);
    else
        dlb_sheet_setf(sheet, column, "%.*f ± %.*f", unit->decimals, value, unit->decimals, half);
}

static void set_speedup(dlb_sheet *sheet, const columns *c, const summary *s, size_t point)
{
    size_t base = s->bases[point];
    if (base == SIZE_MAX)
        return;
    dlb_interval ratio = dlb_point_speedup(s->points, point, base);
    if (isnan(ratio.value))
        return;
    double cores = dlb_point_cores(s->points, point) / dlb_point_cores(s->points, base);
    if (isnan(ratio.low) || point == base)
        dlb_sheet_setf(sheet, c->speedup, "%.2f", ratio.value);
    else
        dlb_sheet_setf(sheet, c->speedup, "%.2f ± %.2f", ratio.value, half_width(&ratio));
    dlb_sheet_setf(sheet, c->efficiency, "%.0f %%", 100 * ratio.value / cores);
}

static void set_accuracy(dlb_sheet *sheet, const columns *c, const dlb_points *points, size_t point)
{
    const double *values;
    size_t count = dlb_point_measure(points, point, DLB_MEASURE_test_accuracy, &values);
    dlb_spread spread = dlb_spread_of(values, count);
    if (spread.count > 0)
        dlb_sheet_setf(sheet, c->accuracy, "%.2f", 100 * spread.median);
    if (spread.count > 1)
        dlb_sheet_setf(sheet, c->range, "%.2f–%.2f", 100 * spread.min, 100 * spread.max);
}

static void set_ends(dlb_sheet *sheet, const columns *c, const dlb_summary_ends *ends)
{
    static const char *const names[] = {"ok", "failed", "timeout", "diverged"};
    size_t ok = ends->with[DLB_STATUS_OK];
    if (ok == ends->runs) {
        dlb_sheet_setf(sheet, c->n, "%zu", ok);
        return;
    }
    dlb_sheet_setf(sheet, c->n, "%zu/%zu", ok, ends->runs);
    dlb_str text = DLB_STR_INIT;
    for (int i = DLB_STATUS_FAILED; i <= DLB_STATUS_DIVERGED; i++)
        if (ends->with[i])
            dlb_str_addf(&text, "%s%zu %s", text.length ? ", " : "", ends->with[i], names[i]);
    dlb_sheet_set(sheet, c->ends, text.text);
    dlb_str_release(&text);
}

static void set_metrics(dlb_sheet *sheet, size_t column, const dlb_points *points, size_t point)
{
    for (size_t m = 0; m < dlb_points_metrics(points); m++) {
        const double *values;
        size_t count = dlb_point_metric(points, point, m, &values);
        double median = dlb_median(values, count);
        if (!isnan(median) && column + m < DLB_SHEET_COLUMNS)
            dlb_sheet_setf(sheet, column + m, "%.5g", median);
    }
}

static void add_row(dlb_sheet *sheet, const columns *c, const summary *s,
                    const dlb_summary_group *group, const scale *unit, size_t point)
{
    dlb_sheet_row_add(sheet);
    for (size_t i = 0; i < group->parameter_count; i++)
        dlb_sheet_set(sheet, c->first + i,
                      dlb_value_label(dlb_point_text(s->points, point, group->parameters[i])));
    dlb_summary_ends ends = dlb_summary_ends_of(s->points, point);
    set_ends(sheet, c, &ends);
    dlb_interval time = dlb_point_median(s->points, point, s->time, 1);
    set_time(sheet, c->time, unit, &time);
    double images = dlb_point_value(s->points, point, DLB_MEASURE_images_per_s);
    if (!isnan(images))
        dlb_sheet_setf(sheet, c->images, images < 100 ? "%.1f" : "%.0f", images);
    if (group->scales)
        set_speedup(sheet, c, s, point);
    set_accuracy(sheet, c, s->points, point);
    set_metrics(sheet, c->metrics, s->points, point);
}

static void add_gap(dlb_sheet *sheet, const ranking *r)
{
    static const char *const ends[] = {"the fastest and the slowest", "the fastest and the slowest",
                                       "the most and the least accurate",
                                       "the shortest and the longest"};
    char note[96];
    snprintf(note, sizeof note, "… %zu more between %s …", r->count - 2 * (size_t)END_ROWS,
             ends[r->by]);
    dlb_sheet_note_add(sheet, note);
}

static void add_rows(dlb_sheet *sheet, const columns *c, const summary *s,
                     const dlb_summary_group *group, const scale *unit, const ranking *r)
{
    bool all = group->count <= MOST_ROWS;
    for (size_t i = 0; i < group->count; i++) {
        if (!all && i == END_ROWS) {
            add_gap(sheet, r);
            i = group->count - END_ROWS;
        }
        size_t point = all ? group->points[i] : r->items[i].point;
        add_row(sheet, c, s, group, unit, point);
        sheet->rows[sheet->row_count - 1].marked = has_best(r) && point == r->items[0].point;
    }
}

static void add_table(const summary *s, const dlb_summary_group *group, const ranking *r)
{
    dlb_sheet sheet = {0};
    scale unit = scale_for(r);
    columns c = add_columns(&sheet, s, group, &unit);
    add_rows(&sheet, &c, s, group, &unit, r);
    dlb_sheet_print(&sheet, s->width, s->colour, s->out);
    dlb_sheet_release(&sheet);
}

/* --- the best setting --- */

static double best_accuracy(const summary *s, const ranking *r)
{
    double best = NAN;
    for (size_t i = 0; i < r->count; i++)
        best = fmax(best, dlb_point_value(s->points, r->items[i].point, DLB_MEASURE_test_accuracy));
    return best;
}

/* The first that is as accurate as the best, or SIZE_MAX. */
static size_t first_accurate(const summary *s, const ranking *r, double best)
{
    for (size_t i = 0; i < r->count && !isnan(r->items[i].score); i++)
        if (dlb_point_value(s->points, r->items[i].point, DLB_MEASURE_test_accuracy) >=
            best - AS_ACCURATE)
            return i;
    return SIZE_MAX;
}

/* "ranks 2, threads 1 (6.48 s)", with what it is ranked by. */
static void add_ranked(const summary *s, const dlb_summary_group *group, const ranking *r,
                       const ranked *at, dlb_str *text)
{
    dlb_summary_setting(s->points, at->point, group->parameters, group->parameter_count, text);
    if (r->by == DLB_RANK_RATE)
        dlb_str_addf(text, -at->score < 100 ? " (%.1f images/s)" : " (%.0f images/s)", -at->score);
    else
        dlb_str_addf(text, at->time < 0.1 ? " (%.3g ms)" : " (%.4g s)",
                     at->time < 0.1 ? 1e3 * at->time : at->time);
}

/* How many others the interval of the best does not tell from it. */
static size_t count_as_good(const summary *s, const ranking *r)
{
    dlb_interval best =
        r->by == DLB_RANK_RATE
            ? dlb_point_median(s->points, r->items[0].point, DLB_MEASURE_images_per_s, -1)
            : dlb_point_median(s->points, r->items[0].point, s->time, 1);
    double worst = fmax(best.low, best.high);
    size_t others = 0;
    while (others + 1 < r->count && r->items[others + 1].score <= worst)
        others++;
    return others;
}

static void add_fastest(const summary *s, const dlb_summary_group *group, const ranking *r,
                        dlb_str *text)
{
    double best = best_accuracy(s, r);
    size_t accurate = first_accurate(s, r, best), as_good = count_as_good(s, r);
    const char *word = r->by == DLB_RANK_RATE ? "Most images a second" : "Fastest";
    dlb_str_addf(text, "%s: ", word);
    add_ranked(s, group, r, &r->items[0], text);
    if (as_good)
        dlb_str_addf(text, "; %zu other%s within its interval", as_good,
                     as_good > 1 ? "s are" : " is");
    if (accurate == 0)
        dlb_str_addf(text, "; it is within 0.2 %% of the best test accuracy, %.2f %%", 100 * best);
    dlb_str_add(text, ".");
    if (accurate == 0 || accurate == SIZE_MAX)
        return;
    dlb_str_addf(text, " %s within 0.2 %% of the best test accuracy, %.2f %%: ", word, 100 * best);
    add_ranked(s, group, r, &r->items[accurate], text);
    dlb_str_add(text, ".");
}

static void add_most_accurate(const summary *s, const dlb_summary_group *group, const ranking *r,
                              dlb_str *text)
{
    size_t others = 0;
    while (others + 1 < r->count && r->items[others + 1].score <= r->items[0].score + AS_ACCURATE)
        others++;
    dlb_str_addf(text, "Best test accuracy: %.2f %% with ", -100 * r->items[0].score);
    dlb_summary_setting(s->points, r->items[0].point, group->parameters, group->parameter_count,
                        text);
    if (others)
        dlb_str_addf(text, "; %zu other%s within 0.2 %% of it", others,
                     others > 1 ? "s are" : " is");
    dlb_str_addf(text, ". Times are of %s and are not ranked.",
                 group->scales ? "different work" : "virtual workers");
}

static void add_best(const summary *s, const dlb_summary_group *group, const ranking *r)
{
    dlb_str text = DLB_STR_INIT;
    if (!has_best(r))
        return;
    if (r->by == DLB_RANK_ACCURACY)
        add_most_accurate(s, group, r, &text);
    else
        add_fastest(s, group, r, &text);
    dlb_sheet_wrap(text.text, s->width, " ", " ", s->out);
    dlb_str_release(&text);
}

/* --- the whole --- */

static void add_counts(const summary *s)
{
    static const char *const words[] = {"ok", "failed", "timed out", "diverged"};
    size_t points = dlb_points_count(s->points), runs = dlb_points_runs(s->points);
    size_t with[DLB_STATUS_DIVERGED + 1] = {0};
    for (size_t p = 0; p < points; p++) {
        dlb_summary_ends ends = dlb_summary_ends_of(s->points, p);
        for (int i = 0; i <= DLB_STATUS_DIVERGED; i++)
            with[i] += ends.with[i];
    }
    dlb_str_addf(s->out, "%zu run%s of %zu point%s:", runs, runs == 1 ? "" : "s", points,
                 points == 1 ? "" : "s");
    bool any = false;
    for (int i = 0; i <= DLB_STATUS_DIVERGED; i++) {
        if (with[i] == 0 && i != DLB_STATUS_OK)
            continue;
        dlb_str_addf(s->out, "%s %zu %s", any ? "," : "", with[i], words[i]);
        any = true;
    }
    const char *const *hosts;
    if (dlb_points_hosts(s->points, &hosts) == 1)
        dlb_str_addf(s->out, "; host %s", hosts[0]);
    dlb_str_add(s->out, "\n");
    dlb_sheet_wrap(
        "Times are medians of n runs, ± the farther end of their 95 % interval; speed-ups "
        "are against the fewest cores, medians of the ratios within blocks.",
        s->width, "", "", s->out);
}

static void add_group(const summary *s, const dlb_summary_group *group)
{
    ranking r = rank(s, group);
    if (*group->grid)
        dlb_str_addf(s->out, "\n%sgrid %s%s\n", s->colour ? "\033[1m" : "", group->grid,
                     s->colour ? "\033[0m" : "");
    else
        dlb_str_add(s->out, "\n");
    add_table(s, group, &r);
    add_best(s, group, &r);
    free(r.items);
}

/* A line a sentence becomes a paragraph a sentence. */
static void add_sentences(const summary *s, const char *lines)
{
    if (*lines)
        dlb_str_add(s->out, "\n");
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        dlb_str sentence = DLB_STR_INIT;
        dlb_str_add_bytes(&sentence, lines, length);
        dlb_sheet_wrap(sentence.text, s->width, " • ", "   ", s->out);
        dlb_str_release(&sentence);
        lines += length + (lines[length] == '\n');
    }
}

static double cores_of_host(const dlb_report *report)
{
    dlb_provenance provenance;
    dlb_report_provenance(report, &provenance);
    double cores = dlb_provenance_cores(&provenance);
    dlb_provenance_release(&provenance);
    return cores;
}

void dlb_report_summary(const dlb_report *report, int width, bool colour, dlb_str *out)
{
    const dlb_points *points = report->points;
    summary s = {points, width, colour, dlb_time_measure(points), dlb_summary_bases(points), out};
    dlb_summary_groups groups;
    dlb_summary_groups_make(&groups, points);
    add_counts(&s);
    for (size_t i = 0; i < groups.count; i++)
        add_group(&s, &groups.items[i]);
    dlb_str sentences = DLB_STR_INIT;
    dlb_str_add(&sentences, "");
    dlb_summary_contests(points, &sentences);
    dlb_causes_add(points, cores_of_host(report), &sentences);
    add_sentences(&s, sentences.text);
    dlb_str_release(&sentences);
    dlb_summary_groups_release(&groups);
    free(s.bases);
}
