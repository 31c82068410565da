/* The effect of a single parameter: on accuracy if it has a part in learning, else on the time. */
#include <math.h>
#include <stdint.h>

#include "base/mem.h"
#include "config/keys.h"
#include "report/figures.h"
#include "stats/spread.h"

enum { MOST_CATEGORIES = 16 };

/* What is drawn over the parameter. */
typedef struct effect {
    const dlb_points *points;
    const bool *in_scoreboard; /* of each point */
    const char *axis[3];       /* the parameter, or ranks and threads */
    size_t metric;             /* of a foreign program, or SIZE_MAX */
    enum dlb_measure measure;
    double scale;
    bool higher_is_better;               /* not known of a metric: lines are not chosen by it */
    const char *labels[MOST_CATEGORIES]; /* of categories, in their order */
    char *own_labels[MOST_CATEGORIES];   /* those of them that are not the points' */
    size_t label_count;
    bool categories;
    bool cut; /* there are more categories */
} effect;

static size_t values_of(const effect *e, size_t point, const double **values)
{
    return e->metric < SIZE_MAX ? dlb_point_metric(e->points, point, e->metric, values)
                                : dlb_point_measure(e->points, point, e->measure, values);
}

static dlb_interval median_of(const effect *e, size_t point)
{
    const double *values;
    size_t count = values_of(e, point, &values);
    return dlb_interval_scaled(dlb_interval_median(values, count), e->scale);
}

/* ---- places -------------------------------------------------------------------------------- */

static size_t find_label(const effect *e, const char *label)
{
    size_t i = 0;
    while (i < e->label_count && strcmp(e->labels[i], label) != 0)
        i++;
    return i;
}

static char *split_label(const effect *e, size_t point)
{
    dlb_str label = DLB_STR_INIT;
    dlb_str_addf(&label, "%g × %g", dlb_point_named(e->points, point, e->axis[0]),
                 dlb_point_named(e->points, point, e->axis[1]));
    return label.text;
}

/* The place of a point on the axis; NaN if it has none. New categories are added. */
static double place_of(effect *e, size_t point)
{
    int parameter = dlb_points_find(e->points, e->axis[0]);
    if (!e->categories)
        return dlb_point_number(e->points, point, parameter);
    char *made = e->axis[1] ? split_label(e, point) : NULL;
    const char *label = made ? made : dlb_value_label(dlb_point_text(e->points, point, parameter));
    size_t at = find_label(e, label);
    if (at == e->label_count && at < MOST_CATEGORIES) {
        e->own_labels[at] = made;
        e->labels[e->label_count++] = label;
    } else {
        free(made);
    }
    e->cut = e->cut || at == MOST_CATEGORIES;
    return at < MOST_CATEGORIES ? (double)at + 1 : NAN;
}

static void release_labels(effect *e)
{
    for (size_t i = 0; i < e->label_count; i++)
        free(e->own_labels[i]);
}

/* Numbers have an axis of their own, logarithmic if they span a factor of 8; others, categories. */
static enum dlb_axis_kind kind_of_axis(const effect *e)
{
    int parameter = dlb_points_find(e->points, e->axis[0]);
    double low = INFINITY, high = -INFINITY;
    for (size_t p = 0; p < dlb_points_count(e->points); p++) {
        double number = dlb_point_number(e->points, p, parameter);
        if (isnan(number))
            return DLB_AXIS_CATEGORIES;
        low = fmin(low, number);
        high = fmax(high, number);
    }
    if (e->axis[1])
        return DLB_AXIS_CATEGORIES;
    return low > 0 && high / low >= 8 ? DLB_AXIS_LOG2 : DLB_AXIS_LINEAR;
}

/* ---- lines --------------------------------------------------------------------------------- */

static double score_of(const effect *e, const dlb_series *series)
{
    double best = -INFINITY;
    for (size_t i = 0; i < series->count; i++) {
        const double *values;
        size_t count = values_of(e, series->points[i], &values);
        double value = dlb_median(values, count);
        if (!isnan(value))
            best = fmax(best, e->higher_is_better ? value : -value);
    }
    return best;
}

static void add_point(effect *e, dlb_lines *lines, size_t line, size_t point)
{
    double x = place_of(e, point);
    size_t lost = e->scale == 100 ? dlb_point_diverged(e->points, point) : 0;
    dlb_interval y = median_of(e, point);
    if (isnan(x) || (y.count == 0 && lost == 0))
        return;
    const double *values;
    size_t count = values_of(e, point, &values);
    dlb_lines_row(lines, (dlb_line_row){.line = line,
                                        .x = x,
                                        .y = y,
                                        .hollow = dlb_point_oversubscribed(e->points, point),
                                        .lost = lost});
    dlb_lines_dots(lines, 0, line, x, e->scale, values, count);
}

static void add_lines(effect *e, dlb_lines *lines, const dlb_series_list *list,
                      const size_t *chosen, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const dlb_series *series = &list->items[chosen[i]];
        dlb_str title = DLB_STR_INIT;
        dlb_series_title(list, e->points, chosen, count, chosen[i], &title);
        size_t line = dlb_lines_add(lines, title.text);
        for (size_t j = 0; j < series->count; j++)
            add_point(e, lines, line, series->points[j]);
    }
}

/* ---- figures ------------------------------------------------------------------------------- */

static void add_y_label(const effect *e, dlb_str *label)
{
    if (e->metric < SIZE_MAX)
        dlb_str_add(label, dlb_points_metric(e->points, e->metric));
    else if (e->scale == 100)
        dlb_str_add(label, "test accuracy (%)");
    else
        dlb_str_add(label,
                    e->measure == DLB_MEASURE_wall_s ? "wall time (s)" : "time to solution (s)");
}

static void add_x_label(const effect *e, dlb_str *label)
{
    if (e->axis[1])
        dlb_str_add(label, "ranks × threads");
    else
        dlb_parameter_label(e->axis[0], label);
    if (strcmp(e->axis[0], "kmp_blocktime") == 0)
        dlb_str_add(label, " (KMP_BLOCKTIME, ms)");
}

/* "Effect of size", and on what if there is more than one figure of it. */
static void add_title(const effect *e, const char *x, const char *y, dlb_str *title)
{
    dlb_str_addf(title, "Effect of %s", x);
    if (dlb_points_metrics(e->points) > 1)
        dlb_str_addf(title, " on %s", y);
}

static void add_caption(const effect *e, const dlb_shown *shown, const dlb_series_list *list,
                        dlb_str *caption)
{
    if (e->cut)
        dlb_str_addf(caption, "The first %d values are shown, and others are not. ",
                     MOST_CATEGORIES);
    if (e->metric < SIZE_MAX && dlb_points_more_metrics(e->points))
        dlb_str_addf(caption, "The first %d metrics have figures, and others do not. ",
                     DLB_MAX_METRICS);
    dlb_str_add(caption, "Median and 95 % interval; dots: single runs. ");
    dlb_caption_followers(caption, shown, list);
}

static void describe(const effect *e, const dlb_lines *lines, const dlb_series_list *list,
                     const size_t *chosen, size_t count, dlb_str *caption, dlb_figure *figure)
{
    size_t all;
    size_t *items = dlb_series_points(list, chosen, count, &all);
    dlb_shown shown = {e->points, items, all, dlb_lines_drawn(lines), "Hollow"};
    dlb_str title = DLB_STR_INIT, x = DLB_STR_INIT, y = DLB_STR_INIT;
    add_x_label(e, &x);
    add_y_label(e, &y);
    add_title(e, x.text, y.text, &title);
    add_caption(e, &shown, list, caption);
    dlb_figure_text(figure, "xlabel", x.text);
    dlb_figure_texts(figure, "ylabel", (const char *const[]){y.text}, 1);
    dlb_figure_describe(figure, title.text, caption, &shown);
    dlb_str_release(&y);
    dlb_str_release(&x);
    dlb_str_release(&title);
    free(items);
}

/* 0, 200 and infinite have an order; blas and ref have none. */
static bool is_ordered(const effect *e)
{
    for (size_t i = 0; i < e->label_count; i++)
        if (e->labels[i][0] >= '0' && e->labels[i][0] <= '9')
            return true;
    return false;
}

/* Whether a scoreboard tells all of it. */
static bool is_told(const effect *e, const dlb_series_list *list, const size_t *series,
                    size_t count)
{
    size_t all;
    size_t *items = dlb_series_points(list, series, count, &all);
    bool told = e->metric == SIZE_MAX && dlb_all_of(e->in_scoreboard, items, all);
    free(items);
    return told;
}

static bool is_confounded(const effect *e, const dlb_series_list *list)
{
    return !e->axis[1] && dlb_series_confounded(list, e->points);
}

/* What its figure is named after: the parameter and, if there are several, the metric. */
static void add_part(const effect *e, dlb_str *part)
{
    dlb_str_add(part, e->axis[1] ? "split" : e->axis[0]);
    if (e->metric < SIZE_MAX && dlb_points_metrics(e->points) > 1)
        dlb_str_addf(part, "_%s", dlb_points_metric(e->points, e->metric));
}

/* A figure, if it tells something. What varies along with its parameter is then shown, too. */
static void add_effect(effect *e, bool *shown, dlb_figures *figures)
{
    dlb_series_list list;
    dlb_series_make(&list, e->points, &(dlb_series_request){.axis = e->axis});
    size_t *several = dlb_alloc(list.count, sizeof *several), count = 0;
    double *scores = dlb_alloc(list.count, sizeof *scores);
    for (size_t i = 0; i < list.count; i++)
        if (list.items[i].count > 1) {
            scores[count] = score_of(e, &list.items[i]);
            several[count++] = i;
        }
    size_t chosen[DLB_FIGURE_MAX_LINES];
    dlb_str caption = DLB_STR_INIT;
    bool judged = e->metric == SIZE_MAX;
    size_t line_count = dlb_choose_lines(judged ? scores : NULL, count, chosen, &caption);
    for (size_t i = 0; i < line_count; i++)
        chosen[i] = several[chosen[i]];

    dlb_lines lines = {.panels = 1, .x = kind_of_axis(e), .apart = true};
    lines.y[0] = e->scale == 100 ? DLB_AXIS_PERCENT : DLB_AXIS_LINEAR;
    e->categories = lines.x == DLB_AXIS_CATEGORIES;
    add_lines(e, &lines, &list, chosen, line_count);
    lines.single = e->categories && !is_ordered(e);
    if (dlb_lines_tell(&lines) && !is_confounded(e, &list) && !is_told(e, &list, several, count)) {
        dlb_str part = DLB_STR_INIT;
        add_part(e, &part);
        dlb_figure *figure = dlb_figure_add(figures, "lines", "effect", part.text);
        describe(e, &lines, &list, chosen, line_count, &caption, figure);
        dlb_str_release(&part);
        dlb_lines_finish(&lines, figure, e->categories ? e->labels : NULL);
        for (size_t i = 0; i < list.follower_count; i++)
            shown[list.followers[i]] = true;
    }
    dlb_lines_release(&lines);
    release_labels(e);
    dlb_str_release(&caption);
    free(scores);
    free(several);
    dlb_series_release(&list);
}

/* ---- which parameters ---------------------------------------------------------------------- */

static bool varies(const dlb_points *points, const char *name)
{
    return dlb_points_varies(points, dlb_points_find(points, name));
}

/* Whether other figures show it. */
static bool is_shown_elsewhere(const dlb_points *points, const char *name, bool learning)
{
    static const char *const elsewhere[] = {"grid", "mode", "seed", "ranks", "threads", "workers"};
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strcmp(name, elsewhere[i]) == 0)
            return true;
    if (strcmp(name, "intra_op") == 0 || strcmp(name, "inter_op") == 0)
        return varies(points, "intra_op") && varies(points, "inter_op");
    return learning && varies(points, "workers");
}

static effect effect_of(const dlb_points *points, const bool *in_scoreboard, const char *name)
{
    int key = dlb_key_find(name);
    bool learning = key >= 0 && dlb_key_info((enum dlb_key)key)->of_learning;
    effect e = {.points = points,
                .in_scoreboard = in_scoreboard,
                .axis = {name},
                .metric = SIZE_MAX,
                .scale = 1};
    e.measure = dlb_time_measure(points);
    if (dlb_points_metrics(points) > 0) {
        e.metric = 0;
    } else if (learning) {
        e.measure = DLB_MEASURE_test_accuracy;
        e.scale = 100;
        e.higher_is_better = true;
    }
    return e;
}

/* Ranks and threads whose product is the same everywhere: how the cores are best divided. */
static bool divides_cores(const dlb_points *points)
{
    double cores = NAN;
    for (size_t p = 0; p < dlb_points_count(points); p++) {
        double here = dlb_point_cores(points, p);
        if (isnan(here) || (!isnan(cores) && here != cores))
            return false;
        cores = here;
    }
    return varies(points, "ranks") && varies(points, "threads");
}

/* One figure or, of a foreign program, one a metric and one of the time that it tells. */
static void add_effects(effect e, bool *shown, dlb_figures *figures)
{
    bool has_metrics = e.metric < SIZE_MAX;
    size_t metrics = has_metrics ? dlb_points_metrics(e.points) : 0;
    effect of_time = e;
    of_time.metric = SIZE_MAX;
    if (!has_metrics || e.measure == DLB_MEASURE_time_to_solution_s)
        add_effect(&of_time, shown, figures);
    for (size_t m = 0; m < metrics; m++) {
        effect of_metric = e;
        of_metric.metric = m;
        add_effect(&of_metric, shown, figures);
    }
}

void dlb_figures_effects(const dlb_report *report, const bool *in_scoreboard, dlb_figures *figures)
{
    const dlb_points *points = report->points;
    size_t parameters = dlb_points_parameters(points);
    bool *shown = dlb_alloc(parameters, sizeof *shown);
    if (divides_cores(points)) {
        effect e = effect_of(points, in_scoreboard, "ranks");
        e.axis[1] = "threads";
        add_effects(e, shown, figures);
    }
    for (size_t i = 0; i < parameters; i++) {
        const char *name = dlb_points_parameter(points, i);
        effect e = effect_of(points, in_scoreboard, name);
        if (dlb_points_varies(points, (int)i) && !shown[i] &&
            !is_shown_elsewhere(points, name, e.scale == 100))
            add_effects(e, shown, figures);
    }
    free(shown);
}
